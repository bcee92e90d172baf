# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# How a check is written down. The caller sets `work`, a folder for output.

passed=0 failed=0

verdict() { # NAME WHY: an empty WHY is success; prints what the command said where it is not
  if [[ -z $2 ]]; then
    echo "ok      $1"
    passed=$((passed + 1))
  else
    echo "FAILED  $1: $2"
    sed 's/^/        | /' "$work/output" | tail -n 20
    failed=$((failed + 1))
  fi
}

# The command succeeds.
check() { # NAME CMD...
  local name=$1 code=0; shift
  "$@" >"$work/output" 2>&1 || code=$?
  verdict "$name" "$( ((code == 0)) || echo "exit code $code")"
}

# The command ends with this exit code, and each of the patterns (one a line) is in what it says. A failure of ours has
# a line with the cause and a line with the cure.
check_exit() { # NAME CODE PATTERNS CMD...
  local name=$1 wanted=$2 patterns=$3 code=0 pattern why=; shift 3
  "$@" >"$work/output" 2>&1 || code=$?
  ((code == wanted)) || why="exit code $code instead of $wanted"
  while read -r pattern; do
    [[ -z $pattern ]] || grep -qE -- "$pattern" "$work/output" || why="${why:+$why; }it does not say '$pattern'"
  done <<<"$patterns"
  verdict "$name" "$why"
}

# The command's output matches.
check_output() { # NAME PATTERN CMD...
  check_exit "$1" 0 "$2" "${@:3}"
}

report() {
  echo "$passed passed, $failed failed"
  ((failed == 0))
}

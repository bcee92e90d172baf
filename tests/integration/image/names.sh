#!/usr/bin/env bash
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# The image's program is each of the two programs, by the name that it is started by.
#
#   names.sh IMAGE-PROGRAM JPROF KUBECTL-JPROF
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/e2e/check.sh
source "$repo/tests/e2e/check.sh"

ln -s "$(realpath "$1")" "$work/jprof"
ln -s jprof "$work/kubectl-jprof"

# What a program says and its exit code; standard output and error apart.
said() { # PROGRAM ARGUMENT...
  local code=0 errors
  errors=$(mktemp -p "$work") # two of these run at once
  "$@" 2>"$errors" || code=$?
  cat "$errors"
  echo "exit $code"
}
same() { # ORIGINAL NAME ARGUMENT...
  local original=$1 name=$2; shift 2
  diff <(said "$original" "$@") <(said "$work/$name" "$@")
}
for arguments in --version --help "record --help" "no-such-command" "verify /nonexistent"; do
  # shellcheck disable=SC2086 # words
  check "jprof $arguments" same "$2" jprof $arguments
done
for arguments in --version --help "record --help" "__complete doc" "diff /nonexistent /nonexistent"; do
  # shellcheck disable=SC2086
  check "kubectl-jprof $arguments" same "$3" kubectl-jprof $arguments
done
different() { ! diff -q <("$work/jprof" --help) <("$work/kubectl-jprof" --help) >/dev/null; }
check "the two are not one" different
named_by_path() { (cd / && PATH=$work:$PATH kubectl-jprof --help) | diff - <("$1" --help); }
check "found in PATH" named_by_path "$3"
other_name() { (exec -a anything "$work/jprof" --help) | diff - <("$1" --help); }
check "by any other name it is jprof" other_name "$2"
report

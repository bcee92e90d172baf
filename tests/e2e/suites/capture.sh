# shellcheck shell=bash disable=SC2016,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# `kubectl jprof POD` as a developer who has the rights of the chart and no more: page and stacks on disk.

# A command as a user of ours: their kubeconfig, our plugin on PATH, an empty folder to work in.
as_user() { # USER CMD...
  local user=$1; shift
  mkdir -p "$work/laptop"
  (cd "$work/laptop" && inside env "KUBECONFIG=$(stage_state)/$user.conf" "PATH=$programs:$(stage_state)/bin:$PATH" \
    NO_COLOR=1 "$@")
}
jprof() { as_user developer kubectl jprof "$@"; }

# The shares that the sample application was built with: three quarters and one quarter of serveOrder, within two points
# and three standard errors of that many samples. Weights are nanoseconds; each sample stands for 10 ms.
shares_are_true() { # COLLAPSED
  awk '{ if (/Shop\.priceBasket/) price += $NF; else if (/Shop\.packParcel/) pack += $NF }
       END { n = (price + pack) / 1e7
             if (n < 20) { print n " samples of serveOrder are too few"; exit 1 }
             share = 100 * price / (price + pack); room = 2 + 300 * sqrt(0.75 * 0.25 / n)
             printf "priceBasket has %.1f %% of %d, 75 +- %.1f wanted\n", share, n, room
             exit !(share > 75 - room && share < 75 + room) }' "$1"
}

# The command, a `kubectl jprof` as somebody, brings true shares; on a starved node a second, longer capture has the samples.
captures_truly() { # FILE CMD...
  local file=$1; shift
  if "$@" --duration 2s -o "$file" && shares_are_true "$work/laptop/$file"; then return; fi
  "$@" --duration 20s -o "$file" && shares_are_true "$work/laptop/$file"
}

# One file, nothing fetched: no address of anything outside.
page_is_whole() { # HTML
  [[ $(head -c 15 "$1") == "<!doctype html>" || $(head -c 15 "$1") == "<!DOCTYPE html>" ]] &&
    grep -q '</html>' "$1" && ! grep -qE '(src|href)="(https?:)?//' "$1"
}

# The process of that name below another, as this machine numbers it.
descendant() { # PID NAME
  local child children
  read -ra children <"/proc/$1/task/$1/children"
  for child in "${children[@]}"; do
    if [[ $(<"/proc/$child/comm") == "$2" ]]; then echo "$child"; else descendant "$child" "$2"; fi
  done
}

# A capture of the pod that is recording when this returns; its output goes to $work/cut.
begin_capture() { # POD OPTIONS...
  local pod=$1 end=$((SECONDS + 120)); shift
  : >"$work/cut" # what an earlier one said must not be taken for this one's
  jprof "$pod" -n shop "$@" >"$work/cut" 2>&1 &
  capturing=$!
  until grep -q recording "$work/cut"; do
    if ! kill -0 "$capturing" 2>/dev/null || ((SECONDS >= end)); then cat "$work/cut"; return 1; fi
    sleep 0.1
  done
}
end_capture() { # CODE
  local code=0
  wait "$capturing" || code=$?
  cat "$work/cut"
  ((code == $1)) || { echo "exit code $code instead of $1"; return 1; }
}
# The plugin of the capture that was begun is killed, and has left nothing.
kill_plugin() {
  kill -9 "$(descendant "$capturing" kubectl-jprof)" || return
  wait "$capturing" || true
}
# Prints the id of the pod's newest capture once it is sealed.
sealed_capture() { # POD
  local id end=$((SECONDS + 120))
  until id=$(jprof list "$1" -n shop | awk '$2 == "sealed" {print $1}' | tail -1) && [[ -n $id ]]; do
    ((SECONDS < end)) || { jprof list "$1" -n shop >&2; return 1; }
    sleep 0.5
  done
  echo "$id"
}

tmp_is_clean() {
  inside ls -A "/proc/$(pid_of shop)/root/tmp" | tee /dev/stderr | { ! grep -i jprof; }
}

"$cluster" user developer >/dev/null
check "the chart gives a developer the rights" inside "$helm" install -n shop jprof "$repo/charts/jprof" \
  --set image.repository=localhost/jprof,image.pullPolicy=Never --set-string image.tag=1 \
  --set 'rbac.subjects[0].kind=User,rbac.subjects[0].name=developer,rbac.subjects[0].apiGroup=rbac.authorization.k8s.io'
check "kubectl jprof POD --duration 3s" \
  jprof demo -n shop --duration 3s -o page.html -o stacks.collapsed -o recording.jprof
check_output "the JVM has loaded the agent from the shared volume" ' /libjprof\.so$|/var/lib/jprof-agent/libjprof\.so$' \
  inside grep libjprof "/proc/$(pid_of shop)/maps"
check "nothing of ours is left in its /tmp" tmp_is_clean
check "the page is on disk and needs nothing else" page_is_whole "$work/laptop/page.html"
check "the stacks hold the application's true shares" shares_are_true "$work/laptop/stacks.collapsed"
check "the original flamegraph.pl reads the stacks" bash -c \
  "perl '$("$repo/scripts/parts" flamegraph-pl)/flamegraph.pl' '$work/laptop/stacks.collapsed' | grep -q priceBasket"
check "the recording says the same on the laptop" bash -c \
  "cd '$work/laptop' && '$programs/jprof' convert recording.jprof -o again.collapsed && cmp stacks.collapsed again.collapsed"
without_output() { jprof demo -n shop --duration 1s && ls "$work"/laptop/jprof-demo-*.html; }
check "without -o a page lies in the working directory" without_output
check_output "--json says the same in one object" '"files"' jprof demo -n shop --duration 1s --json -o json.html

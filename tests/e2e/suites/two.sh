# shellcheck shell=bash disable=SC2016,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# A pod of two containers with a JVM each: who asks is told which there are, and gets the one that was named.

# As the sidecar numbers it; each container has a Java of its own.
pid_of_java() { # VERSION
  jprof list two -n shop | awk -v version="$1" 'index($2, version) == 1 {print $1}'
}
captures_container() { # CONTAINER VERSION
  jprof two -n shop -c "$1" --duration 1s -o "two-$1.html" --json >"$work/two.json" || { cat "$work/two.json"; return 1; }
  python3 - "$work/two.json" "$1" "$2" <<'PY'
import json, sys
manifest = json.load(open(sys.argv[1]))["manifest"]
print(manifest["source"]["container"], manifest["measured"]["javaVersion"])
assert manifest["source"]["container"] == sys.argv[2] and manifest["measured"]["javaVersion"].startswith(sys.argv[3])
PY
}
captures_java() { # VERSION
  local pid
  pid=$(pid_of_java "$1") || return
  [[ $pid =~ ^[0-9]+$ ]] || { echo "no JVM of Java $1: $pid"; jprof list two -n shop; return 1; }
  captures_truly "two-$1.collapsed" jprof two -n shop --pid "$pid" || return
  jprof two -n shop --pid "$pid" --duration 1s -o "two-$1.html" --json >"$work/two.json" || { cat "$work/two.json"; return 1; }
  page_is_whole "$work/laptop/two-$1.html" || return
  python3 - "$work/two.json" "$1" "$pid" <<'PY'
import json, sys
measured = json.load(open(sys.argv[1]))["manifest"]["measured"]
print(measured["javaVersion"], measured["pid"])
assert measured["javaVersion"].startswith(sys.argv[2]) and measured["pid"] == int(sys.argv[3])
PY
}

both_run() {
  k create configmap two --from-literal=config.yaml='{apiVersion: jprof.dev/v1alpha1, kind: SidecarConfig, allow: [record, properties]}' &&
    deploy two --set cpu=200m,second=localhost/shop-jdk-25:1,jprof-sidecar.configMap=two && await_jvm two second
}

check "a pod with two JVMs runs" both_run
check_exit "which of the two: 3, both named, and how to choose" 3 $'several JVMs.*shop\\.Shop.*shop\\.Shop\n--pid.*-c' \
  jprof two -n shop --duration 1s
check_exit "a pid that is no JVM: 3" 3 'not a JVM' jprof two -n shop --pid 1 --duration 1s
check_output "list says which is in which container" $'17.* shop \n25.* second ' jprof list two -n shop
check "the container chooses" captures_container shop 17
check "and so does the other" captures_container second 25
check_exit "a pid of another container: 3" 3 'does not run in the container' \
  jprof two -n shop -c shop --pid "$(pid_of_java 25)" --duration 1s
check_output "a command reaches the JVM of the container that is named" '^java.specification.version=17' \
  jprof attach two -n shop -c shop properties
check_output "and of the other" '^java.specification.version=25' jprof attach two -n shop -c second properties
check "another walker's stacks come, too" jprof two -n shop -c shop --walker asgct --duration 1s -o two-asgct.html
check "the one, with true shares" captures_java 17
check "the other" captures_java 25
check_output "neither container was restarted" '^0 0$' \
  k get pod two -o jsonpath='{.status.containerStatuses[?(@.name=="shop")].restartCount} {.status.containerStatuses[?(@.name=="second")].restartCount}'
undeploy two

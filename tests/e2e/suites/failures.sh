# shellcheck shell=bash disable=SC2016,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# Every failure names its cause and the cure, and has its exit code.

check_exit "no such pod: 3" 3 'nosuch.*not found' jprof nosuch -n shop --duration 1s
check_exit "no such container: 3" 3 'nosuch' jprof demo -n shop -c nosuch --duration 1s
check_exit "a bare number as duration: 2" 2 'unit' jprof demo -n shop --duration 3
check_exit "an unknown ending of -o: 2" 2 'x.bmp' jprof demo -n shop --duration 1s -o x.bmp
deploy bare --set cpu=200m,jprof-sidecar.enabled=false
check_exit "no sidecar, and none wanted: 3" 3 $'sidecar\njprof-sidecar' jprof bare -n shop --duration 1s --ephemeral=never
undeploy bare
k apply -f - >/dev/null <<YAML
apiVersion: v1
kind: Pod
metadata: {name: bare-plain}
spec:
$(stage_plain_spec 2 200m "" "runAsUser: 1000, runAsGroup: 1000")
YAML
check "a pod of nobody's chart runs" k wait --for=condition=Ready pod/bare-plain --timeout=180s
check_exit "no sidecar, no right to an ephemeral container: 4" 4 $'patch\npods/ephemeralcontainers' \
  jprof bare-plain -n shop --duration 1s --image localhost/jprof:1
k delete pod bare-plain --now >/dev/null
"$cluster" user stranger >/dev/null
check_exit "no right at all: 4, the missing one named" 4 $'pods\nget' as_user stranger kubectl jprof demo -n shop --duration 1s
inside kubectl -n shop create role look --verb=get,list --resource=pods >/dev/null
inside kubectl -n shop create rolebinding look --role=look --user=stranger >/dev/null
check_exit "no right to exec: 4, the missing one named" 4 'pods/exec' as_user stranger kubectl jprof demo -n shop --duration 1s
sed 's/:6443/:6444/' "$(stage_state)/developer.conf" >"$(stage_state)/nowhere.conf"
check_exit "no API server: 8" 8 '6444' as_user nowhere kubectl jprof demo -n shop --duration 1s

# shellcheck shell=bash disable=SC2016,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# Pods without the sidecar, in a namespace that enforces "restricted": an ephemeral container of the JVM's own ids.

stage_namespace shop-plain
kp() { inside kubectl -n shop-plain "$@"; }
oncall() { as_user oncall env JPROF_IMAGE=localhost/jprof:1 kubectl jprof "$@" -n shop-plain; }

# A restricted pod with the sample application and nothing of ours; the ids are left out where they are "-".
plain() { # NAME UID GID
  local ids=
  [[ $2 == - ]] || ids="runAsUser: $2"
  [[ $3 == - ]] || ids+="${ids:+, }runAsGroup: $3"
  kp apply -f - >/dev/null <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
$(stage_plain_spec 2 200m "" "$ids")
YAML
}
# Two containers with a JVM each, and their processes apart.
plain_two() {
  local name containers=
  for name in shop:17 second:25; do
    containers+="
    - name: ${name%:*}
      image: localhost/shop-jdk-${name#*:}:1
      imagePullPolicy: Never
      securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
      resources: {requests: {cpu: 200m, memory: 192Mi}, limits: {cpu: 200m, memory: 192Mi}}
      volumeMounts: [{name: tmp-${name%:*}, mountPath: /tmp}]"
  done
  kp apply -f - >/dev/null <<YAML
apiVersion: v1
kind: Pod
metadata: {name: plain-two}
spec:
  terminationGracePeriodSeconds: 2
  securityContext: {runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, seccompProfile: {type: RuntimeDefault}}
  containers:$containers
  volumes: [{name: tmp-shop, emptyDir: {sizeLimit: 64Mi}}, {name: tmp-second, emptyDir: {sizeLimit: 64Mi}}]
YAML
}
chosen_java() { # CONTAINER VERSION
  oncall plain-two -c "$1" --duration 1s -o "plain-two-$1.html" --json >"$work/two.json" || { cat "$work/two.json"; return 1; }
  grep -oE '"javaVersion": ?"[^"]*"' "$work/two.json" | tee /dev/stderr | grep -q "\"$2"
}
containers_of() { kp get pod "$1" -o jsonpath='{range .spec.ephemeralContainers[*]}{.name} {end}' | wc -w; }
without_sidecar() { # NAME CONTAINERS: profiled, with so many ephemeral containers made
  kp wait --for=condition=Ready "pod/$1" --timeout=180s >/dev/null || return
  oncall "$1" --explain --duration 1s -o "$1.html" || return
  (($(containers_of "$1") == $2)) || { kp get pod "$1" -o jsonpath='{.spec.ephemeralContainers}'; return 1; }
  captures_truly "$1.collapsed" oncall "$1"
}
unharmed() { # NAME
  [[ $(kp get pod "$1" -o jsonpath='{.status.qosClass} {.status.containerStatuses[0].restartCount} {.status.conditions[?(@.type=="Ready")].status}') == "Guaranteed 0 True" ]]
}
again() { oncall plain-1000 --duration 1s -o again.html && (($(containers_of plain-1000) == 1)); }
# The container that gc has told to end is dying while the next capture begins.
again_after_gc() {
  oncall gc plain-1000 && oncall plain-1000 --duration 1s -o after-gc.html && page_is_whole "$work/laptop/after-gc.html" &&
    (($(containers_of plain-1000) == 2))
}

# A JVM of some 22 MiB, with what the kernel holds for it, in a pod that may use 33.
tight() {
  kp apply -f - >/dev/null <<YAML
apiVersion: v1
kind: Pod
metadata: {name: plain-tight}
spec:
$(stage_plain_spec 2 200m "" "runAsUser: 1000, runAsGroup: 1000" | sed "s/memory: 192Mi/memory: 33Mi/g
  s|^\( *\)imagePullPolicy:.*|&\n\1command: [/jdk/bin/java, -XX:+UseSerialGC, -Xint, -Xms10m, -Xmx10m, -XX:+AlwaysPreTouch, -cp, /app, shop.Shop]|")
YAML
  kp wait --for=condition=Ready pod/plain-tight --timeout=180s >/dev/null && await_jvm plain-tight shop shop-plain
}
# Whoever insists may lose the capture, and never the JVM.
forced() {
  local before code=0
  before=$(pid_in plain-tight shop shop-plain)
  oncall plain-tight --force --duration 1s -o tight.html || code=$?
  [[ $code == 0 || $code == 6 || $code == 8 || $code == 9 ]] || { echo "exit code $code"; return 1; }
  ((code != 0)) || page_is_whole "$work/laptop/tight.html" || return
  jvm_runs_in plain-tight shop shop-plain && [[ $(pid_in plain-tight shop shop-plain) == "$before" ]]
}

"$cluster" user oncall >/dev/null
check "the chart gives the right to ephemeral containers where it is asked to" \
  inside "$helm" install -n shop-plain jprof "$repo/charts/jprof" --set image.repository=localhost/jprof,image.pullPolicy=Never \
  --set-string image.tag=1 --set rbac.ephemeralContainers=true,sidecarConfig.create=false \
  --set 'rbac.subjects[0].kind=User,rbac.subjects[0].name=oncall,rbac.subjects[0].apiGroup=rbac.authorization.k8s.io'
plain plain-1000 1000 1000
plain plain-65532 65532 65532
plain plain-random 1000690000 0
plain plain-image - -
plain plain-half 1000 -
check "a pod that knows nothing of jprof is ready" kp wait --for=condition=Ready pod/plain-half --timeout=180s
check_output "doctor foretells a capture, and adds nothing" \
  'pass +ephemeral +the server would accept it, Pod Security included' oncall doctor plain-half
check "really nothing" test "$(containers_of plain-half)" = 0
while read -r name count text; do
  check "no sidecar, $text: profiled, with true shares" without_sidecar "$name" "$count"
  check "and the pod is as it was" unharmed "$name"
done <<'PODS'
plain-1000 1 uid 1000
plain-65532 1 uid 65532
plain-random 1 a random uid with gid 0
plain-image 1 ids that only the image knows and our image shares
plain-half 2 a group that the API does not say
PODS
check "a live ephemeral container is used again" again
check_exit "one without the capability that is asked for is not; Pod Security refuses one with it" 4 \
  $'runs without the capability SYS_PTRACE\nviolates PodSecurity' \
  oncall plain-1000 --capability SYS_PTRACE --explain --duration 1s
check "after gc the next capture at once has a container of its own" again_after_gc
# Room on a node of two cores.
kp delete pod plain-65532 plain-random plain-half --grace-period=1 --wait >/dev/null
check "a pod of 33 MiB runs" tight
check_exit "it has no memory for a capture: 9, with the figure and the cure" 9 $'may use no more than 33 MiB\nraise the memory limit by\n--force' \
  oncall plain-tight --duration 1s
check_exit "doctor foretells it" 9 'fail +ephemeral .*33 MiB' oncall doctor plain-tight
check "nothing was added to it" test "$(containers_of plain-tight)" = 0
check "--force: whatever becomes of the capture, the JVM lives" forced
plain_two
check "a pod with two JVMs is ready" kp wait --for=condition=Ready pod/plain-two --timeout=180s
check "the tight one is as it was" unharmed plain-tight # its status was seconds behind before
kp delete pod plain-tight --grace-period=1 --wait=false >/dev/null
check "two JVMs, no sidecar: -c chooses the one" chosen_java shop 17
check "and the other, in an ephemeral container of its own" chosen_java second 25
check "so there are two" test "$(containers_of plain-two)" = 2
check_output "the last line says what is left" 'left in shop-plain/plain-image: ephemeral container jprof-' \
  oncall plain-image --duration 500ms --ephemeral=always -o left.html
check_exit "Pod Security refuses root: 4, with its verdict" 4 $'violates PodSecurity\nrestricted' \
  oncall plain-1000 --ephemeral=always --uid 0 --gid 0 --duration 1s
check_exit "an image that is not there: 8, named" 8 'localhost/nosuch:1' \
  oncall plain-1000 --ephemeral=always --image localhost/nosuch:1 --image-pull-policy Never --duration 1s
check_exit "another program's image: 3, and what is not in it" 3 $'image localhost/shop-jdk-17:1 has no /jprof\nis it jprof\'s image' \
  oncall plain-1000 --ephemeral=always --image localhost/shop-jdk-17:1 --image-pull-policy Never --duration 1s
"$cluster" user passer >/dev/null
check "who has the chart's rights without that to ephemeral containers" \
  inside "$helm" install -n shop-plain passing "$repo/charts/jprof" --set sidecarConfig.create=false \
  --set 'rbac.subjects[0].kind=User,rbac.subjects[0].name=passer,rbac.subjects[0].apiGroup=rbac.authorization.k8s.io'
check_exit "may not add one: 4, the verb named" 4 $'patch\npods/ephemeralcontainers' \
  as_user passer env JPROF_IMAGE=localhost/jprof:1 kubectl jprof plain-1000 -n shop-plain --ephemeral=always --duration 1s
# Whoever lacks room on the node is ended when a static pod comes (suite "kinds").
kp delete pods --all --grace-period=1 >/dev/null
inside kubectl delete namespace shop-plain --wait=false >/dev/null

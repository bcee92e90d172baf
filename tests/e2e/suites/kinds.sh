# shellcheck shell=bash disable=SC2016,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# Pods of every kind: profiled, or a sentence why not, and nothing added to them for nothing.

inside kubectl create namespace shop-kinds >/dev/null
kk() { inside kubectl -n shop-kinds "$@"; }
anyone() { inside env "PATH=$programs:$(stage_state)/bin:$PATH" NO_COLOR=1 JPROF_IMAGE=localhost/jprof:1 kubectl jprof "$@" -n shop-kinds; }
anyone_here() { (cd "$work/laptop" && anyone "$@"); }

# A pod of the sample application: members of its specification, of its container, as YAML in braces without the braces.
kind_of_pod() { # NAME SPEC CONTAINER
  cat <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, namespace: shop-kinds}
spec:
  terminationGracePeriodSeconds: 60
  securityContext: {runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000}
  containers:
    - {name: shop, image: "localhost/shop-jdk-17:1", imagePullPolicy: Never, resources: {limits: {cpu: 150m, memory: 192Mi}}$3}
$2
YAML
}
make_pod() { kind_of_pod "$@" | kk apply -f - >/dev/null; }
nothing_added() { # NAME
  [[ -z $(kk get pod "$1" -o jsonpath='{.spec.ephemeralContainers}') ]]
}

make_pod host '  hostNetwork: true' ''
make_pod late '' ', readinessProbe: {tcpSocket: {port: 1}}'
make_pod leaving '' ', lifecycle: {preStop: {sleep: {seconds: 50}}}'
make_pod nowhere '  nodeSelector: {jprof.dev/nosuch: "1"}' ''
make_pod broken '' ', command: [/nosuch]'
kk apply -f - >/dev/null <<'YAML'
apiVersion: v1
kind: Pod
metadata: {name: other}
spec:
  os: {name: windows}
  nodeName: node1
  containers: [{name: shop, image: "localhost/shop-jdk-17:1", imagePullPolicy: Never}]
YAML
static=$(stage_state)/static-pods limit=$((SECONDS + 180))
kind_of_pod static '' '' >"$static/static.yaml"

# The container runs, and the JVM in it.
jvm_of() { # NAME
  kk wait --for=jsonpath='{.status.containerStatuses[0].state.running}' "pod/$1" --timeout=180s && await_jvm "$1" shop shop-kinds
}

check "host network" jvm_of host
check "a pod on the host's network is profiled" anyone_here host --duration 1s -o host.html
check_output "a capability that the live container lacks: another is added, with it" 'runs without the capability SYS_PTRACE' \
  anyone_here host --capability SYS_PTRACE --explain --duration 1s -o capable.html
# The API server puts the newer one first.
check_output "so there are two" '^jprof-[^ ]+:\["SYS_PTRACE"\] jprof-[^ ]+: $' kk get pod host \
  -o jsonpath='{range .spec.ephemeralContainers[*]}{.name}:{.securityContext.capabilities.add} {end}'
check "not ready" jvm_of late
check_output "doctor says that a pod is not ready" 'late is not ready' anyone doctor late
check "and it is profiled" anyone_here late --duration 1s -o late.html
check_exit "no node takes it: 3, the scheduler's words" 3 'has no node: .*nodes are available' anyone nowhere --duration 1s
check "nothing was added to it" nothing_added nowhere
check "does not start" kk wait --for=jsonpath='{.status.containerStatuses[0].lastState.terminated.reason}' pod/broken --timeout=180s
check_exit "a container that cannot start: 3, the kubelet's words" 3 'container shop .*(RunContainerError|CrashLoopBackOff|has ended)' \
  anyone broken --duration 1s
check "nothing was added to it, either" nothing_added broken
check_exit "Windows: 5" 5 'Windows' anyone other --duration 1s
until kk get pod static-node1 >/dev/null 2>&1 || ((SECONDS >= limit)); do sleep 0.2; done
check "static" jvm_of static-node1
check_exit "a static pod without the sidecar: 3, and why" 3 'static pod cannot be changed' anyone static-node1 --duration 1s
check "to be deleted" jvm_of leaving
kk delete pod leaving --wait=false >/dev/null
check_exit "a pod that is being deleted: 3, and why" 3 'the pod is being deleted' anyone leaving --duration 1s
check_exit "doctor says so, too" 3 'leaving is being deleted' anyone doctor leaving
rm -f "$static/static.yaml"
kk delete pods --all --force --grace-period=0 >/dev/null 2>&1
inside kubectl delete namespace shop-kinds --wait=false >/dev/null

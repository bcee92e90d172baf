# shellcheck shell=bash disable=SC2016,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# The pod: sample application and sidecar as the library chart makes them, in a namespace that enforces "restricted".

k() { inside kubectl -n shop "$@"; }

# Puts the sample application into the namespace shop and waits until it is ready.
deploy() { # RELEASE HELM-ARGS...
  begin_deploy "$@"
  await_deployed "$1"
}
begin_deploy() { # RELEASE HELM-ARGS...
  inside "$helm" upgrade --install -n shop "$1" "$shop_chart" "${@:2}" >/dev/null
}
await_deployed() { # RELEASE
  local end=$((SECONDS + 60))
  # A controller makes the pod a moment later.
  until k get pod -l "app=$1" -o name | grep -q .; do ((SECONDS < end)) || return; sleep 0.2; done
  k wait --for=condition=Ready pod -l "app=$1" --timeout=180s >/dev/null || return
  await_jvm "$(pod_of "$1")"
}
pod_of() { # RELEASE
  k get pod -l "app=$1" -o jsonpath='{.items[0].metadata.name}'
}
undeploy() { # RELEASE
  inside "$helm" uninstall -n shop "$1" --wait >/dev/null
}

# The first process of a container, as the node numbers it.
pid_in() { # POD CONTAINER [NAMESPACE]
  local id
  id=$(inside kubectl -n "${3:-shop}" get pod "$1" -o jsonpath="{.status.initContainerStatuses[?(@.name==\"$2\")].containerID}{.status.containerStatuses[?(@.name==\"$2\")].containerID}")
  inside ctr tasks ls | awk -v id="${id#containerd://}" '$1 == id {print $2}'
}
pid_of() { pid_in demo "$1"; } # CONTAINER of the pod demo
# A container is ready as soon as its program is started: the JVM in it comes a little later.
jvm_runs_in() { # POD [CONTAINER [NAMESPACE]]
  inside grep -q libjvm.so "/proc/$(pid_in "$1" "${2:-shop}" "${3:-shop}")/maps"
}
await_jvm() { # the same, within three minutes
  local end=$((SECONDS + 180))
  until jvm_runs_in "$@"; do
    ((SECONDS < end)) || return
    sleep 0.2
  done
}
sidecar_status() { # FIELD of /proc/PID/status
  inside awk -v field="$1:" '$1 == field {print $2}' "/proc/$(pid_of jprof)/status"
}

stage_namespace shop
check_exit "the namespace refuses a pod that is not restricted" 1 'violates PodSecurity "restricted' \
  k run plain --image=localhost/shop-jdk-17:1 --image-pull-policy=Never
check "application and sidecar run in it" deploy demo
check_output "the pod is Guaranteed" '^Guaranteed$' k get pod demo -o jsonpath='{.status.qosClass}'
check_output "the sidecar has no capability" '^0000000000000000$' sidecar_status CapBnd
check_output "the sidecar cannot gain privileges" '^1$' sidecar_status NoNewPrivs
check_output "the sidecar is under the runtime's seccomp filter" '^2$' sidecar_status Seccomp
check_output "both root file systems are read-only" '^true true$' \
  k get pod demo -o jsonpath='{.spec.containers[0].securityContext.readOnlyRootFilesystem} {.spec.initContainers[0].securityContext.readOnlyRootFilesystem}'
check_output "application and sidecar have a /tmp each" '^jprof-app-tmp jprof-tmp$' \
  k get pod demo -o jsonpath='{.spec.containers[0].volumeMounts[?(@.mountPath=="/tmp")].name} {.spec.initContainers[0].volumeMounts[?(@.mountPath=="/tmp")].name}'

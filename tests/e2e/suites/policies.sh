# shellcheck shell=bash disable=SC2016,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# The chart's admission policies on the real API server: the sidecar by label, and exec narrowed to the sidecar's session.

stage_namespace shop-policy
kq() { inside kubectl -n shop-policy "$@"; }
narrow() { as_user narrow kubectl -n shop-policy "$@"; }

# A Deployment that knows nothing of jprof but its label.
labelled() { # NAME POD-ANNOTATIONS
  kq apply -f - >/dev/null <<YAML
apiVersion: apps/v1
kind: Deployment
metadata: {name: $1}
spec:
  replicas: 1
  selector: {matchLabels: {app: $1}}
  template:
    metadata: {labels: {app: $1, jprof.dev/inject: "true"}, annotations: {$2}}
    spec:
$(stage_plain_spec 6 200m "runAsUser: 1000, runAsGroup: 1000" "")
YAML
  kq rollout status "deployment/$1" --timeout=180s >/dev/null
}
sidecars_of() { # NAME
  kq get pods -l "app=$1" -o jsonpath='{.items[0].spec.initContainers[*].name} {.items[0].status.qosClass}'
}
# The API server takes a new policy into use some time after it has stored it.
injected() {
  local end=$((SECONDS + 90))
  until labelled injected "" && [[ $(sidecars_of injected) == "jprof Guaranteed" ]]; do
    ((SECONDS < end)) || { sidecars_of injected; return 1; }
    kq delete deployment injected --wait >/dev/null
    sleep 1
  done
}
narrowed() {
  local end=$((SECONDS + 90))
  while narrow exec deploy/injected -c shop -- /jdk/bin/java -version; do
    ((SECONDS < end)) || return 0
    sleep 1
  done
  return 1
}

"$cluster" user narrow >/dev/null
check "the chart installs both admission policies" inside "$helm" install -n shop-policy jprof "$repo/charts/jprof" \
  --set image.repository=localhost/jprof,image.pullPolicy=Never --set-string image.tag=1 \
  --set execPolicy.enabled=true,injection.enabled=true,sidecarConfig.create=false \
  --set 'rbac.subjects[0].kind=User,rbac.subjects[0].name=narrow,rbac.subjects[0].apiGroup=rbac.authorization.k8s.io'
check "a labelled Deployment gets the sidecar, and stays Guaranteed" injected
check_exit "exec into the application is refused" 1 'only `/jprof session`' narrowed
check_exit "so is any other command in the sidecar" 1 'only `/jprof session`' \
  narrow exec deploy/injected -c jprof -- /jprof list
check_exit "and attach" 1 'attach|cannot create resource' narrow attach deploy/injected -c jprof
check "kubectl jprof deploy/NAME works under the policy, with true shares" \
  captures_truly injected.collapsed as_user narrow kubectl jprof deploy/injected -n shop-policy
check "an administrator's exec is as it was" kq exec deploy/injected -c shop -- /jdk/bin/java -version
labelled spared 'jprof.dev/inject: "false"'
check_output "the annotation leaves a pod out" '^ Guaranteed$' sidecars_of spared
inside "$helm" uninstall -n shop-policy jprof >/dev/null
inside kubectl delete namespace shop-policy --wait=false >/dev/null

# shellcheck shell=bash disable=SC2016,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# Every command and every way to name a target, with the rights that the chart gives and no other.

left_to_fetch() {
  local id
  begin_capture "$1" --duration 2s -o left-to-fetch.html && kill_plugin && id=$(sealed_capture "$1") &&
    jprof fetch "$1" "$id" -n shop -o "$work/laptop/fetched-by-right.html"
}

# One of every kind that the chart's Role names, all at once: on a node of two cores, so with less than the chart's default for the sidecar.
kinds=(Deployment StatefulSet DaemonSet Job)
every_kind_runs() {
  local kind
  k create configmap many --from-literal=config.yaml='{apiVersion: jprof.dev/v1alpha1, kind: SidecarConfig, allow: [record, properties]}'
  for kind in "${kinds[@]}"; do begin_deploy "many-${kind,,}" --set "cpu=100m,kind=$kind,jprof-sidecar.configMap=many,jprof-sidecar.resources.cpu=100m" || return; done
  for kind in "${kinds[@]}"; do await_deployed "many-${kind,,}" || return; done
}
opens_page() { # PAGE: with a browser that keeps the name of what it is given
  # shellcheck disable=SC2016
  printf '#!/bin/sh\necho "$1" >"%s"\n' "$work/opened" >"$work/browser"
  chmod +x "$work/browser"
  as_user developer env "BROWSER=$work/browser" kubectl jprof open "$1" && [[ $(<"$work/opened") == "$work/laptop/$1" ]]
}

check "a Deployment, a StatefulSet, a DaemonSet and a Job run" every_kind_runs
many=$(pod_of many-deployment)
check "record deploy/NAME" jprof deploy/many-deployment -n shop --duration 1s -o deploy.html -o deploy.jprof
check "record rs/NAME" jprof "rs/${many%-*}" -n shop --duration 1s -o rs.html -o rs.jprof
check "record -l" jprof record -l app=many-deployment -n shop --duration 1s -o selected.html
for kind in sts:StatefulSet ds:DaemonSet job:Job; do
  name=${kind#*:} name=many-${name,,} kind=${kind%:*}
  check_output "record $kind/NAME" "\"pod\": ?\"$(pod_of "$name")\"" jprof "$kind/$name" -n shop --duration 1s -o "$kind.html" --json
  check "its page is whole" page_is_whole "$work/laptop/$kind.html"
  check_exit "$kind/NAME that is not there: 3" 3 'nosuch.*not found' jprof "$kind/nosuch" -n shop --duration 1s
done
check_output "doctor" 'pass +jvm' jprof doctor deploy/many-deployment -n shop
check_output "list" "^$many +Running +running" jprof list -n shop
check_output "list deploy/NAME" 'shop\.Shop' jprof list deploy/many-deployment -n shop
check "fetch" left_to_fetch "$many"
check_output "attach" '^java.specification.version=17' jprof attach -n shop deploy/many-deployment properties
check_exit "attach: only the sidecar's own allow: is in the way" 4 'allow' jprof attach -n shop demo properties
check "diff" jprof diff deploy.jprof rs.jprof -o diff.html
check "its page is whole" page_is_whole "$work/laptop/diff.html"
check "open" opens_page diff.html
check_output "gc" 'nothing of jprof is left' jprof gc deploy/many-deployment -n shop
check_output "completion" "^$many$" as_user developer kubectl-jprof __complete -n shop many-deployment
for kind in "${kinds[@]}"; do inside "$helm" uninstall -n shop "many-${kind,,}" >/dev/null; done

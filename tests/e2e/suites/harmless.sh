# shellcheck shell=bash disable=SC2016,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# The pod is not harmed: whatever becomes of jprof in it, the application keeps its place in its Service, its class and its process.

# The controller writes the slice only when an endpoint changes, so its version is a count of changes.
slice_version() {
  k get endpointslices -l kubernetes.io/service-name=calm \
    -o jsonpath='{.items[0].metadata.resourceVersion} {.items[0].endpoints[*].conditions.ready}'
}
in_service() {
  local end=$((SECONDS + 120))
  until [[ $(slice_version 2>/dev/null) == *" true" ]]; do
    ((SECONDS < end)) || { slice_version; return 1; }
    sleep 0.2
  done
}
status_of() { # class, ready, restarts of the application, restarts of the sidecar
  k get pod calm -o jsonpath='{.status.qosClass} {.status.conditions[?(@.type=="Ready")].status} {.status.containerStatuses[?(@.name=="shop")].restartCount} {.status.initContainerStatuses[?(@.name=="jprof")].restartCount}'
}
unmoved() {
  local now
  now=$(slice_version)
  [[ $now == "$before" ]] || { echo "the endpoints changed: $before, then $now"; return 1; }
}

# The process that records: the last of the line below the sidecar's first one.
recorder() {
  local pid children=x
  pid=$(pid_in calm jprof)
  while [[ -n $children ]]; do
    children=$(inside cat "/proc/$pid/task/$pid/children") || return
    [[ -z $children ]] || pid=${children%% *}
  done
  echo "$pid"
}
# Something of the recording is on the volume.
has_chunk() { inside find "/proc/$(pid_in calm jprof)/root/var/lib/jprof/spool/incoming" -name profile.jprof -size +64c | grep -q .; }
recorder_dies() {
  local end=$((SECONDS + 120)) id
  begin_capture calm --duration 60s -o "recorder-$1.html" || return
  until has_chunk; do ((SECONDS < end)) || return 1; sleep 0.2; done
  inside kill -9 "$(recorder)" && end_capture 6 && page_is_whole "$work/laptop/recorder-$1.html" || return
  # Not wholly what was asked for, so the sidecar keeps it until it is fetched.
  id=$(jprof list calm -n shop | awk '$2 == "sealed" {print $1}' | tail -1)
  [[ -z $id ]] || jprof fetch calm "$id" -n shop -o "recorder-$1.jprof"
}
# What its caller has not confirmed stays; with a capture's worth of quota there is no room for a second.
spool_fills() { begin_capture calm --duration 2s -o left-behind.html && kill_plugin && left_behind=$(sealed_capture calm); }
sidecar_is_back() { k wait --for=jsonpath='{.status.initContainerStatuses[0].ready}'=true pod/calm --timeout=300s; }
sidecar_dies_often() {
  local time restarts
  for time in 1 2 3; do
    restarts=$(status_of) && inside kill -9 "$(pid_in calm jprof)" || return
    # Until the API knows of the restart; the kubelet waits longer before each.
    until [[ $(status_of) =~ ^Guaranteed\ True\ 0\ ([0-9]+)$ ]] && ((BASH_REMATCH[1] > ${restarts##* })); do
      ((SECONDS < limit)) || { status_of; return 1; }
      sleep 0.2
    done
    sidecar_is_back || return
  done
}

k create configmap calm --from-literal=config.yaml='{apiVersion: jprof.dev/v1alpha1, kind: SidecarConfig, limits: {captureBytes: 16Mi}}' >/dev/null
check "a pod of a Service runs" deploy calm --set cpu=200m,jprof-sidecar.configMap=calm,jprof-sidecar.spool.quotaMi=16
k expose pod calm --port=80 >/dev/null
check "it has its place there" in_service
before=$(slice_version) left_behind=
for time in one two three; do
  check "the recorder is killed, $time: 6, the page is kept" recorder_dies "$time"
done
check "a capture stays in the spool" spool_fills
check_exit "the spool is full: 9, and the cure" 9 'spool' jprof calm -n shop --duration 1s
check "what filled it is fetched" jprof fetch calm "$left_behind" -n shop -o "$work/laptop/left.html"
check "and there is room" jprof calm -n shop --duration 1s -o room.html
check_exit "an ephemeral container without an image: 8" 8 'localhost/nosuch:1' \
  inside env "PATH=$programs:$(stage_state)/bin:$PATH" kubectl jprof calm -n shop --ephemeral=always --image localhost/nosuch:1 \
  --image-pull-policy Never --duration 1s
check "no endpoint has changed" unmoved
check_output "Guaranteed, ready, nothing restarted" '^Guaranteed True 0 0$' status_of
limit=$((SECONDS + 400))
check "the sidecar is killed three times: it comes back, the application is not restarted" sidecar_dies_often
check "and profiles again" jprof calm -n shop --duration 1s -o after.html
check_output "Guaranteed, ready, the application not restarted" '^Guaranteed True 0 3$' status_of
check "back in its Service" in_service
check_output "not evicted" '^0$' bash -c "'$cluster' exec kubectl get events -A --field-selector reason=Evicted -o name | wc -l"
k delete service calm >/dev/null
undeploy calm

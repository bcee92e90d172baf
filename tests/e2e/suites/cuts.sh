# shellcheck shell=bash disable=SC2016,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# Something dies in the middle of a capture: the right exit code, what there is of the capture is kept, the pod goes on.

jvm_dies() {
  begin_capture cut --duration 60s -o dead.html && inside kill -9 "$(pid_in cut shop)" && end_capture 6 && page_is_whole "$work/laptop/dead.html"
}
# The connection ends with the sidecar; what it had written is salvaged when it starts again.
sidecar_dies() {
  begin_capture cut --duration 15s -o lost.html && inside kill -9 "$(pid_in cut jprof)" || return
  local code=0
  wait "$capturing" || code=$?
  cat "$work/cut"
  case $code in
    0) page_is_whole "$work/laptop/lost.html" ;;
    6) grep -q 'kept' "$work/cut" && page_is_whole "$work/laptop/lost.html" ;; # made here, of the recording it salvaged
    8) [[ ! -e $work/laptop/lost.html ]] && grep -q 'kubectl jprof fetch' "$work/cut" ;;
    *) echo "exit code $code"; return 1 ;;
  esac
}
pod_is_deleted() {
  begin_capture cut --duration 60s -o deleted.html && k delete pod cut --wait=false && end_capture 6 && page_is_whole "$work/laptop/deleted.html"
}
plugin_dies() {
  local id
  begin_capture cut --duration 4s -o gone.html && kill_plugin && [[ ! -e $work/laptop/gone.html ]] && id=$(sealed_capture cut) &&
    jprof fetch cut "$id" -n shop -o fetched.html && page_is_whole "$work/laptop/fetched.html"
}
disk_full() { # TAKEN LEFT: KiB in use of the 48 that a tmpfs has, and what is left there besides
  local code=0 left whole=0 full=$work/laptop/full
  mkdir -p "$full" && inside mount -t tmpfs -o size=48k none "$full" || return
  inside dd if=/dev/zero "of=$full/taken" bs=1k "count=$1" status=none || return
  jprof cut -n shop --duration 1s -o "$full/x.html" || code=$?
  inside rm "$full/taken"
  left=$(inside ls -A "$full")
  [[ -z $2 ]] || inside "$programs/jprof" convert "$full/$2" -o "$full-$2.collapsed" || whole=$?
  inside umount "$full"
  [[ $code == 7 && $left == "$2" && $whole == 0 ]] || { echo "exit code $code, left: $left, convert: $whole"; return 1; }
}
restarts() { # CONTAINER
  k get pod cut -o jsonpath="{.status.initContainerStatuses[?(@.name==\"$1\")].restartCount}{.status.containerStatuses[?(@.name==\"$1\")].restartCount}"
}
# The container was killed and has started again. Until the kubelet has seen its death the pod is still said to be ready.
has_come_back() { # CONTAINER
  local end=$((SECONDS + 180))
  until (($(restarts "$1") > 0)) && k wait --for=condition=Ready pod/cut --timeout=60s && jvm_runs_in cut; do
    ((SECONDS < end)) || { k get pod cut -o yaml; return 1; }
    sleep 0.5
  done
}

check "a pod to cut runs" deploy cut --set cpu=200m
check "the plugin is killed: the capture goes on, and is fetched" plugin_dies
check "the laptop's disk is full: 7, nothing half there" disk_full 48 ""
check "it has room for the recording: 7, and that is kept whole" disk_full 0 x.jprof
check "the sidecar is killed: what there is comes, or 8 and where it is kept; the application does not notice" sidecar_dies
check_output "really not" '^0$' restarts shop
check "it comes back" has_come_back jprof
check "and profiles again" jprof cut -n shop --duration 1s -o again-cut.html
check "the JVM is killed: 6, the page is kept" jvm_dies
check "it comes back, too" has_come_back shop
check "the pod is deleted: 6, the page is kept" pod_is_deleted
inside "$helm" uninstall -n shop cut >/dev/null 2>&1 || true

# shellcheck shell=bash disable=SC2016,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# Other JVMs, users and shapes of pod.

undeploy demo
while read -r name arguments; do
  # shellcheck disable=SC2086
  check "$name: runs" deploy "$name" $arguments
  check "$name: profiled, with true shares" captures_truly "$name.collapsed" jprof "$name" -n shop -o "$name.html"
  undeploy "$name"
done <<'PODS'
java-8       --set image=localhost/shop-jdk-8:1
java-25      --set image=localhost/shop-jdk-25:1
java-17-musl --set image=localhost/shop-jdk-17-musl:1
user-65532   --set user=65532,group=65532
openshift    --set user=1000690000,group=0
not-native   --set jprof-sidecar.native=never
no-volume    --set jprof-sidecar.agentVolume.enabled=false
PODS

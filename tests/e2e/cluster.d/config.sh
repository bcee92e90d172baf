# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# Configuration files of the cluster's parts, and its cgroup.

write_config() { # KUBEALL
  local component
  for component in etcd kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet kubectl; do
    ln -sf "$1" "$state/bin/$component"
  done
  write_containerd_config
  write_kubelet_config
  cat >"$state/proxy.yaml" <<YAML
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
clientConnection: {kubeconfig: "$state/proxy.conf"}
hostnameOverride: $node_name
clusterCIDR: $pod_cidr
iptables: {minSyncPeriod: 0s, syncPeriod: 30s}
# The machine's connection table cannot be set from another network namespace: zeros leave it alone.
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
YAML
  # Who did what: the tests compare this with the rights that the documentation names.
  cat >"$state/audit.yaml" <<YAML
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
YAML
  # A name server that is not there makes look-ups fail at once; an empty file would bring in the machine's own.
  echo "nameserver 127.0.0.1" >"$state/resolv.conf"
  # Names for servers that tests run on the node.
  { echo "127.0.0.1 localhost"; echo "$node_ip s3.jprof.test captures.s3.jprof.test"; } >"$state/hosts"
}

write_containerd_config() {
  cat >"$state/containerd.toml" <<TOML
version = 2
root = "$state/node/containerd"
state = "/run/containerd"
oom_score = 0
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs"]
[grpc]
address = "$containerd_socket"
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "localhost/pause:1"
restrict_oom_score_adj = true # a machine without CAP_SYS_RESOURCE cannot lower it
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "$state/cni"
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "overlayfs"
default_runtime_name = "runc"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
SystemdCgroup = false
TOML
  cat >"$state/cni/10-bridge.conflist" <<JSON
{"cniVersion": "0.4.0", "name": "e2e", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": false, "hairpinMode": true,
   "ipam": {"type": "host-local", "dataDir": "/run/cni-ipam", "ranges": [[{"subnet": "$pod_cidr"}]],
            "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
JSON
}

write_kubelet_config() {
  cat >"$state/kubelet.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: "$pki/ca.crt"}}
authorization: {mode: Webhook}
tlsCertFile: "$pki/kubelet.crt"
tlsPrivateKeyFile: "$pki/kubelet.key"
address: "$node_ip"
containerRuntimeEndpoint: "unix://$containerd_socket"
cgroupDriver: cgroupfs
cgroupRoot: "/$cgroup"
failCgroupV1: false
failSwapOn: false
seccompDefault: true
resolvConf: "$state/resolv.conf"
podLogsDir: /var/log/pods
staticPodPath: "$state/static-pods"
fileCheckFrequency: 1s
volumePluginDir: /run/flex
makeIPTablesUtilChains: false
# Evict for what a pod does (emptyDir limits), not for the state of the machine that runs the tests.
evictionHard: {memory.available: "1Mi", nodefs.available: "0%", imagefs.available: "0%"}
imageGCHighThresholdPercent: 100
enforceNodeAllocatable: [pods]
nodeStatusUpdateFrequency: 5s
YAML
}

# Each hierarchy that the kubelet uses: the folders of cgroup v1, or the one of v2.
cgroup_hierarchies() {
  local folder
  if [[ -e /sys/fs/cgroup/cgroup.controllers ]]; then
    echo /sys/fs/cgroup
    return
  fi
  for folder in /sys/fs/cgroup/*; do
    [[ ! -e $folder/cgroup.procs || -L $folder ]] || echo "$folder"
  done
}

make_cgroups() {
  local hierarchy file
  while read -r hierarchy; do
    # The hybrid layout's unified hierarchy has no controller for pods; runc makes what it needs there.
    [[ $hierarchy != */unified ]] || continue
    mkdir -p "$hierarchy/$cgroup"
    for file in cpuset.cpus cpuset.mems; do # v1 starts them empty, and then no process may enter
      [[ ! -e $hierarchy/cgroup.clone_children || ! -e $hierarchy/$file ]] ||
        cat "$hierarchy/$file" >"$hierarchy/$cgroup/$file"
    done
  done < <(cgroup_hierarchies)
}

# The kernel needs a moment to let go of the processes it has just killed.
remove_cgroups() {
  local hierarchy tries=50 left
  while ((tries--)); do
    left=no
    while read -r hierarchy; do
      [[ -d $hierarchy/$cgroup ]] || continue
      find "$hierarchy/$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null || left=yes
    done < <(cgroup_hierarchies)
    [[ $left == yes ]] || return 0
    sleep 0.1
  done
  die "cgroup $cgroup still has processes"
}

# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# What the first process of the node's namespaces does: make the places that are fixed by the daemons its own, start
# the daemons in the order in which they need each other, and reap.

# Values that the kubelet and kube-proxy would change for the whole machine: they get a copy to change.
shield_sysctls() {
  local setting name
  mkdir -p /run/sysctl
  for setting in vm.overcommit_memory=1 vm.panic_on_oom=0 kernel.panic=10 kernel.panic_on_oops=1 \
    kernel.keys.root_maxkeys=1000000 kernel.keys.root_maxbytes=25000000; do
    name=${setting%%=*}
    echo "${setting#*=}" >"/run/sysctl/$name"
    mount --bind "/run/sysctl/$name" "/proc/sys/${name//.//}"
  done
}

prepare_node() {
  local folder
  mount --make-rshared /
  mkdir -p /var/lib/cni /var/lib/kubelet
  for folder in /run /var/log /var/lib/cni /var/lib/kubelet; do mount -t tmpfs -o mode=755 tmpfs "$folder"; done
  # In memory: quick, gone with the node, and overlayfs works on it where the machine's root is an overlay itself.
  mount -t tmpfs -o mode=700 tmpfs "$state/node"
  mkdir -p /run/lock "$state/node"/{etcd,kubelet,containerd}
  mount --bind "$state/hosts" /etc/hosts
  shield_sysctls
  ip link set lo up
  ip address add "$node_ip/32" dev lo # the kubelet refuses loopback addresses, not the loopback device
  echo 1 >/proc/sys/net/ipv4/ip_forward
}

start_etcd() {
  etcd --name e2e --data-dir "$state/node/etcd" --unsafe-no-fsync --log-level warn \
    --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
    --listen-peer-urls http://127.0.0.1:2380 --initial-advertise-peer-urls http://127.0.0.1:2380 \
    --initial-cluster e2e=http://127.0.0.1:2380 >"$log/etcd.log" 2>&1 &
}

start_api_server() {
  kube-apiserver --etcd-servers=http://127.0.0.1:2379 --advertise-address="$node_ip" --bind-address=0.0.0.0 \
    --secure-port=6443 --tls-cert-file="$pki/apiserver.crt" --tls-private-key-file="$pki/apiserver.key" \
    --client-ca-file="$pki/ca.crt" --kubelet-certificate-authority="$pki/ca.crt" \
    --kubelet-preferred-address-types=InternalIP --kubelet-client-certificate="$pki/to-kubelet.crt" \
    --kubelet-client-key="$pki/to-kubelet.key" --service-account-issuer=https://kubernetes.default.svc \
    --service-account-key-file="$pki/accounts.pub" --service-account-signing-key-file="$pki/accounts.key" \
    --service-cluster-ip-range="$service_cidr" --allow-privileged=true --authorization-mode=Node,RBAC \
    --enable-admission-plugins=NodeRestriction,PodSecurity \
    --feature-gates=MutatingAdmissionPolicy=true --runtime-config=admissionregistration.k8s.io/v1beta1=true \
    --audit-policy-file="$state/audit.yaml" --audit-log-path="$log/audit.json" >"$log/apiserver.log" 2>&1 &
}

start_controllers() {
  # Its client's usual 20 requests a second would delay the first service account by seconds.
  kube-controller-manager --kubeconfig="$state/manager.conf" --leader-elect=false --kube-api-qps=1000 \
    --kube-api-burst=2000 --use-service-account-credentials --flex-volume-plugin-dir=/run/flex \
    --root-ca-file="$pki/ca.crt" --service-account-private-key-file="$pki/accounts.key" \
    --cluster-signing-cert-file="$pki/ca.crt" --cluster-signing-key-file="$pki/ca.key" >"$log/manager.log" 2>&1 &
  kube-proxy --config="$state/proxy.yaml" >"$log/proxy.log" 2>&1 &
  kubelet --config="$state/kubelet.yaml" --kubeconfig="$state/kubelet.conf" --root-dir="$state/node/kubelet" \
    --hostname-override="$node_name" --node-ip="$node_ip" >"$log/kubelet.log" 2>&1 &
}

be_node() {
  : >"$state/started"
  prepare_node
  cd /
  export PATH=$state/bin:$PATH
  start_etcd
  containerd --config "$state/containerd.toml" >"$log/containerd.log" 2>&1 &
  start_api_server
  # These try again soon where the API server does not answer yet, but not where its port is shut.
  until (: <"/dev/tcp/$node_ip/6443") 2>/dev/null; do sleep 0.05; done
  start_controllers
  # The scheduler backs off for seconds when its first lists come before its rights.
  until kubectl --kubeconfig "$state/admin.conf" get --raw /readyz >/dev/null 2>&1; do sleep 0.1; done
  kube-scheduler --kubeconfig="$state/scheduler.conf" --leader-elect=false >"$log/scheduler.log" 2>&1 &
  while :; do wait || true; sleep 1; done
}

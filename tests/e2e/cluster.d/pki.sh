# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# The cluster's certificates and the files by which its parts and its users log in.

# Makes $pki/NAME.{key,crt}, signed by the cluster's authority.
certificate() { # NAME COMMON-NAME [ORGANISATION] [SUBJECT-ALTERNATIVE-NAMES]
  local file=$pki/$1 subject=/CN=$2
  [[ -z ${3:-} ]] || subject=/O=$3$subject
  {
    echo "keyUsage=critical,digitalSignature,keyEncipherment"
    echo "extendedKeyUsage=clientAuth,serverAuth"
    [[ -z ${4:-} ]] || echo "subjectAltName=$4"
  } >"$file.ext"
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "$subject" \
    -keyout "$file.key" -out "$file.csr" 2>/dev/null
  openssl x509 -req -in "$file.csr" -CA "$pki/ca.crt" -CAkey "$pki/ca.key" -days 30 -extfile "$file.ext" \
    -out "$file.crt" 2>/dev/null
  rm "$file.csr" "$file.ext"
}

# Self-contained, so that a test can hand it to a program that may not read $pki.
kubeconfig() { # NAME: writes $state/NAME.conf for the certificate NAME
  cat >"$state/$1.conf" <<YAML
apiVersion: v1
kind: Config
clusters:
- name: e2e
  cluster: {server: "https://$node_ip:6443", certificate-authority-data: $(base64 -w0 "$pki/ca.crt")}
users:
- name: $1
  user: {client-certificate-data: $(base64 -w0 "$pki/$1.crt"), client-key-data: $(base64 -w0 "$pki/$1.key")}
contexts:
- {name: e2e, context: {cluster: e2e, user: $1}}
current-context: e2e
YAML
}

write_pki() {
  local name
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=jprof-e2e \
    -addext keyUsage=critical,keyCertSign,cRLSign,digitalSignature -keyout "$pki/ca.key" -out "$pki/ca.crt" 2>/dev/null
  openssl genrsa -out "$pki/accounts.key" 2048 2>/dev/null
  openssl rsa -in "$pki/accounts.key" -pubout -out "$pki/accounts.pub" 2>/dev/null
  name=DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local
  certificate apiserver kube-apiserver "" "$name,DNS:localhost,IP:$service_api,IP:127.0.0.1,IP:$node_ip" &
  certificate to-kubelet kube-apiserver-kubelet-client system:masters &
  certificate admin admin system:masters &
  certificate kubelet "system:node:$node_name" system:nodes "DNS:$node_name,IP:$node_ip" &
  certificate manager system:kube-controller-manager &
  certificate scheduler system:kube-scheduler &
  certificate proxy system:kube-proxy &
  wait
  for name in admin kubelet manager scheduler proxy; do kubeconfig "$name"; done
}

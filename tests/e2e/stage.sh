# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# What the end-to-end suite and the cluster demo share: programs and images, the cluster, an S3 server in it, the charts.
# The caller sets `repo`. Everything goes with `stage_down`.

cluster=$repo/tests/e2e/cluster
node_address=10.250.0.1
bucket=captures
programs=$repo/build/image
export S3_ACCESS_KEY=jprof-e2e S3_SECRET_KEY=e2e-only-not-a-secret

stage_say() { echo "e2e: $*" >&2; }

# Installs and builds everything that must be there before the cluster starts. One build does: the plugin on "the laptop"
# is the image's, too. JPROF_E2E_NO_BUILD=1 takes build/image as it is.
stage_build() {
  "$repo/scripts/install" build test cluster
  [[ -n ${JPROF_E2E_NO_BUILD:-} ]] || "$repo/scripts/build" --static
  "$repo/scripts/parts" kubeall image-pause versitygw helm-3 >/dev/null
  helm=$("$repo/scripts/parts" helm-3)/helm
}

stage_state() { readlink -m "${JPROF_CLUSTER:-$repo/build/cluster}"; }

inside() { "$cluster" exec "$@"; }

# The S3 server: TLS by the cluster's authority, path and virtual-host style. Its data is a folder: $s3/BUCKET/KEY.
stage_s3() {
  local certificate
  s3=$(stage_state)/s3
  mkdir -p "$s3"/{data,meta,iam}
  certificate=$("$cluster" certificate s3 "IP:$node_address,DNS:s3.jprof.test,DNS:*.s3.jprof.test")
  # In the node's process namespace, so that it ends with the cluster.
  inside setsid "$("$repo/scripts/parts" versitygw)/versitygw" --access "$S3_ACCESS_KEY" --secret "$S3_SECRET_KEY" \
    --port "$node_address:7070" --virtual-domain s3.jprof.test:7070 --cert "$certificate.crt" --key "$certificate.key" \
    --iam-dir "$s3/iam" posix --sidecar "$s3/meta" "$s3/data" </dev/null >"$(stage_state)/log/s3.log" 2>&1 &
  until inside curl -s -o /dev/null --cacert "$(stage_state)/pki/ca.crt" "https://$node_address:7070/"; do sleep 0.05; done
  inside curl -sS --fail --cacert "$(stage_state)/pki/ca.crt" --aws-sigv4 aws:amz:us-east-1:s3 \
    --user "$S3_ACCESS_KEY:$S3_SECRET_KEY" --header "x-amz-content-sha256: $(sha256sum </dev/null | cut -d' ' -f1)" \
    -X PUT "https://$node_address:7070/$bucket"
}

stage_up() { # JVM...: the images to have
  stage_up_with "${@/#/shop-jdk-}"
}
stage_up_with() { # IMAGE...
  local images=()
  mapfile -t images < <("$repo/tests/e2e/images" jprof "$@")
  ((${#images[@]} == $# + 1)) || return 1
  "$cluster" up
  "$cluster" load-image "${images[@]}"
  stage_s3
  stage_chart
  stage_environment
  rm -rf "${s3:?}/data/$bucket"/*
}

# What a caller of ours who may write to the bucket has in the environment.
stage_environment() {
  ca=$(stage_state)/pki/ca.crt
  s3=$(stage_state)/s3
  s3_environment=(
    "AWS_ACCESS_KEY_ID=$S3_ACCESS_KEY" "AWS_SECRET_ACCESS_KEY=$S3_SECRET_KEY" "AWS_REGION=us-east-1"
    "AWS_ENDPOINT_URL=https://$node_address:7070" "SSL_CERT_FILE=$ca"
  )
}

# The same on a cluster that is already up: new images and charts, nothing of an earlier run.
stage_reuse() { # JVM...
  local images=()
  mapfile -t images < <("$repo/tests/e2e/images" jprof "${@/#/shop-jdk-}")
  inside kubectl delete namespace shop shop-nightly shop-plain shop-policy shop-kinds --ignore-not-found --wait >/dev/null
  "$cluster" load-image "${images[@]}"
  stage_chart
  stage_environment
  rm -rf "${s3:?}/data/$bucket"/*
}

# A copy of the sample chart whose dependency is packed in, as `helm dependency update` leaves it.
stage_chart() {
  shop_chart=$(stage_state)/charts/shop
  mkdir -p "$(dirname "$shop_chart")"
  rm -rf "$shop_chart"
  cp -r "$repo/tests/e2e/charts/shop" "$shop_chart"
  mkdir -p "$shop_chart/charts"
  "$helm" package "$repo/charts/jprof-sidecar" --destination "$shop_chart/charts" >/dev/null
}

# A namespace that enforces Pod Security "restricted", with the CA of the S3 server as a ConfigMap.
stage_namespace() { # NAME
  inside kubectl create namespace "$1" >/dev/null
  inside kubectl label namespace "$1" pod-security.kubernetes.io/enforce=restricted >/dev/null
  inside kubectl -n "$1" create configmap s3-ca --from-file="ca.crt=$(stage_state)/pki/ca.crt" >/dev/null
}

# The specification of a pod that "restricted" allows, with the sample application and nothing of ours, so far indented.
stage_plain_spec() { # INDENT CPU POD-IDS CONTAINER-IDS: "runAsUser: 1000, runAsGroup: 1000" or nothing
  sed "s/^/$(printf "%$1s" '')/" <<YAML
terminationGracePeriodSeconds: 2
securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}${3:+, $3}}
containers:
  - name: shop
    image: localhost/shop-jdk-17:1
    imagePullPolicy: Never
    securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}${4:+, $4}}
    resources: {requests: {cpu: $2, memory: 192Mi}, limits: {cpu: $2, memory: 192Mi}}
    volumeMounts: [{name: tmp, mountPath: /tmp}]
volumes: [{name: tmp, emptyDir: {sizeLimit: 64Mi}}]
YAML
}

stage_down() { "$cluster" down; }

# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# Captures in a bucket, once put there by the plugin with the caller's credentials, once by a sidecar with its own.

store_jprof() { as_user developer env "${s3_environment[@]}" kubectl jprof "$@"; }

# So many bundles lie under a prefix of the bucket, each proved whole by our own verifier.
bundles_are_whole() { # PREFIX COUNT
  local manifest found=0
  while read -r manifest; do
    found=$((found + 1))
    "$programs/jprof" verify "$(dirname "$manifest")" || return 1
  done < <(find "$s3/data/$bucket/$1" -name manifest.json 2>/dev/null)
  ((found == $2)) || { echo "$found manifests instead of $2 under $1"; find "$s3/data/$bucket" -type f; return 1; }
}

# The same within some seconds: a sidecar stores behind the caller's back.
bundles_arrive() { # SECONDS PREFIX COUNT
  local end=$((SECONDS + $1))
  until bundles_are_whole "$2" "$3" >"$work/arrival" 2>&1; do
    ((SECONDS < end)) || { cat "$work/arrival"; return 1; }
    sleep 0.5
  done
}

# The key names what was profiled: cluster, namespace, workload, time, pod.
key_is_right() { # PREFIX PATTERN
  find "$s3/data/$bucket/$1" -name manifest.json | tee /dev/stderr | grep -qE -- "$2"
}

# How often the developer's plugin has entered a pod so far, by the API server's audit log.
execs_of_developer() {
  grep '"subresource":"exec"' "$(stage_state)/log/audit.json" | grep -c '"username":"developer"'
}

check "--store s3:// by the plugin" store_jprof demo -n shop --duration 1s --store "s3://$bucket/by-plugin"
check "the bundle in the bucket is whole" bundles_are_whole by-plugin 1
check "its key names cluster, namespace, pod and time" key_is_right by-plugin \
  '/by-plugin/v1/[^/]+/shop/pod\.demo/[0-9]{4}/[0-9]{2}/[0-9]{2}/[0-9]{6}Z-demo-shop-[^/]+/manifest.json$'
check "the same in virtual-host style" store_jprof demo -n shop --duration 1s \
  --store "s3://$bucket/by-name?endpoint=https://s3.jprof.test:7070&addressing=virtual"
check "and it is whole" bundles_are_whole by-name 1
check "--store file:// by the plugin" store_jprof demo -n shop --duration 1s --store "file://$work/store"
check_output "its manifest is on disk" 'manifest.json' find "$work/store" -name manifest.json
check_exit "a wrong secret: refused before anything is captured, exit code 4" 4 'SignatureDoesNotMatch' \
  as_user developer env "${s3_environment[@]}" AWS_SECRET_ACCESS_KEY=wrong \
  kubectl jprof demo -n shop --duration 1s -o kept.html --store "s3://$bucket/refused"
check "and there is no page of it" test ! -e "$work/laptop/kept.html"
execs_before=$(execs_of_developer)
check_exit "an authority that the caller does not trust: refused before anything is captured" 8 'certificate' \
  as_user developer env "${s3_environment[@]}" env -u SSL_CERT_FILE \
  kubectl jprof demo -n shop --duration 1s -o kept.html --store "s3://$bucket/untrusted"
check "nothing was run in the pod for it" test "$(execs_of_developer)" = "$execs_before"
check "nor is there a page" test ! -e "$work/laptop/kept.html"

k create secret generic s3-writer --from-literal="AWS_ACCESS_KEY_ID=$S3_ACCESS_KEY" \
  --from-literal="AWS_SECRET_ACCESS_KEY=$S3_SECRET_KEY" >/dev/null
check "the chart configures a sidecar with a store" inside "$helm" upgrade -n shop jprof "$repo/charts/jprof" --reuse-values \
  --set-json "sidecarConfig.config={\"store\":{\"url\":\"s3://$bucket/by-sidecar\",\"region\":\"us-east-1\",\"endpoint\":\"https://$node_address:7070\",\"credentials\":\"/etc/jprof/store\",\"caFile\":\"/etc/jprof/store/ca.crt\"}}"
check "a sidecar with a store runs" deploy storing --set cpu=200m,jprof-sidecar.configMap=jprof-sidecar \
  --set jprof-sidecar.storeSecret=s3-writer,jprof-sidecar.caConfigMap=s3-ca,jprof-sidecar.source.workload=storing
check "its capture is fetched" jprof storing -n shop --duration 1s -o storing.html
check "and stored by the sidecar itself" bundles_arrive 120 by-sidecar 1
undeploy storing

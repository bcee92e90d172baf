# shellcheck shell=bash disable=SC2016,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# Captures in a bucket, once put there by the plugin with the caller's credentials, once by a sidecar with its own.

store_jprof() { as_user developer env "${s3_environment[@]}" kubectl jprof "$@"; }

# Every manifest under a prefix of the bucket, and that the files that it names are there with their digests.
bundle_is_whole() { # PREFIX [COUNT]
  local manifest found=0
  while read -r manifest; do
    found=$((found + 1))
    python3 - "$manifest" <<'PY' || return 1
import hashlib, json, os, sys
manifest = json.load(open(sys.argv[1]))
files = manifest["files"]
assert files, "the manifest names no file"
for entry in files:
    content = open(os.path.join(os.path.dirname(sys.argv[1]), entry["name"]), "rb").read()
    assert hashlib.sha256(content).hexdigest() == entry["sha256"], entry["name"]
print(sys.argv[1], [entry["name"] for entry in files])
PY
  done < <(find "$s3/data/$bucket/$1" -name manifest.json)
  ((found == ${2:-1})) || { echo "$found manifests instead of ${2:-1} under $1"; find "$s3/data/$bucket"; return 1; }
}

check "--store s3:// by the plugin" store_jprof demo -n shop --duration 1s --store "s3://$bucket/by-plugin"
check "the bundle in the bucket is whole" bundle_is_whole by-plugin
check "--store file:// by the plugin" jprof demo -n shop --duration 1s --store "file://$work/store"
check_output "its manifest is on disk" 'manifest.json' find "$work/store" -name manifest.json
check_exit "a wrong secret: captured, kept, exit code 7" 7 'SignatureDoesNotMatch' \
  as_user developer env "${s3_environment[@]}" AWS_SECRET_ACCESS_KEY=wrong \
  kubectl jprof demo -n shop --duration 1s -o kept.html --store "s3://$bucket/refused"
check "and the page of it is on disk" page_is_whole "$work/home/kept.html"

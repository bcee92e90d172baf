# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# Libraries for the static link of the image's programs. FILES in a part says of each file where it is from, for the bill of
# materials: "lib/libz.a SOURCE VERSION PACKAGE".

wslay_pin="wslay-sys 0.1.2 sha256:f0fb5ec32c9651af69f97458e65b553a4822d74eb89f7c774f3ac3f41478696a"
pin[static-libs]="debian bookworm curl, $wslay_pin recipe 4"
about[static-libs]="static libcurl (HTTP and HTTPS only) and libwslay, for the image"
pin[static-libs-arm64]="debian bookworm/arm64 libraries, curl, $wslay_pin recipe 1"
about[static-libs-arm64]="the same for arm64, by the cross compiler, and the libraries that Debian has for it"

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
  static_curl
  static_wslay cc ar
  [[ -e lib/libcurl.a && -e lib/libwslay.a ]]
}

# What the machine's own packages are for the native link is unpacked here. The C library too: the one that comes with the cross
# compiler is as old as that, without the fixes since.
make_static_libs_arm64() {
  local triplet=aarch64-linux-gnu
  need cmake build
  need ninja build
  need "$triplet-g++" cross
  debian_libraries arm64 "$triplet" libc6-dev libexpat1-dev libssl-dev libyaml-cpp-dev libzstd-dev zlib1g-dev
  # What curl finds out by running a program: that poll(2) waits when it is given nothing to wait for.
  static_curl -DCMAKE_TOOLCHAIN_FILE="$repo/cmake/CrossArm64.cmake" -DCMAKE_PREFIX_PATH="$PWD" -DOPENSSL_ROOT_DIR="$PWD" \
    -DHAVE_POLL_FINE=ON
  static_wslay "$triplet-gcc" "$triplet-ar"
  [[ -e lib/libcurl.a && -e lib/libwslay.a && -e lib/libc.a && -e include/openssl/opensslconf.h ]]
}

# Moves ./taken, of one origin, to what the part has.
take() { # SOURCE VERSION PACKAGE
  find taken -type f -printf "%P $*\n" | sort >>FILES
  mkdir -p include lib
  cp -a taken/. .
  rm -r taken
}

# Headers and archives of Debian packages for another architecture, in ./include and ./lib.
debian_libraries() { # ARCHITECTURE TRIPLET PACKAGE...
  local architecture=$1 triplet=$2 package owner; shift 2
  for package in "$@"; do
    owner=$(debian_unpack "bookworm/$architecture" root "$package")
    mkdir -p taken/include taken/lib
    mv -t taken/lib root/usr/lib/"$triplet"/*.a
    if [[ $package == libc6-dev ]]; then # its headers are the cross compiler's
      mv -t taken/lib root/usr/lib/"$triplet"/*.o
    else
      [[ ! -d root/usr/include/$triplet ]] || { cp -a root/usr/include/"$triplet"/. taken/include/ && rm -r root/usr/include/"$triplet"; }
      cp -a root/usr/include/. taken/include/
    fi
    rm -r root
    # shellcheck disable=SC2086
    take $owner
  done
}

static_wslay() { # COMPILER(and its options) ARCHIVER
  local name version digest
  read -r name version digest <<<"$wslay_pin"
  crate "$name" "$version" "$digest"
  mkdir -p taken/include taken/lib
  cp -r crate/vendor/includes/wslay taken/include/
  # shellcheck disable=SC2086
  (cd crate/vendor && $1 -O2 -fPIC -Iincludes -DHAVE_ARPA_INET_H -DHAVE_NETINET_IN_H -c ./*.c && "$2" rcs ../../taken/lib/libwslay.a ./*.o)
  rm -rf crate
  take wslay "$version" "$name"
}

static_curl() { # CMAKE-OPTION...
  debian_source bookworm curl
  cmake -S source -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PWD/prefix" \
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
    -DBUILD_SHARED_LIBS=OFF -DBUILD_CURL_EXE=OFF -DBUILD_TESTING=OFF -DHTTP_ONLY=ON -DCURL_USE_OPENSSL=ON \
    -DCURL_ZLIB=OFF -DCURL_ZSTD=OFF -DCURL_BROTLI=OFF -DUSE_NGHTTP2=OFF -DCURL_USE_LIBSSH2=OFF -DCURL_USE_LIBPSL=OFF \
    -DCURL_USE_GSSAPI=OFF -DUSE_LIBIDN2=OFF -DCURL_DISABLE_NTLM=ON -DCURL_DISABLE_ALTSVC=ON \
    -DCURL_CA_BUNDLE=/etc/ssl/certs/ca-certificates.crt -DCURL_CA_PATH=none -DENABLE_MANUAL=OFF "$@"
  nice -n 5 cmake --build build -j2
  cmake --install build
  mkdir taken
  mv -t taken prefix/include prefix/lib
  take curl "$(dpkg-parsechangelog -l source/debian/changelog -S Version)" libcurl.a
  rm -rf source build prefix ./*.tar.* ./*.dsc
}

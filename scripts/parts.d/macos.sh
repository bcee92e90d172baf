# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# A compiler for macOS on Linux, and the libraries to link the plugin against. The compiler has Apple's open headers and a list of
# what its system library exports; of the other libraries there are lists too, made of Debian's: enough to compile and link, not
# to run.

pin[zig]="ziglang==0.15.2 sha256:806316453d1ede7174ed3fefb8e5348154629089c3bb5fe812dfd0e172fac130 recipe 1"
about[zig]="clang 20 with the headers of macOS, from the Python package ziglang"
pin[macos-libs]="${pin[zig]} debian bookworm libraries, $wslay_pin recipe 1"
about[macos-libs]="what the plugin links with on macOS: yaml-cpp and wslay built, of the others what they export"

make_zig() {
  local requirement digest name
  read -r requirement digest _ <<<"${pin[zig]}"
  wheel "$requirement" "$digest"
  mv wheel/ziglang/* .
  rm -rf wheel
  chmod +x zig
  for name in cc c++ ar ranlib; do
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nexec "$(dirname "$(readlink -f "$0")")/zig" %s "$@"\n' "$name" >"$name"
    chmod +x "$name"
  done
  ./zig version
}

# Writes down what a shared library exports, in the form in which Apple's linker takes it for the library itself.
export_list() { # LIBRARY INSTALL-NAME
  echo '--- !tapi-tbd'
  echo 'tbd-version: 4'
  echo 'targets: [ arm64-macos ]'
  echo "install-name: '$2'"
  echo 'exports:'
  echo '  - targets: [ arm64-macos ]'
  echo "    symbols: [ $(nm -D --defined-only "$1" | awk '$2 ~ /[TWDBRV]/ {sub(/@.*/, "", $3); print "_" $3}' | sort -u | paste -sd, | sed 's/,/, /g') ]"
  echo '...'
}

# Headers of Debian's packages, but not of its C library.
make_macos_libs() {
  local zig name headers=/usr/include
  need nm build
  need ninja build
  zig=$("$here/parts" zig)
  mkdir -p include lib share/cmake
  cp -a /usr/share/cmake/{CLI11,nlohmann_json,tl-expected} share/cmake/
  cp -a "$headers"/{CLI,expat.h,expat_external.h,fmt,nlohmann,openssl,spdlog,tl,yaml-cpp,zconf.h,zlib.h,zstd.h,zstd_errors.h} include/
  cp -a "$headers"/x86_64-linux-gnu/{curl,expat_config.h} include/
  cp -a "$headers"/x86_64-linux-gnu/openssl/. include/openssl/
  for name in curl.so.4 ssl.so.3 crypto.so.3 z.so.1 zstd.so.1 expat.so.1; do
    export_list "/usr/lib/x86_64-linux-gnu/lib$name" "/opt/lib/lib${name%%.*}.dylib" >"lib/lib${name%%.*}.tbd"
  done
  debian_source bookworm yaml-cpp
  cmake -S source -B build -G Ninja -DCMAKE_TOOLCHAIN_FILE="$repo/cmake/CrossMacos.cmake" -DJPROF_ZIG="$zig" -DCMAKE_BUILD_TYPE=Release \
    -DYAML_CPP_BUILD_TESTS=OFF -DYAML_CPP_BUILD_TOOLS=OFF -DYAML_BUILD_SHARED_LIBS=OFF
  nice -n 5 cmake --build build -j2
  mv build/libyaml-cpp.a lib/
  rm -rf source build ./*.tar.* ./*.dsc
  static_wslay "$zig/cc --target=aarch64-macos" "$zig/ar"
}

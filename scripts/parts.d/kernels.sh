# shellcheck shell=bash disable=SC2034,SC2079,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# Older Linux kernels for qemu, each with the modules that mount a folder of the host, and a shell for its first process.

pin[kernel-5.10]="debian bullseye linux-image-5.10.0 recipe 2"
about[kernel-5.10]="Linux 5.10 of Debian 11, to boot under qemu"
pin[kernel-6.1]="debian bookworm linux-image-6.1.0 recipe 2"
about[kernel-6.1]="Linux 6.1 of Debian 12, to boot under qemu"

make_kernel() { # SUITE VERSION
  local conf package module
  conf=$(debian_root "$1")
  package=$(APT_CONFIG=$conf apt-cache search --names-only "^linux-image-$2[.]0-[0-9]+-amd64$" | cut -d' ' -f1 | sort -V |
    tail -n 1)
  [[ -n $package ]] || fail "Debian's $1 has no package of Linux $2"
  debian_unpack "$1" root "$package" >VERSIONS
  debian_unpack bookworm root busybox-static >>VERSIONS
  cp root/boot/vmlinuz-* vmlinuz
  cp "$(find root -path '*bin/busybox' | head -n 1)" busybox
  mkdir modules
  for module in virtio virtio_ring virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci netfs fscache 9pnet 9pnet_virtio 9p; do
    find root/lib/modules root/usr/lib/modules -name "$module.ko" -exec cp {} modules/ \; 2>/dev/null || true
  done
  # Each behind those that it says it needs: which these are differs between kernels.
  for module in modules/*.ko; do
    module=$(basename "$module" .ko)
    echo "$module $module"
    tr '\0' '\n' <"modules/$module.ko" | sed -n 's/^depends=//p' | tr ',' '\n' | sed "/./!d; s/$/ $module/"
  done | tsort >modules/order
  rm -rf root
  [[ -e modules/9p.ko ]]
}

make_kernel_5_10() { make_kernel bullseye 5.10; }
make_kernel_6_1() { make_kernel bookworm 6.1; }

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Stands for libc when libjprof.so is linked: whatever is not here cannot be imported by mistake,
// and what is here gets the oldest symbol version of its CPU (libc_stub_*.map), which every glibc
// since 2.2.5 (x86-64) or 2.17 (aarch64) and musl have. Never installed, never loaded.
int dl_iterate_phdr(void) {
  return 0;
}

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
//
// Linked into static programs. There gcc's start code (crtbeginT.o) registers the unwind tables by
// hand, and the first exception then sorts all of them: 5 ms in programs of our size, at every
// --help and every wrong option. The same unwinder finds the sorted table that --eh-frame-hdr
// leaves in the program (libgcc, unwind-dw2-fde-dip.c), if nothing is registered; --wrap sends the
// start code here.
void __wrap___register_frame_info(const void* begin, void* object);
void* __wrap___deregister_frame_info(const void* begin);

void __wrap___register_frame_info(const void* begin, void* object) {
  (void)begin;
  (void)object;
}

void* __wrap___deregister_frame_info(const void* begin) {
  (void)begin;
  return 0;
}

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loads that may fault: while the session's SIGSEGV/SIGBUS handler is installed
// (sampling/fault_handler.h), a load from a bad address returns false. Signal-safe, any thread.
// Each is a few instructions of assembly in the CPU's file, so that the fault handler knows exactly
// where they fault. A JVM that checks its handlers gets none of ours: there the kernel does the
// loads, with one system call each.

#include <cstddef>
#include <cstdint>

extern "C" {
std::uint32_t jprof_load8(std::uint64_t from, std::uint8_t* to);
std::uint32_t jprof_load16(std::uint64_t from, std::uint16_t* to);
std::uint32_t jprof_load32(std::uint64_t from, std::uint32_t* to);
std::uint32_t jprof_load64(std::uint64_t from, std::uint64_t* to);
// Returns how many of `bytes` could be copied.
std::size_t jprof_copy(void* to, std::uint64_t from, std::size_t bytes);
}

namespace jprof::agent::arch {

// Whether the kernel does the loads from now on. On the agent's thread, while no handler runs.
void let_kernel_load(bool wanted);
bool kernel_loads();
// process_vm_readv of this process: how many of `bytes` could be copied.
std::size_t copy_by_kernel(void* to, std::uint64_t from, std::size_t bytes);

// Whether eight bytes can be read there, at the cost of a system call and without a fault: for
// searches that routinely meet bad addresses. A load that faults after somebody else has removed
// our handler ends the JVM.
bool is_readable(std::uint64_t from);

inline bool load(std::uint64_t from, std::uint8_t* to) {
  return kernel_loads() ? copy_by_kernel(to, from, sizeof *to) == sizeof *to
                        : jprof_load8(from, to) != 0;
}
inline bool load(std::uint64_t from, std::uint16_t* to) {
  return kernel_loads() ? copy_by_kernel(to, from, sizeof *to) == sizeof *to
                        : jprof_load16(from, to) != 0;
}
inline bool load(std::uint64_t from, std::uint32_t* to) {
  return kernel_loads() ? copy_by_kernel(to, from, sizeof *to) == sizeof *to
                        : jprof_load32(from, to) != 0;
}
inline bool load(std::uint64_t from, std::uint64_t* to) {
  return kernel_loads() ? copy_by_kernel(to, from, sizeof *to) == sizeof *to
                        : jprof_load64(from, to) != 0;
}

// The value at `from`, or `otherwise` if it cannot be read.
inline std::uint64_t word_at(std::uint64_t from, std::uint64_t otherwise = 0) {
  std::uint64_t value = otherwise;
  return load(from, &value) ? value : otherwise;
}

inline bool copy(void* to, std::uint64_t from, std::size_t bytes) {
  return (kernel_loads() ? copy_by_kernel(to, from, bytes) : jprof_copy(to, from, bytes)) == bytes;
}

// True if the `bytes` bytes at `from` are `text`, a C string, and all of it.
inline bool holds_text(std::uint64_t from, std::size_t bytes, const char* text) {
  for (std::size_t i = 0; i < bytes; ++i) {
    std::uint8_t character = 0;
    if (text[i] == 0 || !load(from + i, &character) ||
        character != static_cast<std::uint8_t>(text[i])) {
      return false;
    }
  }
  return text[bytes] == 0;
}

} // namespace jprof::agent::arch

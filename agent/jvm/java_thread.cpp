// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/jvm/java_thread.h"

#include "agent/jvm/struct_tables.h"
#include "agent/os/modules.h"
#include "agent/os/system.h"

#include <errno.h>

namespace jprof::agent::jvm {
namespace {

constexpr std::uint32_t kGlibcKeys = 1024; // PTHREAD_KEYS_MAX
constexpr std::uint32_t kMuslKeys = 128;   // musl indexes its array unchecked
constexpr std::uint64_t kPage = 4096;

std::uint64_t word(std::uint64_t address) {
  return *reinterpret_cast<const std::uint64_t*>(address);
}

bool is_mapped(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t first = address & ~(kPage - 1);
  const std::uint64_t last = (address + bytes - 1) & ~(kPage - 1);
  unsigned char resident[4] = {};
  if (address < kPage || last - first >= 3 * kPage) {
    return false;
  }
  const long result =
      arch::system_call(SYS_mincore, static_cast<long>(first),
                        static_cast<long>(last - first + kPage), os::as_argument(resident));
  return result == 0 || result == -EINVAL; // EINVAL: a kernel with larger pages, which cannot say
}

struct Offsets {
  std::uint64_t thread_bytes = 0;
  std::int32_t os_thread = -1;
  std::int32_t os_thread_id = -1;
};

// True if the object is the JavaThread of the calling thread.
bool is_own_java_thread(const Offsets& offsets, std::uint64_t thread) {
  if (!is_mapped(thread, offsets.thread_bytes)) {
    return false;
  }
  const std::uint64_t os_thread = word(thread + static_cast<std::uint64_t>(offsets.os_thread));
  const std::uint64_t id = os_thread + static_cast<std::uint64_t>(offsets.os_thread_id);
  return (os_thread & 7) == 0 && is_mapped(id, 4) &&
         *reinterpret_cast<const std::int32_t*>(id) == os::thread_id();
}

bool read_offsets(Offsets* offsets) {
  StructTables tables;
  if (!tables.open()) {
    return false;
  }
  offsets->thread_bytes = tables.type_size("JavaThread");
  offsets->os_thread = tables.offset("JavaThread", "_osthread");
  if (offsets->os_thread < 0) {
    offsets->os_thread = tables.offset("Thread", "_osthread"); // 25
  }
  offsets->os_thread_id = tables.offset("OSThread", "_thread_id");
  return offsets->thread_bytes != 0 && offsets->os_thread >= 0 && offsets->os_thread_id >= 0;
}

} // namespace

bool find_java_thread_key(const void* jni_env, JavaThreadKey* result) {
  using GetSpecific = void* (*)(unsigned);
  const auto get_specific =
      reinterpret_cast<GetSpecific>(os::find_symbol_anywhere("pthread_getspecific"));
  Offsets offsets;
  if (get_specific == nullptr || jni_env == nullptr || !read_offsets(&offsets)) {
    return false;
  }
  const bool is_glibc = os::find_symbol_anywhere("gnu_get_libc_version") != nullptr;
  const auto env = reinterpret_cast<std::uint64_t>(jni_env);
  for (std::uint32_t key = 0; key < (is_glibc ? kGlibcKeys : kMuslKeys); ++key) {
    const auto thread = reinterpret_cast<std::uint64_t>(get_specific(key));
    if (thread != 0 && (thread & 7) == 0 && thread < env && env < thread + offsets.thread_bytes &&
        is_own_java_thread(offsets, thread)) {
      result->key = key;
      result->env_offset = static_cast<std::int32_t>(env - thread);
      result->jni_functions = word(env);
      return true;
    }
  }
  return false;
}

} // namespace jprof::agent::jvm

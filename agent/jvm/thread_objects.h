// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Reads a thread's Java name and id from its java.lang.Thread object, without a call into the JVM
// and without stopping it. The collector may move or free what is read, so nothing is believed
// unless it is the same before and after in a heap that no collection has touched meanwhile. With a
// collector that moves objects concurrently, the kernel must also know the thread by that name, or
// it must be the name of the first thread of every JVM. The agent's thread only, with the session's
// fault handler installed and SIGSEGV not blocked.

#include "agent/jvm/struct_tables.h"
#include "agent/sampling/heap_references.h"
#include "agent/sampling/vm_layout.h"

#include <cstddef>
#include <cstdint>

namespace jprof::agent::jvm {

inline constexpr std::size_t kMaxJavaNameBytes = 96;

struct ThreadIdentity {
  std::uint64_t java_id = 0; // Thread.getId()
  std::size_t name_bytes = 0;
  char name[kMaxJavaNameBytes]; // UTF-8, cut at a character
};

// The beginning of a Java string, or all of it.
struct JavaText {
  std::uint16_t units[kMaxJavaNameBytes]; // UTF-16
  std::size_t count = 0;
  bool whole = false;
};

class ThreadObjects {
 public:
  // Finds out where this JVM keeps all this. False: names stay those of the kernel.
  bool open(const sampling::VmLayout& vm);

  // True if read() believes only a name that the kernel knows too (or is_first_thread()).
  bool needs_kernel_name() const { return heap_ == Heap::kMovesBeside; }

  // REQUIRES open(). `kernel_name` is what the kernel calls the thread (HotSpot gives it a
  // shortened name). False: not now, or not trustworthy.
  bool read(std::uint64_t java_thread, std::int32_t tid, const char* kernel_name,
            std::size_t kernel_name_bytes, ThreadIdentity* identity) const;

 private:
  enum class Heap { kStopsToMove, kMovesBeside };
  // Addresses on the way to the text: unless they are equal before and after, nothing is believed.
  struct Path {
    std::uint64_t thread = 0;
    std::uint64_t name = 0;
    std::uint64_t text = 0;
    bool operator==(const Path&) const = default;
  };

  void read_flags(const StructTables& tables);
  bool is_thread_of(std::uint64_t java_thread, std::int32_t tid) const;
  Path path_from(std::uint64_t java_thread) const;
  bool read_name(const Path& path, JavaText* name) const;

  const sampling::VmLayout* vm_ = nullptr;
  Heap heap_ = Heap::kStopsToMove;
  sampling::HeapReferences references_;
  bool thread_is_handle_ = false; // OopHandle (14+), otherwise an oop
  std::int32_t thread_object_ = -1;
  std::int32_t name_ = -1; // in java.lang.Thread
  std::int32_t id_ = -1;
  std::int32_t value_ = -1; // in java.lang.String
  std::int32_t coder_ = -1; // absent in 8, where text is UTF-16
  std::uint64_t array_length_ = 0;
  std::uint64_t array_data_ = 0;
  sampling::HeapClock clock_;
};

// True if HotSpot would have given the kernel the name `kernel` for `name`: modified UTF-8, at most
// 15 bytes; of a longer name the first 15 (8), or the first 7, two dots and the last 6 (9+).
bool kernel_name_fits(const JavaText& name, const char* kernel, std::size_t kernel_bytes);

// True for the thread that made the JVM. create_initial_thread (runtime/threads.cpp, formerly
// thread.cpp) calls it "main", with the id 1, or 3 since 24 (ThreadIdentifier::initial,
// JDK-8338383), and gives the kernel no name: there it has the launcher's name, or the embedding
// program's.
bool is_first_thread(const JavaText& name, std::uint64_t java_id, std::uint32_t java_feature);

// UTF-8, at most `room` bytes of it, cut at a character; an unpaired surrogate becomes U+FFFD.
// Returns the bytes written.
std::size_t to_utf8(const JavaText& text, char* to, std::size_t room);

} // namespace jprof::agent::jvm

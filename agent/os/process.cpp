// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/os/process.h"

#include "agent/os/modules.h"
#include "agent/os/system.h"

namespace jprof::agent::os {
namespace {

// struct linux_dirent64 of include/linux/dirent.h.
struct DirectoryEntry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t record_bytes;
  std::uint8_t type;
  char name[1];
};

// `to` is always a C string, which is empty if the file cannot be read.
std::size_t read_file(const char* path, char* to, std::size_t bytes) {
  to[0] = 0;
  const int fd = open_readonly(path);
  if (fd < 0) {
    return 0;
  }
  const long got = read_some(fd, to, bytes - 1);
  close_fd(fd);
  const std::size_t length = got > 0 ? static_cast<std::size_t>(got) : 0;
  to[length] = 0;
  return length;
}

// `name` is "/status" or another file in the thread's directory.
std::size_t read_thread_file(std::int32_t tid, const char* name, char* to, std::size_t bytes) {
  char path[64];
  char* end = write_text(path, "/proc/self/task/");
  end = write_number(end, static_cast<std::uint64_t>(tid));
  end = write_text(end, name);
  *end = 0;
  return read_file(path, to, bytes);
}

// What follows `label` in a status file, where it begins a line other than the first; null if it is
// not there.
template <std::size_t kBytes>
const char* value_of(const char* status, const char (&label)[kBytes]) {
  for (const char* at = status; *at != 0; ++at) {
    if (*at == '\n' && starts_with(at + 1, label)) {
      return at + kBytes; // the line feed, and the label without its NUL
    }
  }
  return nullptr;
}

// Stops at the first character that is not a hexadecimal digit.
std::uint64_t parse_hex(const char* text) {
  std::uint64_t value = 0;
  for (;; ++text) {
    if (*text >= '0' && *text <= '9') {
      value = value << 4 | static_cast<std::uint64_t>(*text - '0');
    } else if (*text >= 'a' && *text <= 'f') {
      value = value << 4 | static_cast<std::uint64_t>(*text - 'a' + 10);
    } else {
      return value;
    }
  }
}

void visit_entries(const char* entries, long bytes, void (*visit)(std::int32_t, void*),
                   void* context) {
  for (long at = 0; at < bytes;) {
    const auto* entry = reinterpret_cast<const DirectoryEntry*>(entries + at);
    const char* end = entry->name;
    const std::uint64_t tid = parse_number(entry->name, &end);
    if (end != entry->name && tid != 0) {
      visit(static_cast<std::int32_t>(tid), context);
    }
    at += entry->record_bytes;
  }
}

// Calls visit for each entry of a directory whose name is a number above 0.
bool visit_numbers(const char* directory, void (*visit)(std::int32_t, void*), void* context) {
  const int fd = open_readonly(directory);
  if (fd < 0) {
    return false;
  }
  alignas(8) char entries[4096];
  long bytes = 0;
  while ((bytes = arch::system_call(SYS_getdents64, fd, as_argument(entries), sizeof entries)) >
         0) {
    visit_entries(entries, bytes, visit, context);
  }
  close_fd(fd);
  return bytes == 0;
}

} // namespace

bool proc_is_ours() {
  char link[64] = {};
  const long length = read_link("/proc/thread-self", link, sizeof link - 1);
  if (length <= 0) {
    return false;
  }
  const char* at = link;
  if (parse_number(link, &at) != static_cast<std::uint64_t>(process_id())) {
    return false;
  }
  return starts_with(at, "/task/") &&
         parse_number(at + 6, &at) == static_cast<std::uint64_t>(thread_id());
}

bool visit_threads(void (*visit)(std::int32_t tid, void* context), void* context) {
  return visit_numbers("/proc/self/task", visit, context);
}

std::uint64_t count_threads() {
  char status[4096];
  read_file("/proc/self/status", status, sizeof status);
  const char* at = value_of(status, "Threads:\t");
  return at != nullptr ? parse_number(at, &at) : 0;
}

std::uint64_t count_open_files() {
  std::uint64_t count = 0;
  const bool complete = visit_numbers(
      "/proc/self/fd", [](std::int32_t, void* context) { ++*static_cast<std::uint64_t*>(context); },
      &count);
  return complete ? count : ~std::uint64_t{0};
}

bool kernel_is_at_least(std::uint64_t major, std::uint64_t minor) {
  char release[128];
  read_file("/proc/sys/kernel/osrelease", release, sizeof release);
  const char* at = release;
  const std::uint64_t ours = parse_number(release, &at);
  return *at == '.' && (ours > major || (ours == major && parse_number(at + 1, &at) >= minor));
}

bool read_thread_state(std::int32_t tid, ThreadState* state) {
  char status[4096];
  read_thread_file(tid, "/status", status, sizeof status);
  const char* letter = value_of(status, "State:\t");
  const char* tracer = value_of(status, "TracerPid:\t");
  if (letter == nullptr || tracer == nullptr) {
    return false;
  }
  state->letter = *letter;
  state->tracer = static_cast<std::int32_t>(parse_number(tracer, &tracer));
  return true;
}

// "running", or numbers of which the last two are stack pointer and pc: proc_pid_syscall() of
// fs/proc/base.c.
bool stack_pointer_of(std::int32_t tid, std::uint64_t* sp) {
  char text[256];
  const std::size_t length = read_thread_file(tid, "/syscall", text, sizeof text);
  const char* last = text;
  const char* before = text;
  for (const char* at = text; at < text + length; ++at) {
    if (*at == ' ') {
      before = last;
      last = at + 1;
    }
  }
  *sp = starts_with(before, "0x") ? parse_hex(before + 2) : 0;
  return *sp != 0;
}

WordRead read_own_word(std::uint64_t address, std::uint64_t* word) {
  const int fd = open_readonly("/proc/self/mem");
  if (fd < 0) {
    return WordRead::kUnknown;
  }
  const long got = read_at(fd, word, sizeof *word, static_cast<long>(address));
  close_fd(fd);
  if (got == static_cast<long>(sizeof *word)) {
    return WordRead::kRead;
  }
  return got == -EIO ? WordRead::kUnmapped : WordRead::kUnknown;
}

bool read_seccomp(std::int32_t tid, Seccomp* seccomp) {
  char status[4096];
  read_thread_file(tid, "/status", status, sizeof status);
  const char* mode = value_of(status, "Seccomp:\t");
  const char* filters = value_of(status, "Seccomp_filters:\t");
  if (mode == nullptr) {
    return false;
  }
  seccomp->mode = parse_number(mode, &mode);
  seccomp->filters = filters != nullptr ? parse_number(filters, &filters) : 0;
  return true;
}

std::size_t thread_name(std::int32_t tid, char* to, std::size_t bytes) {
  char name[32];
  std::size_t length = read_thread_file(tid, "/comm", name, sizeof name);
  while (length > 0 && name[length - 1] == '\n') {
    --length;
  }
  length = length < bytes ? length : bytes;
  copy_bytes(to, name, length);
  return length;
}

bool queued_signals(std::uint64_t* queued, std::uint64_t* limit) {
  char status[4096];
  read_file("/proc/self/status", status, sizeof status);
  const char* at = value_of(status, "SigQ:");
  if (at == nullptr) {
    return false;
  }
  while (*at == '\t' || *at == ' ') {
    ++at;
  }
  *queued = parse_number(at, &at);
  if (*at != '/') {
    return false;
  }
  *limit = parse_number(at + 1, &at);
  return true;
}

bool blocks_signal(std::int32_t tid, int signal) {
  char status[4096];
  const std::size_t length = read_thread_file(tid, "/status", status, sizeof status);
  const char* mask = value_of(status, "SigBlk:\t");
  constexpr std::size_t kDigits = 16;
  if (mask == nullptr || mask + kDigits > status + length) {
    return false;
  }
  // Sixteen hexadecimal digits, the first signal in the last of them.
  const auto bit = static_cast<unsigned>(signal - 1);
  const char digit = mask[kDigits - 1 - bit / 4];
  const int value = digit >= 'a' ? digit - 'a' + 10 : digit - '0';
  return (value >> bit % 4 & 1) != 0;
}

std::uint64_t parse_number(const char* text, const char** end) {
  std::uint64_t value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    value = value * 10 + static_cast<std::uint64_t>(*text - '0');
  }
  *end = text;
  return value;
}

char* write_number(char* to, std::uint64_t value) {
  char digits[20];
  std::size_t count = 0;
  do {
    digits[count++] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  while (count > 0) {
    *to++ = digits[--count];
  }
  return to;
}

char* write_text(char* to, const char* text) {
  while (*text != 0) {
    *to++ = *text++;
  }
  return to;
}

} // namespace jprof::agent::os

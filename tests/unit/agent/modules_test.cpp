// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/os/modules.h"
#include "agent/recording/module_symbols.h"
#include "tests/unit/agent/protected_loads.h"

#include <gtest/gtest.h>

#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace jprof::agent::os {
namespace {

using ModulesAndLoads = sampling::ProtectedLoads;

TEST_F(ModulesAndLoads, AreFoundWithTheirCodeAndBuildId) {
  struct Seen {
    int count = 0;
    bool with_own_code = false;
    bool build_id = false;
  } seen;

  visit_modules(
      [](const LoadedModule& module, void* context) {
        auto* result = static_cast<Seen*>(context);
        const auto here = reinterpret_cast<std::uint64_t>(&visit_modules);
        ++result->count;
        result->with_own_code |= here >= module.code_begin && here < module.code_end;
        std::uint8_t id[32] = {};
        result->build_id |= read_build_id(module, id, sizeof id) == 20;
        EXPECT_LT(module.base, module.end);
        return true;
      },
      &seen);

  EXPECT_GT(seen.count, 2);
  EXPECT_TRUE(seen.with_own_code);
  EXPECT_TRUE(seen.build_id);
}

TEST_F(ModulesAndLoads, TellTheKernelsPageFromTheProgramWhereNeitherHasAName) {
  struct Seen {
    int programs = 0;
    int kernels = 0;
  } seen;

  visit_modules(
      [](const LoadedModule& module, void* context) {
        auto* result = static_cast<Seen*>(context);
        const std::string_view path(module.path);
        if (path.empty()) {
          ++result->programs;
          EXPECT_FALSE(is_nameless_vdso(module));
        } else if (path.starts_with("linux-vdso")) {
          ++result->kernels;
          EXPECT_FALSE(is_nameless_vdso(module)); // it has a name: this is glibc
          LoadedModule as_musl_has_it = module;
          as_musl_has_it.path = "";
          EXPECT_TRUE(is_nameless_vdso(as_musl_has_it));
        }
        return true;
      },
      &seen);

  EXPECT_EQ(seen.programs, 1);
  EXPECT_EQ(seen.kernels, 1);
}

TEST_F(ModulesAndLoads, HaveNoBuildIdWhereTheirNotesAreNotInMemory) {
  void* page = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  ASSERT_EQ(mprotect(static_cast<char*>(page) + 4096, 4096, PROT_NONE), 0);
  // The header of a note at the end of what can be read, as long as a note can say that it is.
  auto* note = reinterpret_cast<Elf64_Nhdr*>(static_cast<char*>(page) + 4096 - 16);
  *note = {.n_namesz = 4, .n_descsz = 20, .n_type = NT_GNU_BUILD_ID};
  std::memcpy(note + 1, "GNU", 4);
  Elf64_Phdr headers[2] = {};
  headers[0].p_type = PT_NOTE;
  headers[0].p_vaddr = reinterpret_cast<std::uint64_t>(page) + 4096; // nowhere
  headers[0].p_memsz = 36;
  headers[1].p_type = PT_NOTE;
  headers[1].p_vaddr = reinterpret_cast<std::uint64_t>(note);
  headers[1].p_memsz = 0x7fffffff;
  LoadedModule module;
  module.headers = headers;
  module.header_count = 2;
  std::uint8_t id[32] = {};

  EXPECT_EQ(read_build_id(module, id, sizeof id), 0U);
  note->n_namesz = 0xffffffff;
  EXPECT_EQ(read_build_id(module, id, sizeof id), 0U);
  munmap(page, 8192);
}

TEST(Modules, AreSearchedForASymbolByName) {
  EXPECT_EQ(find_symbol_in("libc.so", "getpid"), dlsym(RTLD_DEFAULT, "getpid"));
  EXPECT_NE(find_symbol_anywhere("pthread_create"), nullptr);
  EXPECT_EQ(find_symbol_anywhere("jprof_no_such_symbol"), nullptr);
  EXPECT_EQ(find_symbol_in("libnothing.so", "getpid"), nullptr);
}

TEST(Modules, OfferTheClockOfTheVdso) {
  auto* clock =
      reinterpret_cast<long (*)(int, timespec*)>(find_symbol_anywhere("__vdso_clock_gettime"));
  if (clock == nullptr) {
    GTEST_SKIP() << "this kernel or CPU has another name for it";
  }
  timespec now{};

  EXPECT_EQ(clock(CLOCK_MONOTONIC, &now), 0);
  EXPECT_GT(now.tv_sec, 0);
}

// What a sidecar without libc's file would get.
TEST(Modules, GiveTheirDynamicSymbols) {
  visit_modules(
      [](const LoadedModule& module, void*) {
        if (!starts_with(file_name(module.path), "libc.so")) {
          return true;
        }
        const DynamicSymbols found = dynamic_symbols(module);
        const auto* symbols = reinterpret_cast<const Elf64_Sym*>(found.symbols);
        const auto* strings = reinterpret_cast<const char*>(found.strings);
        const void* named = nullptr;
        for (std::uint64_t i = 0; i < found.count; ++i) {
          EXPECT_LT(symbols[i].st_name, found.string_bytes);
          if (equal(strings + symbols[i].st_name, "getpid")) {
            named = reinterpret_cast<const void*>(module.bias + symbols[i].st_value);
          }
        }
        EXPECT_GT(found.count, 1000U);
        EXPECT_EQ(named, dlsym(RTLD_DEFAULT, "getpid"));
        EXPECT_GT(module.eh_frame_header_bytes, 8U);
        return false;
      },
      nullptr);
}

// A base that no module has, and a file that the kernel would have to make larger.
TEST(Modules, AreCopiedOnlyIntoMemoryThatIsThere) {
  struct Base {
    std::uint64_t base = 0;
  } libc;
  visit_modules(
      [](const LoadedModule& module, void* context) {
        const bool is_libc = starts_with(file_name(module.path), "libc.so");
        static_cast<Base*>(context)->base = is_libc ? module.base : 0;
        return !is_libc;
      },
      &libc);
  const int memory = memfd_create("test", MFD_CLOEXEC);
  constexpr std::uint64_t kRoom = 1U << 20;
  const wire::SymbolsWantedMessage wanted{{}, libc.base, kRoom};

  EXPECT_EQ(recording::copy_symbols(wanted, memory).symbols.bytes, 0U) << "nobody has paid";
  ASSERT_EQ(posix_fallocate(memory, 0, kRoom), 0);
  EXPECT_EQ(recording::copy_symbols({{}, 1, kRoom}, memory).symbols.bytes, 0U);
  const wire::SymbolsMessage copied = recording::copy_symbols(wanted, memory);
  EXPECT_EQ(copied.base, libc.base);
  EXPECT_GT(copied.symbols.bytes, 1000 * sizeof(Elf64_Sym));
  EXPECT_GT(copied.strings.bytes, 1000U);
  EXPECT_GT(copied.frame_header.bytes, 8U);
  EXPECT_LE(copied.frame_header.offset + copied.frame_header.bytes, kRoom);
  struct stat status {};
  ASSERT_EQ(fstat(memory, &status), 0);
  EXPECT_EQ(static_cast<std::uint64_t>(status.st_size), kRoom);
  close(memory);
}

TEST(Modules, HaveFileNames) {
  EXPECT_STREQ(file_name("/usr/lib/libjvm.so"), "libjvm.so");
  EXPECT_STREQ(file_name("libjvm.so"), "libjvm.so");
  EXPECT_STREQ(file_name(""), "");
  EXPECT_TRUE(starts_with("libc.so.6", "libc.so"));
  EXPECT_FALSE(starts_with("libc", "libc.so"));
}

} // namespace
} // namespace jprof::agent::os

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/os/modules.h"

#include <gtest/gtest.h>

#include <ctime>
#include <dlfcn.h>

namespace jprof::agent::os {
namespace {

TEST(Modules, AreFoundWithTheirCodeAndBuildId) {
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
        result->build_id |= module.build_id_bytes == 20;
        EXPECT_LT(module.base, module.end);
        return true;
      },
      &seen);

  EXPECT_GT(seen.count, 2);
  EXPECT_TRUE(seen.with_own_code);
  EXPECT_TRUE(seen.build_id);
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

TEST(Modules, HaveFileNames) {
  EXPECT_STREQ(file_name("/usr/lib/libjvm.so"), "libjvm.so");
  EXPECT_STREQ(file_name("libjvm.so"), "libjvm.so");
  EXPECT_STREQ(file_name(""), "");
  EXPECT_TRUE(starts_with("libc.so.6", "libc.so"));
  EXPECT_FALSE(starts_with("libc", "libc.so"));
}

} // namespace
} // namespace jprof::agent::os

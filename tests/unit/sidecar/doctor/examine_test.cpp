// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/doctor/examine.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace jprof::doctor {
namespace {

using checks::CheckId;
using checks::Verdict;

// This process, as if it had HOME/lib/server/libjvm.so mapped, a file without a version.
class ExamineTest : public ::testing::Test {
 protected:
  ExamineTest() {
    std::filesystem::create_directories(home_.path() + "/lib/server");
    std::ofstream(library_) << "\177ELF";
  }

  void write_release(const std::string& text) { std::ofstream(home_.path() + "/release") << text; }

  checks::Check check(CheckId id) const {
    struct stat info {};
    EXPECT_EQ(::stat(library_.c_str(), &info), 0);
    const container::ProcRoot proc = std::move(*container::ProcRoot::open());
    container::Process process = std::move(*container::Process::open(proc, ::getpid()));
    const container::ProcessStatus status = *process.status();
    container::LoadedVm vm;
    vm.vm = container::Vm::kHotSpot;
    vm.library = library_;
    vm.library_inode = info.st_ino;
    const Examination found = examine({{std::move(process), status, vm}, false, {}}, {});
    const auto row = std::ranges::find(found.checks, id, &checks::Check::id);
    EXPECT_NE(row, found.checks.end());
    return row == found.checks.end() ? checks::Check{} : *row;
  }

  testing::TempDir home_;
  std::string library_ = home_.path() + "/lib/server/libjvm.so";
};

TEST_F(ExamineTest, WarnsOfAJvmWhoseVersionCannotBeRead) {
  const checks::Check row = check(CheckId::kJvm);
  EXPECT_EQ(row.verdict, Verdict::kWarn);
  EXPECT_NE(row.detail.find("unknown version"), std::string::npos) << row.detail;
  EXPECT_NE(row.cure.find("VM.version"), std::string::npos) << row.cure;
}

TEST_F(ExamineTest, PassesOneThatItKnows) {
  write_release("JAVA_VERSION=\"21.0.4\"\n");
  EXPECT_EQ(check(CheckId::kJvm).verdict, Verdict::kPass);
}

TEST_F(ExamineTest, SaysWhatASessionKeepsFromStarting) {
  write_release("JAVA_VERSION=\"25.0.1\"\n");
  EXPECT_NE(check(CheckId::kJvm).detail.find("jdk.CPUTimeSample"), std::string::npos);
  EXPECT_EQ(check(CheckId::kJvm).verdict, Verdict::kPass);
  write_release("JAVA_VERSION=\"24.0.1\"\n");
  EXPECT_EQ(check(CheckId::kJvm).detail.find("jdk.CPUTimeSample"), std::string::npos);
}

TEST_F(ExamineTest, WarnsOfOneThatIsTooNew) {
  write_release("JAVA_VERSION=\"99\"\n");
  EXPECT_EQ(check(CheckId::kJvm).verdict, Verdict::kWarn);
}

} // namespace
} // namespace jprof::doctor

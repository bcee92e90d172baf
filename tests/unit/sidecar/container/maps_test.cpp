// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/unique_fd.h"
#include "sidecar/container/maps.h"

#include <gtest/gtest.h>

#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace jprof::container {
namespace {

constexpr char kLibjvm[] = "7f1c2a000000-7f1c2b000000 r-xp 00200000 fe:01 1234567    "
                           "/usr/lib/jvm/java 17/lib/server/libjvm.so";

LoadedVm find(std::initializer_list<const char*> lines) {
  VmFinder finder;
  for (const char* line : lines) {
    const auto mapping = parse_mapping(line);
    EXPECT_TRUE(mapping) << line;
    if (mapping) {
      finder.add(*mapping);
    }
  }
  return finder.result();
}

// A file with these bytes, at its begin.
base::UniqueFd file_of(const std::string& text) {
  base::UniqueFd fd(::memfd_create("maps", MFD_CLOEXEC));
  EXPECT_EQ(::write(fd.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::lseek(fd.get(), 0, SEEK_SET);
  return fd;
}

TEST(Mapping, HasAddressesRightsAndPath) {
  const auto mapping = parse_mapping(kLibjvm);

  ASSERT_TRUE(mapping);
  EXPECT_EQ(mapping->begin, 0x7f1c2a000000U);
  EXPECT_EQ(mapping->end, 0x7f1c2b000000U);
  EXPECT_EQ(mapping->file_offset, 0x200000U);
  EXPECT_EQ(mapping->device_major, 0xfeU);
  EXPECT_EQ(mapping->device_minor, 1U);
  EXPECT_EQ(mapping->inode, 1234567U);
  EXPECT_TRUE(mapping->readable && mapping->executable);
  EXPECT_FALSE(mapping->writable);
  EXPECT_EQ(mapping->path, "/usr/lib/jvm/java 17/lib/server/libjvm.so");
}

TEST(Mapping, KnowsThatItsFileWasDeleted) {
  const auto mapping = parse_mapping("1000-2000 r-xp 00000000 00:01 7 /tmp/.jprof-x.so (deleted)");

  ASSERT_TRUE(mapping);
  EXPECT_TRUE(mapping->deleted);
  EXPECT_EQ(mapping->path, "/tmp/.jprof-x.so");
}

TEST(Mapping, IsNoneOfBrokenLines) {
  for (const char* line : {"", "-", "zz-1 r-xp 0 0:0 0", "1000-2000", "1000-2000 r-xp",
                           "1000-2000 r-xp 00000000 00:01", "1000-2000 r-xp 00000000 00:01 x"}) {
    EXPECT_FALSE(parse_mapping(line)) << line;
  }
}

TEST(VmFinder, FindsHotSpotByItsLibrary) {
  const LoadedVm vm =
      find({"1000-2000 r-xp 00000000 fe:01 9 /lib/x86_64-linux-gnu/libc.so.6", kLibjvm});

  EXPECT_EQ(vm.vm, Vm::kHotSpot);
  EXPECT_EQ(vm.libc, Libc::kGlibc);
  EXPECT_EQ(vm.library_inode, 1234567U);
}

TEST(VmFinder, DoesNotTakeAFileThatIsOnlyRead) {
  const LoadedVm vm = find({"1000-2000 r--p 00000000 fe:01 9 /tmp/libjvm.so"});

  EXPECT_EQ(vm.vm, Vm::kNone);
}

TEST(VmFinder, FindsAJvmInsideAnEmulatorByTheDataOfItsLibrary) {
  EXPECT_EQ(find({"5502ae0000-5503d60000 r--p 00000000 fe:00 7 /jdk/lib/server/libjvm.so",
                  "5503e50000-5503e82000 rw-p 01360000 fe:00 7 /jdk/lib/server/libjvm.so"})
                .vm,
            Vm::kHotSpot);
  // As a tool maps a file to read and to relocate it.
  EXPECT_EQ(find({"5502ae0000-5503d60000 rw-p 00000000 fe:00 7 /jdk/lib/server/libjvm.so"}).vm,
            Vm::kNone);
}

TEST(VmFinder, KnowsOpenJ9ThoughItHasALibjvmToo) {
  const LoadedVm vm =
      find({kLibjvm, "1000-2000 r-xp 0 fe:01 9 /opt/java/lib/default/libj9vm29.so"});

  EXPECT_EQ(vm.vm, Vm::kOpenJ9);
}

TEST(VmFinder, KnowsMuslBehindAGlibcLayer) {
  const LoadedVm vm = find({"1000-2000 r-xp 0 fe:01 9 /lib/libc.so.6",
                            "3000-4000 r-xp 0 fe:01 8 /lib/ld-musl-x86_64.so.1"});

  EXPECT_EQ(vm.libc, Libc::kMusl);
}

TEST(VmFinder, NamesAnotherProfiler) {
  const LoadedVm vm = find({kLibjvm, "1000-2000 r-xp 0 fe:01 9 /tmp/libasyncProfiler-4.5.so"});

  EXPECT_EQ(vm.other_profiler, "libasyncProfiler-4.5.so");
}

TEST(ReadMappings, VisitsEachLineOnceAcrossPieces) {
  std::string text;
  constexpr int kLines = 5000; // several buffers
  for (int i = 0; i < kLines; ++i) {
    text += std::string(kLibjvm) + "\n";
  }
  const base::UniqueFd file = file_of(text);
  int count = 0;

  const auto status = read_mappings(file.get(), text.size() + 1, [&](const Mapping& mapping) {
    count += mapping.inode == 1234567U ? 1 : 0;
    return true;
  });

  ASSERT_TRUE(status) << status.error().text();
  EXPECT_EQ(count, kLines);
}

TEST(ReadMappings, StopsAtItsLimit) {
  const base::UniqueFd file = file_of(std::string(1 << 20, '\n'));

  const auto status = read_mappings(file.get(), 1000, [](const Mapping&) { return true; });

  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, base::ErrorCode::kLimit);
}

TEST(ReadMappings, RefusesALineWithoutEnd) {
  const base::UniqueFd file = file_of(std::string(1 << 20, 'x'));

  EXPECT_FALSE(read_mappings(file.get(), 1U << 30U, [](const Mapping&) { return true; }));
}

} // namespace
} // namespace jprof::container

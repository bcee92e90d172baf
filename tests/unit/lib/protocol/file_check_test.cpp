// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/protocol/file_check.h"

#include <gtest/gtest.h>

namespace jprof::protocol {
namespace {

ResultFile file_of(const std::string& name, std::string_view bytes, std::uint64_t offset = 0) {
  return {name, bytes.size(), offset, base::sha256_hex(bytes)};
}

TEST(FileCheck, AcceptsWholeFilesAndEmptyOnes) {
  FileCheck check({file_of("a", "hello world"), file_of("empty", "")});

  EXPECT_TRUE(check.accept({0, 0, "hello "}));
  EXPECT_FALSE(check.complete(0));
  EXPECT_TRUE(check.accept({0, 6, "world"}));
  EXPECT_TRUE(check.complete(0));
  EXPECT_TRUE(check.finish());
}

TEST(FileCheck, RefusesGapsOverlapsAndSurplus) {
  FileCheck gap({file_of("a", "hello")});
  FileCheck overlap({file_of("a", "hello")});
  FileCheck surplus({file_of("a", "hello")});

  EXPECT_FALSE(gap.accept({0, 1, "ello"}));
  ASSERT_TRUE(overlap.accept({0, 0, "he"}));
  EXPECT_FALSE(overlap.accept({0, 1, "ello"}));
  EXPECT_FALSE(surplus.accept({0, 0, "hello!"}));
  EXPECT_FALSE(surplus.accept({1, 0, "x"}));
}

TEST(FileCheck, RefusesAFileOfTheRightLengthAndWrongContent) {
  FileCheck check({file_of("a", "hello")});

  EXPECT_FALSE(check.accept({0, 0, "jello"}));
  EXPECT_FALSE(check.accept({0, 5, ""})); // whatever follows
  EXPECT_FALSE(check.finish());
}

TEST(FileCheck, NamesTheFileThatIsCut) {
  FileCheck check({file_of("a.html", "hello")});
  ASSERT_TRUE(check.accept({0, 0, "hel"}));

  const auto status = check.finish();

  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, "a.html is cut: 3 of 5 bytes arrived");
}

TEST(FileCheck, ResumesBehindTheBytesAlreadyThere) {
  FileCheck check({file_of("a", "hello world", 6)});

  ASSERT_TRUE(check.resume(0, "hello "));
  EXPECT_FALSE(check.resume(0, "x"));
  EXPECT_TRUE(check.accept({0, 6, "world"}));
  EXPECT_TRUE(check.finish());
}

TEST(FileCheck, FindsThatTheBytesAlreadyThereWereOthers) {
  FileCheck check({file_of("a", "hello world", 6)});

  ASSERT_TRUE(check.resume(0, "jello "));
  EXPECT_FALSE(check.accept({0, 6, "world"}));
}

} // namespace
} // namespace jprof::protocol

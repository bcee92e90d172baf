// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/name_store.h"
#include "tests/unit/agent/fake_method.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace jprof::agent::sampling {
namespace {

class NameStoreTest : public ::testing::Test {
 protected:
  NameStoreTest() : arena_(8192), slots_(64), vm_(fake_layout()) {
    store_.arena = {reinterpret_cast<std::uint8_t*>(arena_.data()), arena_.size() * 8, &committed_};
    store_.table = {slots_.data(), slots_.size() - 1};
  }
  std::uint32_t put(const FakeMethod& method) {
    MethodView view;
    return read_method(vm_, method.address(), &view) ? store_.put(view.text) : 0;
  }
  std::string text(std::uint32_t offset) const {
    const auto* record = store_.arena.record_at<wire::NameRecord>(offset);
    const auto* bytes = reinterpret_cast<const char*>(record + 1);
    return {bytes, std::size_t{record->class_bytes} + record->name_bytes + record->signature_bytes};
  }

  std::uint64_t committed_ = 8;
  std::vector<std::uint64_t> arena_;
  std::vector<std::uint64_t> slots_;
  VmLayout vm_;
  NameStore store_;
};

TEST_F(NameStoreTest, CopiesAMethodOnce) {
  const FakeMethod method("java/lang/String", "length", "()I");

  const std::uint32_t offset = put(method);

  ASSERT_NE(offset, 0U);
  EXPECT_EQ(text(offset), "java/lang/Stringlength()I");
  EXPECT_EQ(put(method), offset);
}

// The memory of an unloaded class is given to another one: every pointer is the same as before.
TEST_F(NameStoreTest, NeverTellsTheOldNameOfReusedMemory) {
  FakeMethod method("Made1", "work1", "(I)I");
  const std::uint32_t before = put(method);

  method.rename("Made2", "work2", "(I)I");
  const std::uint32_t after = put(method);

  ASSERT_NE(after, 0U);
  EXPECT_NE(after, before);
  EXPECT_EQ(text(after), "Made2work2(I)I");
  EXPECT_EQ(text(before), "Made1work1(I)I") << "earlier samples keep their name";
}

TEST_F(NameStoreTest, CopiesTheLineTableBehindTheText) {
  FakeMethod method("A", "b", "()V");
  // A short entry, a long one whose numbers hold a zero byte, the end, and what is not part of it.
  const std::uint8_t lines[] = {0x1a, 0xff, 0x00, 200, 0x03, 0x09, 0x00, 0x77};
  std::memcpy(method.bytecodes_and_lines + 9, lines, sizeof lines);
  method.const_method.flags = 4;

  const std::uint32_t offset = put(method);

  ASSERT_NE(offset, 0U);
  const auto* record = store_.arena.record_at<wire::NameRecord>(offset);
  EXPECT_NE(record->flags & static_cast<unsigned>(wire::NameFlag::kHasLines), 0U);
  EXPECT_EQ(record->flags & static_cast<unsigned>(wire::NameFlag::kLinesExcludeZero), 0U);
  ASSERT_EQ(record->record_bytes, (sizeof *record + 5 + 7 + 7) / 8 * 8);
  const auto* text = reinterpret_cast<const char*>(record + 1);
  EXPECT_EQ(std::memcmp(text, "Ab()V", 5), 0);
  EXPECT_EQ(std::memcmp(text + 5, lines, 7), 0);
  EXPECT_EQ(put(method), offset);
}

TEST_F(NameStoreTest, LeavesOutALineTableWithoutAnEnd) {
  struct {
    FakeMethod method{"A", "b", "()V"};
    std::uint8_t lines[8192];
  } endless;
  std::memset(endless.lines, 0x1a, sizeof endless.lines);
  endless.method.const_method.flags = 4;
  endless.method.const_method.code_size =
      static_cast<std::uint16_t>(endless.lines - endless.method.bytecodes_and_lines);

  const std::uint32_t offset = put(endless.method);

  ASSERT_NE(offset, 0U);
  const auto* record = store_.arena.record_at<wire::NameRecord>(offset);
  EXPECT_EQ(record->record_bytes, sizeof *record + 8);
  EXPECT_EQ(text(offset), "Ab()V");
}

// Redefinition gives a method other bytecodes under its old name, and so other lines.
TEST_F(NameStoreTest, TellsVersionsOfOneMethodApart) {
  MethodView first;
  const FakeMethod method("A", "b", "()V");
  ASSERT_TRUE(read_method(vm_, method.address(), &first));
  MethodView second = first;
  second.text.version = first.text.version + 1;

  EXPECT_NE(store_.put(first.text), store_.put(second.text));
}

TEST_F(NameStoreTest, CutsWhatIsTooLongAndSaysSo) {
  const FakeMethod method(std::string(600, 'c'), "m", "()V");

  const std::uint32_t offset = put(method);

  const auto* record = store_.arena.record_at<wire::NameRecord>(offset);
  EXPECT_EQ(record->class_bytes, 512);
  EXPECT_EQ(record->flags, static_cast<std::uint16_t>(wire::NameFlag::kClassCut));
}

TEST_F(NameStoreTest, RefusesWhatIsNoMethod) {
  FakeMethod method("A", "b", "()V");
  MethodView view;

  EXPECT_FALSE(read_method(vm_, 0, &view));
  EXPECT_FALSE(read_method(vm_, method.address() + 1, &view));
  method.const_method.name_index = 3; // behind the constant pool's end
  EXPECT_FALSE(read_method(vm_, method.address(), &view));
}

TEST_F(NameStoreTest, SaysWhenItIsFull) {
  committed_ = store_.arena.bytes - 16;
  const FakeMethod method("A", "b", "()V");

  EXPECT_EQ(put(method), 0U);
}

} // namespace
} // namespace jprof::agent::sampling

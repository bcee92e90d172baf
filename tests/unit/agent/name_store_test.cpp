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

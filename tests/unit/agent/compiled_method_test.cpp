// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/compiled_method.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace jprof::agent::sampling {
namespace {

// The tables of an nmethod with three methods, the second inlined into the first, the third into
// the second, as code/debugInfoRec.cpp writes them.
class CompiledMethodTables : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  void SetUp() override {
    vm_.number_bias = GetParam();
    number(0); // decode offset 0 means "no scope"
    const std::uint32_t outer = scope(0, 1, 10);
    const std::uint32_t middle = scope(outer, 2, 300);
    const std::uint32_t inner = scope(middle, 3, 70000);
    describe(-1, 0);
    describe(8, outer);
    describe(20, inner);
    describe(40, middle);
    describe(0x7fffffff, 0);
    compiled_.code_begin = 0x1000;
    compiled_.scopes_data = address(data_);
    compiled_.scopes_pcs = address(pcs_);
    compiled_.scopes_pcs_end = compiled_.scopes_pcs + pcs_.size() * sizeof(std::int32_t);
    compiled_.metadata = address(methods_);
  }

  template <typename T>
  static std::uint64_t address(const std::vector<T>& vector) {
    return reinterpret_cast<std::uint64_t>(vector.data());
  }

  // UNSIGNED5: digits of 64 values; a byte below 192 ends the number (utilities/unsigned5.hpp).
  void number(std::uint32_t value) {
    const std::uint32_t bias = vm_.number_bias;
    const std::uint32_t low = 192 - bias;
    for (int i = 0; i < 4 && value >= low; ++i) {
      value -= low;
      data_.push_back(static_cast<std::uint8_t>(low + bias + value % 64));
      value /= 64;
    }
    data_.push_back(static_cast<std::uint8_t>(value + bias));
  }
  std::uint32_t scope(std::uint32_t sender, std::uint32_t method, std::uint32_t bci) {
    const auto at = static_cast<std::uint32_t>(data_.size());
    number(sender);
    number(method);
    number(bci + 1);
    return at;
  }
  void describe(std::int32_t pc_offset, std::uint32_t decode_offset) {
    pcs_.insert(pcs_.end(), {pc_offset, static_cast<std::int32_t>(decode_offset), 0, 0});
  }

  VmLayout vm_;
  CompiledMethod compiled_;
  std::vector<std::uint8_t> data_;
  std::vector<std::int32_t> pcs_;
  std::vector<std::uint64_t> methods_ = {0xa000, 0xb000, 0xc000};
};

TEST_P(CompiledMethodTables, GiveTheInlinedMethodsInnermostFirst) {
  Scope scope;

  ASSERT_TRUE(innermost_scope(vm_, compiled_, 0x1000 + 20, &scope));
  EXPECT_EQ(scope.method, 0xc000U);
  EXPECT_EQ(scope.bci, 70000);
  ASSERT_TRUE(scope_at(vm_, compiled_, scope.sender, &scope));
  EXPECT_EQ(scope.method, 0xb000U);
  EXPECT_EQ(scope.bci, 300);
  ASSERT_TRUE(scope_at(vm_, compiled_, scope.sender, &scope));
  EXPECT_EQ(scope.method, 0xa000U);
  EXPECT_EQ(scope.bci, 10);
  EXPECT_EQ(scope.sender, 0U);
}

TEST_P(CompiledMethodTables, UseTheNextDescriptionForAPcInBetween) {
  Scope scope;

  ASSERT_TRUE(innermost_scope(vm_, compiled_, 0x1000 + 21, &scope));
  EXPECT_EQ(scope.method, 0xb000U);
  ASSERT_TRUE(innermost_scope(vm_, compiled_, 0x1000, &scope));
  EXPECT_EQ(scope.method, 0xa000U);
}

TEST_P(CompiledMethodTables, HaveNoScopeBehindTheLastDescription) {
  Scope scope;

  EXPECT_FALSE(innermost_scope(vm_, compiled_, 0x1000 + 41, &scope));
}

TEST_P(CompiledMethodTables, TellReturnsOfCallsFromOtherAddresses) {
  EXPECT_TRUE(is_call_return(compiled_, 0x1000 + 8));
  EXPECT_FALSE(is_call_return(compiled_, 0x1000 + 9));
}

INSTANTIATE_TEST_SUITE_P(BothEncodings, CompiledMethodTables, ::testing::Values(0U, 1U));

} // namespace
} // namespace jprof::agent::sampling

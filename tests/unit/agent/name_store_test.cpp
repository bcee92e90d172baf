// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/name_store.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace jprof::agent::sampling {
namespace {

struct Symbol {
  std::uint16_t length = 0;
  char body[700] = {};
  void set(const std::string& text) {
    length = static_cast<std::uint16_t>(text.size());
    std::memcpy(body, text.data(), text.size());
  }
};

// One Method with what hangs on it, laid out in a way of our own.
struct alignas(8) FakeMethod {
  alignas(8) Symbol holder_name;
  alignas(8) Symbol name;
  alignas(8) Symbol signature;
  struct alignas(8) {
    const void* name = nullptr;
  } klass;
  struct alignas(8) {
    const void* holder = nullptr;
    std::int32_t length = 3;
    const void* entries[3] = {};
  } pool;
  struct alignas(8) {
    const void* constants = nullptr;
    std::uint16_t code_size = 9;
    std::uint16_t name_index = 1;
    std::uint16_t signature_index = 2;
  } const_method;
  struct alignas(8) {
    const void* const_method = nullptr;
    std::uint32_t access_flags = 0x0009;
  } method;

  FakeMethod(const std::string& holder, const std::string& method_name, const std::string& types) {
    rename(holder, method_name, types);
    klass.name = &holder_name;
    pool.holder = &klass;
    pool.entries[1] = &name;
    pool.entries[2] = &signature;
    const_method.constants = &pool;
    method.const_method = &const_method;
  }
  void rename(const std::string& holder, const std::string& method_name, const std::string& types) {
    holder_name.set(holder);
    name.set(method_name);
    signature.set(types);
  }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(&method); }
};

VmLayout fake_layout() {
  VmLayout vm;
  auto& fields = vm.method;
  fields.const_method = 0;
  fields.access_flags = offsetof(decltype(FakeMethod::method), access_flags);
  fields.constants = 0;
  fields.code_size = offsetof(decltype(FakeMethod::const_method), code_size);
  fields.name_index = offsetof(decltype(FakeMethod::const_method), name_index);
  fields.signature_index = offsetof(decltype(FakeMethod::const_method), signature_index);
  fields.const_method_bytes = sizeof(FakeMethod::const_method);
  fields.pool_holder = 0;
  fields.pool_length = offsetof(decltype(FakeMethod::pool), length);
  fields.pool_bytes = offsetof(decltype(FakeMethod::pool), entries);
  fields.klass_name = 0;
  fields.symbol_length = 0;
  fields.symbol_body = offsetof(Symbol, body);
  return vm;
}

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

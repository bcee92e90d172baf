// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/jvm/vm_flags.h"

#include "agent/os/modules.h"

namespace jprof::agent::jvm {
namespace {

constexpr std::uint64_t kMaxFlags = 10'000; // 8 to 25 have 700 to 1500

template <typename T>
T value_at(std::uint64_t address) {
  return *reinterpret_cast<const T*>(address);
}

} // namespace

VmFlags::VmFlags(const StructTables& tables) {
  const char* type = tables.type_size("JVMFlag") != 0 ? "JVMFlag" : "Flag";
  const std::uint64_t first = tables.static_address(type, "flags");
  const std::uint64_t count = tables.static_address(type, "numFlags");
  const std::int32_t name = tables.offset(type, "_name");
  const std::int32_t address = tables.offset(type, "_addr");
  stride_ = tables.type_size(type);
  if (first == 0 || count == 0 || name < 0 || address < 0 || stride_ == 0) {
    return;
  }
  first_ = value_at<std::uint64_t>(first);
  count_ = value_at<std::uint64_t>(count);
  count_ = count_ < kMaxFlags ? count_ : 0;
  name_ = static_cast<std::uint64_t>(name);
  address_ = static_cast<std::uint64_t>(address);
}

std::uint8_t* VmFlags::find(const char* name) const {
  for (std::uint64_t i = 0; i < count_; ++i) {
    const std::uint64_t flag = first_ + i * stride_;
    const auto* text = value_at<const char*>(flag + name_);
    if (text != nullptr && os::equal(text, name)) {
      return value_at<std::uint8_t*>(flag + address_);
    }
  }
  return nullptr;
}

bool VmFlags::is_on(const char* name) const {
  const std::uint8_t* value = find(name);
  return value != nullptr && *value != 0;
}

} // namespace jprof::agent::jvm

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/jvm/mount_notifications.h"

#include "agent/arch/safe_load.h"
#include "agent/os/modules.h"

namespace jprof::agent::jvm {
namespace {

using arch::load;
using arch::word_at;

constexpr std::uint32_t kFirstFeature = 21;

struct FlagName {
  const char* type;
  const char* field;
};
constexpr FlagName kFlagNames[] = {{"JvmtiVTMSTransitionDisabler", "_VTMS_notify_jvmti_events"},
                                   {"MountUnmountDisabler", "_notify_jvmti_events"}}; // 26+

// A row of the tables in which HotSpot describes itself (runtime/vmStructs.hpp, VMStructEntry). The
// flag is in the one for compilers written in Java (jvmci/vmStructs_jvmci.cpp), which is not
// exported; but it is in libjvm's data, and no other row has these names.
constexpr std::uint64_t kTypeName = 0;
constexpr std::uint64_t kFieldName = 8;
constexpr std::uint64_t kAddress = 40;
constexpr std::uint64_t kRowBytes = 48;

bool holds_string(const os::LoadedModule& module, std::uint64_t address, const char* text) {
  std::uint16_t bytes = 0;
  while (text[bytes] != '\0') {
    ++bytes;
  }
  std::uint8_t end = 1;
  return address >= module.base && address < module.end && arch::holds_text(address, bytes, text) &&
         load(address + bytes, &end) && end == 0;
}

// The address of the flag, 0 if no row names it.
std::uint64_t find_flag(const os::LoadedModule& module) {
  for (std::uint64_t row = (module.data_begin + 7) & ~std::uint64_t{7};
       row + kRowBytes <= module.data_end; row += 8) {
    const std::uint64_t field = word_at(row + kFieldName);
    if (field < module.base || field >= module.end) {
      continue;
    }
    for (const FlagName& name : kFlagNames) {
      if (holds_string(module, field, name.field) &&
          holds_string(module, word_at(row + kTypeName), name.type)) {
        const std::uint64_t flag = word_at(row + kAddress);
        return os::is_data(module, flag) ? flag : 0;
      }
    }
  }
  return 0;
}

} // namespace

MountNotifications mount_notifications(std::uint32_t java_feature) {
  if (java_feature < kFirstFeature) {
    return MountNotifications::kNone;
  }
  std::uint64_t flag = 0;
  os::visit_modules(
      [](const os::LoadedModule& module, void* context) {
        if (!os::starts_with(os::file_name(module.path), "libjvm.so")) {
          return true;
        }
        *static_cast<std::uint64_t*>(context) = find_flag(module);
        return false;
      },
      &flag);
  std::uint8_t value = 0;
  if (flag == 0 || !load(flag, &value)) {
    return MountNotifications::kUnknown;
  }
  return value != 0 ? MountNotifications::kOn : MountNotifications::kOff;
}

} // namespace jprof::agent::jvm

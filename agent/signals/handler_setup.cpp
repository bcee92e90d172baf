// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/signals/handler_setup.h"

#include "agent/arch/safe_load.h"
#include "agent/jvm/struct_tables.h"
#include "agent/jvm/vm_flags.h"
#include "agent/os/modules.h"
#include "agent/os/process.h"
#include "agent/os/system.h"
#include "agent/sampling/fault_handler.h"
#include "agent/sampling/handler.h"
#include "agent/signals/retirement.h"
#include "lib/wire/region.h"

namespace jprof::agent {
namespace {

using wire::AgentStatus;

// Who owns the handler at this address, as the user is told.
const char* owner_of(std::uint64_t handler) {
  struct Search {
    std::uint64_t address;
    const char* name;
  } search{handler, "code in no module"};
  os::visit_modules(
      [](const os::LoadedModule& module, void* context) {
        auto* wanted = static_cast<Search*>(context);
        if (wanted->address >= module.base && wanted->address < module.end) {
          wanted->name = *module.path != 0 ? os::file_name(module.path) : "the program itself";
          return false;
        }
        return true;
      },
      &search);
  return os::starts_with(search.name, "libjvm.so") ? "the JVM (JFR's CPU-time sampler)"
                                                   : search.name;
}

// With -Xcheck:jni the JVM prints a warning and a table to the program's output when it finds a
// fault handler other than its own. So we install none then, and the kernel does the loads that may
// fault; but not under a seccomp filter, which may kill the process for that.
Failure choose_loads(const wire::StartMessage& start) {
  jvm::StructTables tables;
  arch::let_kernel_load(false);
  if (!tables.open() || !jvm::VmFlags(tables).is_on("CheckJNICalls")) {
    return {};
  }
  if (start.walker == static_cast<std::uint32_t>(wire::Walker::kAsyncGetCallTrace)) {
    return {AgentStatus::kHandlersChecked, 0, "AsyncGetCallTrace needs a handler for its faults"};
  }
  os::Seccomp seccomp;
  if (!os::read_seccomp(os::thread_id(), &seccomp) || seccomp.mode != 0) {
    return {AgentStatus::kHandlersChecked, 0, "process_vm_readv is not tried under seccomp"};
  }
  arch::let_kernel_load(true);
  std::uint64_t probe = 0;
  return arch::load(reinterpret_cast<std::uint64_t>(&start.interval_ns), &probe) &&
                 probe == start.interval_ns
             ? Failure{}
             : Failure{AgentStatus::kHandlersChecked, 0, "the kernel has no process_vm_readv"};
}

} // namespace

Failure set_up_handlers(const wire::StartMessage& start, int signal, std::uint32_t* owner) {
  if (Failure failure = choose_loads(start); failure.status != AgentStatus::kOk) {
    return failure;
  }
  sampling::know_jvm_handler(os::find_symbol_in("libjvm.so", "JVM_handle_linux_signal"));
  *owner = claim_handlers();
  std::uint64_t taken_by = 0;
  switch (sampling::install_handlers(signal, &taken_by)) {
  case sampling::InstallError::kSignalTaken:
    return {AgentStatus::kSignalTaken, 0, "the signal belongs to ", owner_of(taken_by)};
  case sampling::InstallError::kRefused:
    return {AgentStatus::kSignalTaken, 0, "the kernel refused the signal handler"};
  case sampling::InstallError::kNone:
    break;
  }
  return {};
}

} // namespace jprof::agent

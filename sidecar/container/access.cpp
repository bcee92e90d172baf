// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/container/access.h"

#include "lib/base/file.h"

#include <linux/capability.h>
#include <string_view>

namespace jprof::container {
namespace {

using base::ErrorCode;

bool has(std::uint64_t capabilities, int capability) {
  return (capabilities >> capability & 1U) != 0;
}

std::string ids(uid_t uid, gid_t gid) {
  return std::to_string(uid) + ":" + std::to_string(gid);
}

Barrier barrier_for(uid_t uid, gid_t gid, std::uint64_t capabilities, const ProcessStatus& target,
                    uid_t owner) {
  if (has(capabilities, CAP_SYS_PTRACE)) {
    return Barrier::kNone;
  }
  if (target.real_uid != uid || target.effective_uid != uid || target.saved_uid != uid) {
    return Barrier::kUid;
  }
  if (target.real_gid != gid || target.effective_gid != gid || target.saved_gid != gid) {
    return Barrier::kGid;
  }
  if ((target.permitted_capabilities & ~capabilities) != 0) {
    return Barrier::kCapabilities;
  }
  return owner != target.effective_uid ? Barrier::kNotDumpable : Barrier::kNone;
}

void explain(Access& access, const ProcessStatus& ours, const ProcessStatus& target) {
  const std::string wanted = ids(target.effective_uid, target.effective_gid);
  switch (access.barrier) {
  case Barrier::kNone:
    break;
  case Barrier::kUid:
  case Barrier::kGid:
    access.cause = "the JVM runs as uid:gid " + wanted + ", jprof as " +
                   ids(ours.effective_uid, ours.effective_gid);
    access.cure = "set runAsUser: " + std::to_string(target.effective_uid) +
                  " and runAsGroup: " + std::to_string(target.effective_gid) +
                  " for the jprof container (supplementary groups do not count)";
    break;
  case Barrier::kCapabilities:
    access.cause = "the JVM holds capabilities that jprof lacks";
    access.cure =
        "drop ALL capabilities in the JVM's container (a JVM needs none), or add the same "
        "ones to the jprof container";
    break;
  case Barrier::kNotDumpable:
    access.cause = "the JVM is not dumpable: its executable is not readable by its user, has file "
                   "capabilities, or it changed its uid";
    access.cure = "make the java executable readable (mode 0755) and free of file capabilities, or "
                  "give the jprof container SYS_PTRACE";
    break;
  case Barrier::kOther:
    access.cause =
        "the kernel refuses access to the JVM although uid, gid and capabilities match: a "
        "security module or another user namespace";
    access.cure =
        "run both containers under the same AppArmor or SELinux profile and user namespace";
    break;
  }
}

enum class Kind { kFile, kLink };

base::Result<base::UniqueFd> open_guarded(const Process& target, const std::string& name, Kind kind,
                                          base::Deadline deadline) {
  const auto open = [&] {
    return kind == Kind::kFile ? target.open_file(name) : target.open_link(name);
  };
  base::Result<base::UniqueFd> opened = open();
  if (opened || opened.error().code != ErrorCode::kPermission) {
    return opened;
  }
  JPROF_TRY_ASSIGN(const ProcessStatus status, target.status());
  const Identity identity{status.effective_uid, status.effective_gid};
  auto opened_as_it = open_as(identity, deadline, open);
  if (opened_as_it || opened_as_it.error().code != ErrorCode::kPermission) {
    return opened_as_it;
  }
  return base::fail(access_error(target));
}

} // namespace

Access predict_access(const ProcessStatus& ours, const ProcessStatus& target, uid_t target_owner) {
  Access access;
  access.barrier = barrier_for(ours.effective_uid, ours.effective_gid, ours.effective_capabilities,
                               target, target_owner);
  const bool may_become =
      has(ours.effective_capabilities, CAP_SETUID) && has(ours.effective_capabilities, CAP_SETGID);
  if (access.barrier != Barrier::kNone && may_become) {
    // A child with the target's ids has no capability left unless that uid is 0.
    const std::uint64_t left = target.effective_uid == 0 ? ours.effective_capabilities : 0;
    const Barrier then =
        barrier_for(target.effective_uid, target.effective_gid, left, target, target_owner);
    access.as_target = then == Barrier::kNone;
    access.barrier = then;
  }
  explain(access, ours, target);
  return access;
}

base::Result<ProcessStatus> own_status() {
  JPROF_TRY_ASSIGN(const std::string text, base::read_file("/proc/self/status", 64 * 1024));
  return parse_status(text);
}

base::Error access_error(const Process& target) {
  const std::string name = "pid " + std::to_string(target.pid());
  const auto ours = own_status();
  const auto theirs = target.status();
  const auto owner = target.owner();
  if (!ours || !theirs || !owner || !target.running()) {
    return target.gone();
  }
  Access access = predict_access(*ours, *theirs, *owner);
  if (access.barrier == Barrier::kNone) {
    access.barrier = Barrier::kOther;
    explain(access, *ours, *theirs);
  }
  return base::make_error(ErrorCode::kIdentityMismatch,
                          "no access to " + name + ": " + access.cause, access.cure);
}

base::Result<base::UniqueFd> open_guarded_file(const Process& target, const std::string& name,
                                               base::Deadline deadline) {
  return open_guarded(target, name, Kind::kFile, deadline);
}

base::Result<TargetRoot> open_root(const Process& target, base::Deadline deadline) {
  JPROF_TRY_ASSIGN(base::UniqueFd root, open_guarded(target, "root", Kind::kLink, deadline));
  return TargetRoot::from(std::move(root));
}

} // namespace jprof::container

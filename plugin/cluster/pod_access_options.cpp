// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/cluster/pod_access_options.h"

#include <string_view>

namespace jprof::plugin {
namespace {

constexpr const char* kGroup = "Pods without the sidecar";
// A release is built with the digest of its image (docs/releasing.md). Any other build has none: a
// name that is not pinned may belong to somebody else tomorrow.
constexpr std::string_view kImage = JPROF_IMAGE;
constexpr std::int64_t kMaxId = 0xffff'fffe; // user and group ids of Linux have 32 bits

} // namespace

void add_pod_access_options(cli::Command command, PodAccessFlags& flags) {
  command
      .option("--ephemeral", flags.ephemeral,
              "Add an ephemeral container if no sidecar can be used: auto (default; never in a "
              "CronJob), never, always")
      .one_of({"auto", "never", "always"})
      .group(kGroup);
  command
      .option("--image", flags.image,
              "Image of the ephemeral container; " +
                  (kImage.empty() ? "this build names none" : "default " + std::string(kImage)))
      .environment("JPROF_IMAGE")
      .group(kGroup);
  command.option("--image-pull-policy", flags.pull_policy, "Default IfNotPresent")
      .one_of({"Always", "IfNotPresent", "Never"})
      .group(kGroup);
  command.option("--uid", flags.uid, "The JVM's user id, if the API does not say it")
      .between(0, kMaxId)
      .group(kGroup);
  command.option("--gid", flags.gid, "The JVM's group id, if the API does not say it")
      .between(0, kMaxId)
      .group(kGroup);
  command
      .option("--capability", flags.capability,
              "SYS_PTRACE, for a JVM that has capabilities itself; not under Pod Security "
              "restricted or baseline")
      .one_of({"SYS_PTRACE"})
      .group(kGroup);
  command.flag(
      "--force", flags.force,
      "Capture even if the JVM, its pod or its node is short of memory: the kernel may then kill "
      "the JVM");
  command.flag("--explain", flags.explain, "Explain which way into the pod is taken, and why");
}

base::Result<PodAccessOptions> pod_access_options(const PodAccessFlags& flags, bool scheduled) {
  using Ephemeral = PodAccessOptions::Ephemeral;
  PodAccessOptions out;
  if (flags.ephemeral == "never" || (flags.ephemeral.empty() && scheduled)) {
    out.ephemeral = Ephemeral::kNever;
  } else if (flags.ephemeral == "always") {
    out.ephemeral = Ephemeral::kAlways;
  }
  out.image_named = !flags.image.empty();
  out.image = out.image_named ? flags.image : std::string(kImage);
  out.force = flags.force;
  out.pull_policy = flags.pull_policy;
  out.ids = {flags.uid, flags.gid};
  out.capability = flags.capability;
  if (flags.gid && !flags.uid) {
    return base::make_failure(base::ErrorCode::kUsage, "--gid without --uid",
                              "the kernel compares both");
  }
  return out;
}

} // namespace jprof::plugin

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace jprof::agent::jvm {

// Whether the JVM notifies JVMTI of each mount and unmount of a virtual thread (21 and later): the
// first JVMTI environment that is opened in a running JVM turns this on, and nothing turns it off
// (prims/jvmtiExport.cpp, get_jvmti_interface). Each mount then takes 20 to 30 % longer.
enum class MountNotifications {
  kNone, // a release without them
  kOff,
  kOn,
  kUnknown, // this JVM does not say
};

// Takes a few milliseconds. The agent's thread only, with the session's fault handler installed.
MountNotifications mount_notifications(std::uint32_t java_feature);

} // namespace jprof::agent::jvm

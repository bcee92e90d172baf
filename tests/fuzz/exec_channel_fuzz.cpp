// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/kube/api_status.h"
#include "lib/kube/exec_channel.h"
#include "lib/kube/pod.h"

#include <cstddef>
#include <cstdint>

// Messages of an exec as a compromised node may send them, and objects of the API server.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto message = jprof::kube::decode_channel(text)) {
    static_cast<void>(jprof::kube::parse_exit(message->payload));
  }
  const auto error = jprof::kube::api_error(403, text, {"get", "pods", "n"});
  for (const char c : error.message) {
    if (static_cast<unsigned char>(c) < 0x20) {
      __builtin_trap(); // a terminal might obey it
    }
  }
  if (const auto json = jprof::base::parse_json(text)) {
    if (const auto pod = jprof::kube::parse_pod(*json)) {
      static_cast<void>(jprof::kube::find_sidecar(*pod));
      static_cast<void>(jprof::kube::find_target(*pod, ""));
    }
  }
  return 0;
}

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/kube/kube_config.h"

#include <cstddef>
#include <cstdint>

// A kubeconfig may come from anywhere (kubectl --kubeconfig of a stranger): an error or a
// configuration, and merging it with itself changes nothing.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = jprof::kube::parse_kube_config(text.substr(0, 64 * 1024), "dir/fuzz");
  if (config) {
    jprof::kube::KubeConfig merged = *config;
    jprof::kube::merge_kube_config(merged, *config);
    if (merged.users.size() != config->users.size()) {
      __builtin_trap();
    }
  }
  return 0;
}

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/kube/cluster_label.h"

#include "lib/base/digest.h"

#include <string_view>

namespace jprof::kube {
namespace {

constexpr std::string_view kBegin = "-----BEGIN CERTIFICATE-----";
constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
constexpr std::size_t kCharacters = 12;

// The first certificate's base64 text, however its lines are broken.
std::string first_certificate(std::string_view pem) {
  const std::size_t begin = pem.find(kBegin);
  const std::size_t end = pem.find(kEnd, begin == std::string_view::npos ? 0 : begin);
  std::string out;
  if (begin == std::string_view::npos || end == std::string_view::npos) {
    return out;
  }
  for (const char c : pem.substr(begin + kBegin.size(), end - begin - kBegin.size())) {
    if (c > ' ') {
      out += c;
    }
  }
  return out;
}

} // namespace

std::string cluster_label(const ClusterAccess& access) {
  const std::string certificate = first_certificate(access.ca_pem);
  return certificate.empty() ? access.cluster_name
                             : "ca-" + base::sha256_hex(certificate).substr(0, kCharacters);
}

} // namespace jprof::kube

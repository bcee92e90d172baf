// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fault_server.h"

#include "lib/base/check.h"

#include <cstdlib>

namespace jprof::testing {
namespace {

std::vector<std::string> command(const std::optional<ServerCertificate>& tls) {
  std::vector<std::string> out{"python3", JPROF_SOURCE_DIR "/tests/support/fault_server.py"};
  if (tls) {
    out.insert(out.end(), {tls->certificate_file, tls->key_file});
    if (!tls->client_authority_file.empty()) {
      out.push_back(tls->client_authority_file);
    }
  }
  return out;
}

} // namespace

FaultServer::FaultServer(const std::string& script, const std::optional<ServerCertificate>& tls)
    : scheme_(tls ? "https" : "http"), process_(command(tls)) {
  JPROF_CHECK(process_.write(script + "\n"));
  const auto line = process_.read_line(std::chrono::seconds(20));
  JPROF_CHECK(line.has_value());
  port_ = std::atoi(line->c_str());
  JPROF_CHECK(port_ > 0);
}

http::Url FaultServer::url(const std::string& path) const {
  auto url = http::parse_url(scheme_ + "://127.0.0.1:" + std::to_string(port_) + path);
  JPROF_CHECK(url.has_value());
  return *url;
}

base::Json FaultServer::next_request() {
  const auto line = process_.read_line(std::chrono::seconds(2));
  if (!line) {
    return nullptr;
  }
  auto parsed = base::parse_json(*line);
  JPROF_CHECK(parsed.has_value());
  return *parsed;
}

} // namespace jprof::testing

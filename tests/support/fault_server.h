// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/json.h"
#include "lib/http/url.h"
#include "tests/support/child_process.h"

#include <optional>
#include <string>
#include <vector>

namespace jprof::testing {

struct ServerCertificate {
  std::string certificate_file;
  std::string key_file;
  std::string client_authority_file; // non-empty: clients must show a certificate of it
};

// tests/support/fault_server.py, which documents the steps, on a port of its own of 127.0.0.1.
class FaultServer {
 public:
  explicit FaultServer(const std::string& script, const std::optional<ServerCertificate>& tls = {});

  int port() const { return port_; }
  http::Url url(const std::string& path = "/") const;
  // What the next request was ("method", "target", "headers", "body", "body_bytes", "port"); null
  // where none came within two seconds.
  base::Json next_request();

 private:
  std::string scheme_;
  ChildProcess process_;
  int port_ = 0;
};

} // namespace jprof::testing

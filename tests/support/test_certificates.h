// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/temp_dir.h"

#include <string>

namespace jprof::testing {

// A certificate authority of the test's own, made by the openssl command, and what it signed.
// Elliptic-curve keys, valid for a day. Files live as long as the object.
class TestCertificates {
 public:
  TestCertificates();

  std::string authority_file() const { return directory_.path() + "/ca.pem"; }
  // Makes NAME.pem and NAME.key; `subject_alt_name` as in "DNS:store.test" or "IP:127.0.0.1".
  void issue(const std::string& name, const std::string& subject_alt_name) const;
  std::string certificate_file(const std::string& name) const {
    return directory_.path() + "/" + name + ".pem";
  }
  std::string key_file(const std::string& name) const {
    return directory_.path() + "/" + name + ".key";
  }

 private:
  TempDir directory_;
};

} // namespace jprof::testing

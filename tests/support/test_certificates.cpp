// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/support/test_certificates.h"

#include "lib/base/check.h"
#include "lib/base/file.h"

#include <cstdlib>

namespace jprof::testing {
namespace {

void run_in(const std::string& directory, const std::string& command) {
  const std::string line =
      "cd '" + directory + "' && " + command + " >log 2>&1 || { cat log; false; }";
  JPROF_CHECK(std::system(line.c_str()) == 0); // NOLINT(cert-env33-c): constant test commands
}

} // namespace

TestCertificates::TestCertificates() {
  run_in(directory_.path(), "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 "
                            "-nodes -keyout ca.key -out ca.pem "
                            "-days 1 -subj '/CN=jprof test authority'");
}

void TestCertificates::issue(const std::string& name, const std::string& subject_alt_name) const {
  JPROF_CHECK(base::write_file_atomically(directory_.path() + "/" + name + ".ext",
                                          "subjectAltName=" + subject_alt_name + "\n", 0600)
                  .has_value());
  run_in(directory_.path(),
         "openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout " + name +
             ".key -out " + name + ".csr -subj '/CN=" + name + "'");
  run_in(directory_.path(), "openssl x509 -req -in " + name + ".csr -CA ca.pem -CAkey ca.key " +
                                "-CAcreateserial -days 1 -extfile " + name + ".ext -out " + name +
                                ".pem");
}

} // namespace jprof::testing

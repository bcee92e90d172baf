// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
//
// The one program of the image, under two names. Most of either program is the same: TLS, the C and
// C++ libraries, stores, formats. Held twice, it would be two fifths of the image. Which of the two
// it is, the name says that it is started by; any other name than the plugin's is `jprof`.
#include "plugin/program.h"
#include "sidecar/program.h"

#include <string_view>

int main(int argc, char** argv) {
  const std::string_view path = argc > 0 ? argv[0] : "";
  const bool plugin = path.substr(path.rfind('/') + 1) == "kubectl-jprof";
  return plugin ? jprof::plugin::run_program(argc, argv) : jprof::sidecar::run_program(argc, argv);
}

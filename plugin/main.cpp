// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/program.h"

int main(int argc, char** argv) {
  return jprof::plugin::run_program(argc, argv);
}

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/program.h"

int main(int argc, char** argv) {
  return jprof::sidecar::run_program(argc, argv);
}

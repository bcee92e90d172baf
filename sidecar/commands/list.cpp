// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/list.h"

#include "lib/base/yaml_text.h"
#include "sidecar/doctor/report.h"
#include "sidecar/sandbox/sandbox.h"

#include <cstdio>
#include <memory>

namespace jprof::sidecar {
namespace {

struct Options {
  std::string form = "table";
};

base::Result<int> run(const Options& options, bool json) {
  JPROF_TRY_ASSIGN(const doctor::Form form, doctor::parse_form(json ? "json" : options.form));
  sandbox::fence_in(sandbox::Network::kNone); // doctor says if there is none
  JPROF_TRY_ASSIGN(std::vector<jvm::Candidate> found, jvm::find_jvms());
  std::vector<doctor::Examination> jvms;
  for (jvm::Candidate& candidate : found) {
    jvms.push_back(doctor::examine(std::move(candidate), std::nullopt));
  }
  if (form == doctor::Form::kJson) {
    std::printf("%s\n", base::dump_json(doctor::to_json(jvms), 2).c_str());
  } else if (form == doctor::Form::kYaml) {
    std::printf("%s", base::to_yaml(doctor::to_json(jvms)).c_str());
  } else if (jvms.empty()) {
    std::fputs("no JVM is visible from here\n", stderr);
  } else {
    std::printf("%s", doctor::to_table(jvms, form).c_str());
  }
  return 0;
}

} // namespace

void add_list(cli::Program& program) {
  const auto options = std::make_shared<Options>();
  cli::Command command =
      program.add({"list", "Show every JVM that is visible, and whether it can be profiled",
                   "  jprof list\n"
                   "  jprof list -o wide\n"},
                  [options, &program] { return run(*options, program.json()); });
  command.option("-o,--output", options->form, "table, wide, json or yaml");
}

} // namespace jprof::sidecar

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/doctor.h"

#include "lib/base/yaml_text.h"
#include "sidecar/doctor/report.h"
#include "sidecar/sandbox/sandbox.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <unistd.h>

namespace jprof::sidecar {
namespace {

struct Options {
  std::string form = "table";
  pid_t pid = 0;
  std::string volume;
};

base::Result<std::vector<doctor::Examination>> examine(const Options& options) {
  std::optional<inject::SharedVolume> volume;
  if (!options.volume.empty()) {
    volume = inject::SharedVolume{options.volume, {}};
  }
  JPROF_TRY_ASSIGN(const container::ProcRoot proc, container::ProcRoot::open());
  std::vector<doctor::Examination> jvms;
  if (options.pid != 0) {
    jvms.push_back(doctor::examine(proc, options.pid, volume));
    return jvms;
  }
  JPROF_TRY_ASSIGN(std::vector<jvm::Candidate> found, jvm::find_jvms(proc));
  if (found.empty()) {
    JPROF_TRY(jvm::find_one_jvm(proc, std::nullopt)); // for its error
  }
  for (jvm::Candidate& candidate : found) {
    jvms.push_back(doctor::examine(std::move(candidate), volume));
  }
  return jvms;
}

void print_checklists(const std::vector<doctor::Examination>& jvms) {
  const bool color = ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  for (const doctor::Examination& jvm : jvms) {
    if (jvms.size() > 1) {
      std::printf("%spid %d\n", &jvm == jvms.data() ? "" : "\n", jvm.pid);
    }
    const std::string text =
        checks::to_text(jvm.checks, color ? checks::Color::kYes : checks::Color::kNo);
    std::printf("%s", text.c_str());
  }
}

base::Result<int> run(const Options& options, bool json) {
  JPROF_TRY_ASSIGN(const doctor::Form form, doctor::parse_form(json ? "json" : options.form));
  sandbox::fence_in(sandbox::Network::kNone); // a row of the list says if there is none
  JPROF_TRY_ASSIGN(const std::vector<doctor::Examination> jvms, examine(options));
  int code = 0;
  for (const doctor::Examination& jvm : jvms) {
    code = std::max(code, checks::exit_code(jvm.checks));
  }
  base::Json object = doctor::to_json(jvms);
  object["ok"] = code == 0;
  if (form == doctor::Form::kJson) {
    std::printf("%s\n", base::dump_json(object, 2).c_str());
  } else if (form == doctor::Form::kYaml) {
    std::printf("%s", base::to_yaml(object).c_str());
  } else {
    if (form == doctor::Form::kWide) {
      std::printf("%s\n", doctor::to_table(jvms, form).c_str());
    }
    print_checklists(jvms);
  }
  return code;
}

} // namespace

void add_doctor(cli::Program& program) {
  const auto options = std::make_shared<Options>();
  cli::Command command =
      program.add({"doctor", "Check what stands in the way of profiling a JVM, and how to cure it",
                   "  jprof doctor        every JVM that is visible\n"
                   "  jprof doctor 7\n"},
                  [options, &program] { return run(*options, program.json()); });
  command.option("PID", options->pid, "The JVM, as jprof sees it").positive();
  command.option("-o,--output", options->form, "table, wide, json or yaml");
  command.option("--agent-volume", options->volume,
                 "A directory that the JVM's container shares with this one");
}

} // namespace jprof::sidecar

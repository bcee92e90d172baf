// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/verify.h"

#include "lib/base/encoding.h"
#include "lib/capture/bundle.h"
#include "sidecar/commands/shut_in.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

namespace jprof::sidecar {
namespace {

std::string cure_of(const base::Error& error) {
  if (error.code == base::ErrorCode::kNotFound && error.cure.empty()) {
    return "name the directory of a capture, in which manifest.json lies; where only that file is "
           "missing, jprof convert reads the recording all the same";
  }
  return error.code == base::ErrorCode::kInvalidData && error.cure.empty()
             ? "copy the capture again from where it is whole (the pod, the store); what can still "
               "be read of a recording, jprof convert reads"
             : error.cure;
}

base::Json verdict(const std::string& directory) {
  const auto manifest = capture::verify_bundle(directory);
  base::Json json = {{"directory", directory}, {"ok", manifest.has_value()}};
  if (manifest) {
    json["id"] = manifest->id;
    json["files"] = manifest->files.size() + 1;
  } else {
    json["reason"] = base::reason_word(manifest.error().code);
    json["message"] = manifest.error().message;
    json["cure"] = cure_of(manifest.error());
  }
  return json;
}

base::Result<int> run(const std::vector<std::string>& directories, bool as_json) {
  shut_in(directories, {});
  base::Json verdicts = base::Json::array();
  bool all = true;
  int exit_code = 0;
  for (const std::string& directory : directories) {
    base::Json json = verdict(directory);
    const bool ok = base::json_bool(json, "ok");
    all = all && ok;
    if (!ok) {
      exit_code = std::max(
          exit_code, base::exit_code(base::code_from_word(base::json_string(json, "reason"))));
    }
    if (!as_json) {
      const std::string text =
          ok ? "whole: " + std::to_string(base::json_int(json, "files")) + " files"
             : "damaged: " + base::json_string(json, "message");
      std::printf("%s: %s\n", base::printable(directory, 4096).c_str(),
                  base::printable(text, 4096).c_str());
      if (const std::string cure = base::json_string(json, "cure"); !cure.empty()) {
        std::printf("  %s\n", base::printable(cure, 4096).c_str());
      }
    }
    verdicts.push_back(std::move(json));
  }
  if (as_json) {
    std::printf("%s\n", base::dump_json({{"ok", all}, {"captures", verdicts}}, 2).c_str());
  }
  return exit_code;
}

} // namespace

void add_verify(cli::Program& program) {
  const auto directories = std::make_shared<std::vector<std::string>>();
  cli::Command command =
      program.add({"verify", "Compare captures with their manifests, byte by byte",
                   "  jprof verify /var/lib/jprof/spool/sealed/*\n"},
                  [directories, &program] { return run(*directories, program.json()); });
  command.option("DIRECTORY", *directories, "A capture: a directory with a manifest.json")
      .required();
}

} // namespace jprof::sidecar

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/open.h"

#include "lib/base/encoding.h"
#include "lib/base/file.h"
#include "lib/page/page_writer.h"

#include <cstdio>
#include <memory>
#include <string>

namespace jprof::sidecar {
namespace {

struct OpenCommand {
  bool viewer = false;
  std::string output = page::kViewerName;
};

base::Result<int> open(const OpenCommand& command) {
  if (!command.viewer) {
    return base::make_failure(base::ErrorCode::kUsage, "there is no browser here to open a page in",
                              "open the page in yours, or write an empty one: jprof open --viewer");
  }
  JPROF_TRY(base::write_file_atomically(command.output, page::write_viewer_page(), 0644));
  std::printf("%s\n", base::printable(command.output, 4096).c_str());
  return 0;
}

} // namespace

void add_open(cli::Program& program) {
  auto command = std::make_shared<OpenCommand>();
  cli::Command app = program.add(
      {.name = "open",
       .summary = "Write a page that shows captures which you drop onto it",
       .examples = "  jprof open --viewer\n  jprof open --viewer -o /tmp/viewer.html\n"},
      [command] { return open(*command); });
  app.flag("--viewer", command->viewer,
           "Write the page: one file that loads nothing and sends nothing");
  app.option("-o,--output", command->output, "Where to");
}

} // namespace jprof::sidecar

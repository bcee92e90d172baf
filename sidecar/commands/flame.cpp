// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/flame.h"

#include "lib/formats/format_reader.h"
#include "lib/render/svg_writer.h"

#include <charconv>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

namespace jprof::sidecar {
namespace {

struct FlameCommand {
  std::string input = "-";
  std::string min_width = "0.1";
  std::string encoding;
  std::string name_attributes;
  bool palette = false;
  render::SvgOptions options;
};

// "0.1" pixels or "0.5%" of the whole.
base::Status parse_min_width(std::string_view text, render::SvgOptions& options) {
  options.min_width_percent = text.ends_with('%');
  const std::string_view number = text.substr(0, text.size() - (options.min_width_percent ? 1 : 0));
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), options.min_width);
  if (error != std::errc{} || end != number.data() + number.size() || options.min_width < 0) {
    return base::make_failure(base::ErrorCode::kUsage,
                              "--minwidth wants pixels (0.1) or a share (0.5%)");
  }
  return {};
}

base::Result<int> flame(FlameCommand& command) {
  JPROF_TRY(parse_min_width(command.min_width, command.options));
  JPROF_TRY_ASSIGN(formats::Input input, formats::read_input(command.input));
  JPROF_TRY_ASSIGN(const std::string folded,
                   formats::folded_text(std::move(input), formats::KindSuffixes::kYes));
  JPROF_TRY_ASSIGN(const std::string svg, render::write_svg(folded, command.options));
  std::fwrite(svg.data(), 1, svg.size(), stdout);
  return 0;
}

void add_look(CLI::App& app, FlameCommand& command) {
  render::SvgOptions& options = command.options;
  app.add_option("--title", options.title, "Title");
  app.add_option("--subtitle", options.subtitle, "Second line of the title");
  app.add_option("--notes", options.notes, "A description kept in the file");
  app.add_option("--width", options.width, "Width of the picture in pixels");
  app.add_option("--height", options.frame_height, "Height of a frame in pixels");
  app.add_option("--minwidth", command.min_width, "Leave out narrower frames: pixels, or with %");
  app.add_option("--fonttype", options.font_type, "Font");
  app.add_option("--fontsize", options.font_size, "Size of the font");
  app.add_option("--fontwidth", options.font_width, "Mean width of a letter, in font sizes");
  app.add_option("--colors", options.colors,
                 "hot mem io wakeup chain java js perl red green blue aqua yellow purple orange");
  app.add_option("--bgcolors", options.background, "yellow blue green grey or #rrggbb");
  app.add_flag("--hash", options.hash, "Names that begin alike get colours alike");
  app.add_flag("--random", options.random, "Colours by place instead of by name");
  app.add_flag("--cp", command.palette,
               "Accepted: a name has the same colour in every picture anyway");
  app.add_option("--encoding", command.encoding, "Accepted: pictures are always UTF-8");
}

} // namespace

void add_flame(cli::Program& program) {
  auto command = std::make_shared<FlameCommand>();
  CLI::App& app =
      program.add({.name = "flame",
                   .summary = "Draw folded stacks as SVG, as flamegraph.pl does",
                   .examples = "  jprof flame stacks.collapsed > flame.svg\n"
                               "  perf script | jprof flame --colors java > flame.svg\n"},
                  [command] { return flame(*command); });
  render::SvgOptions& options = command->options;
  app.add_option("FILE", command->input,
                 "Folded text, or any capture that convert reads; standard input by default");
  add_look(app, *command);
  app.add_option("--countname", options.count_name, "What is counted");
  app.add_option("--nametype", options.name_type, "What the names are");
  app.add_option("--total", options.total, "The whole, if it is more than the sum");
  app.add_option("--factor", options.factor, "Multiplies the counts that are shown");
  app.add_flag("--reverse", options.reverse, "Merge stacks from their leaves");
  app.add_flag("--inverted", options.inverted, "Root above");
  app.add_flag("--flamechart", options.flamechart, "Keep the order of the stacks");
  app.add_flag("--negate", options.negate, "Swap the colours of more and less");
}

} // namespace jprof::sidecar

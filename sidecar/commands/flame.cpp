// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/flame.h"

#include "lib/base/file.h"
#include "lib/cli/foreign_text.h"
#include "lib/formats/event_choice.h"
#include "lib/formats/format_reader.h"
#include "lib/formats/format_writer.h"
#include "lib/render/svg_writer.h"
#include "sidecar/commands/shut_in.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace jprof::sidecar {
namespace {

constexpr char kPaletteFile[] = "palette.map"; // in the working directory, as with flamegraph.pl
constexpr std::size_t kMaxTableBytes = std::size_t{64} << 20;

struct FlameCommand {
  std::string input = "-";
  std::string min_width = "0.1";
  std::string encoding;
  std::string event;
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
                              "--minwidth must be in pixels (0.1) or a share (0.5%)",
                              "0.1 is the default; 0 leaves nothing out");
  }
  return {};
}

base::Status bad_line(const std::string& file, std::size_t line, const std::string& what) {
  return base::make_failure(base::ErrorCode::kInvalidData,
                            file + ":" + std::to_string(line) + ": " + what);
}

// Calls visit(line, number) for each line that is not empty.
template <typename Visit>
base::Status each_line(const std::string& file, Visit visit) {
  JPROF_TRY_ASSIGN(const std::string text, base::read_file(file, kMaxTableBytes));
  std::size_t number = 1;
  for (std::size_t from = 0; from < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    if (end > from) {
      JPROF_TRY(visit(std::string_view(text).substr(from, end - from), number));
    }
    from = end + 1;
  }
  return {};
}

// "name<TAB>key=value<TAB>...", one frame per line. Raw attributes (g_extra, a_extra) are refused:
// they could hold a script.
base::Status read_attributes(const std::string& file, render::SvgOptions& options) {
  return each_line(file, [&](std::string_view line, std::size_t number) -> base::Status {
    std::size_t tab = std::min(line.find('\t'), line.size());
    render::FrameAttributes& attributes = options.attributes[std::string(line.substr(0, tab))];
    while (tab < line.size()) {
      line.remove_prefix(tab + 1);
      tab = std::min(line.find('\t'), line.size());
      const std::string_view pair = line.substr(0, tab);
      const std::size_t equals = std::min(pair.find('='), pair.size());
      const std::string_view key = pair.substr(0, equals);
      std::string* const value = key == "title"    ? &attributes.title
                                 : key == "href"   ? &attributes.href
                                 : key == "target" ? &attributes.target
                                 : key == "id"     ? &attributes.id
                                 : key == "class"  ? &attributes.css_class
                                                   : nullptr;
      if (value == nullptr || equals == pair.size()) {
        return bad_line(file, number,
                        "the known attributes are title=, href=, target=, id= and class=");
      }
      *value = std::string(pair.substr(equals + 1));
    }
    return {};
  });
}

bool is_colour(std::string_view text) {
  int red = 0;
  int green = 0;
  int blue = 0;
  int end = 0;
  const std::string copy(text);
  return std::sscanf(copy.c_str(), "rgb(%3d,%3d,%3d)%n", &red, &green, &blue, &end) == 3 &&
         end == std::ssize(copy) && copy.find_first_of(" \t+-") == std::string::npos;
}

// "name->rgb(1,2,3)", one name per line.
base::Status read_palette(render::ColourMap& palette) {
  if (::access(kPaletteFile, F_OK) != 0) {
    return {};
  }
  return each_line(kPaletteFile, [&](std::string_view line, std::size_t number) -> base::Status {
    const std::size_t arrow = line.rfind("->");
    if (arrow == std::string_view::npos || !is_colour(line.substr(arrow + 2))) {
      return bad_line(kPaletteFile, number, "a line is NAME->rgb(R,G,B)");
    }
    palette.insert_or_assign(std::string(line.substr(0, arrow)),
                             std::string(line.substr(arrow + 2)));
    return {};
  });
}

base::Status write_palette(const render::ColourMap& palette) {
  std::string text;
  for (const auto& [name, colour] : palette) {
    text += name + "->" + colour + "\n";
  }
  return base::write_file_atomically(kPaletteFile, text, 0644);
}

base::Result<int> flame(FlameCommand& command) {
  JPROF_TRY(parse_min_width(command.min_width, command.options));
  const std::string& attributes = command.name_attributes;
  shut_in({command.input, attributes.empty() ? command.input : attributes},
          {command.palette ? kPaletteFile : "-"});
  if (!command.name_attributes.empty()) {
    JPROF_TRY(read_attributes(command.name_attributes, command.options));
  }
  render::ColourMap palette;
  if (command.palette) {
    JPROF_TRY(read_palette(palette));
  }
  JPROF_TRY_ASSIGN(formats::Input input, formats::read_input(command.input));
  const std::string name = input.name;
  JPROF_TRY_ASSIGN(
      const formats::Folded folded,
      formats::folded_text(std::move(input), formats::KindSuffixes::kYes, command.event));
  const formats::CountWords words = formats::count_words(folded.unit);
  if (command.options.count_name.empty()) {
    command.options.count_name = words.name;
    command.options.factor *= words.factor;
  }
  JPROF_TRY_ASSIGN(const std::string svg, render::write_svg(folded.text, command.options,
                                                            command.palette ? &palette : nullptr));
  JPROF_TRY(base::write_all(STDOUT_FILENO, svg, "standard output"));
  for (const std::string& one : folded.left_out) {
    cli::print_warning("jprof", name + ": " + one);
  }
  if (command.palette) {
    JPROF_TRY(write_palette(palette));
  }
  return folded.damage.empty() ? 0 : base::exit_code(base::ErrorCode::kPartialCapture);
}

void add_look(cli::Command app, FlameCommand& command) {
  render::SvgOptions& options = command.options;
  app.option("--event", command.event, formats::kEventHelp);
  app.option("--title", options.title, "Title");
  app.option("--subtitle", options.subtitle, "Second line of the title");
  app.option("--notes", options.notes, "A description kept in the file");
  app.option("--width", options.width, "Width of the picture in pixels");
  app.option("--height", options.frame_height, "Height of a frame in pixels");
  app.option("--minwidth", command.min_width,
             "Leave out frames narrower than this: pixels, or a share with %");
  app.option("--fonttype", options.font_type, "Font");
  app.option("--fontsize", options.font_size, "Size of the font");
  app.option("--fontwidth", options.font_width, "Mean width of a letter, in font sizes");
  app.option("--colors", options.colors,
             "hot mem io wakeup chain java js perl red green blue aqua yellow purple orange");
  app.option("--bgcolors", options.background, "yellow blue green grey or #rrggbb");
  app.flag("--hash", options.hash, "Names that begin alike get similar colours");
  app.flag("--random", options.random, "Choose colours by position instead of by name");
  app.flag("--cp", command.palette,
           "Keep the colours of names in ./palette.map, for later pictures");
  app.option("--nameattr", command.name_attributes,
             "File with attributes of frames: NAME<TAB>title=...<TAB>href=..., a frame a line");
  app.option("--encoding", command.encoding, "Accepted: pictures are always UTF-8");
}

} // namespace

void add_flame(cli::Program& program) {
  auto command = std::make_shared<FlameCommand>();
  cli::Command app =
      program.add({.name = "flame",
                   .summary = "Draw folded stacks as SVG, as flamegraph.pl does",
                   .examples = "  jprof flame stacks.collapsed > flame.svg\n"
                               "  perf script | jprof flame --colors java > flame.svg\n"},
                  [command] { return flame(*command); });
  render::SvgOptions& options = command->options;
  options.count_name.clear(); // depends on the input unless given
  app.option("FILE", command->input,
             "Folded text, or any capture that convert reads; standard input by default");
  add_look(app, *command);
  app.option("--countname", options.count_name,
             "What is counted (default: samples, bytes or ms, depending on the input)");
  app.option("--nametype", options.name_type, "What the names are");
  app.option("--total", options.total, "The total, if it is more than the sum");
  app.option("--factor", options.factor, "Multiplies the counts that are shown");
  app.flag("--reverse", options.reverse, "Merge stacks from their leaves");
  app.flag("--inverted", options.inverted, "Put the root at the top");
  app.flag("--flamechart", options.flamechart, "Keep the order of the stacks");
  app.flag("--negate", options.negate, "Swap the colours of more and less");
}

} // namespace jprof::sidecar

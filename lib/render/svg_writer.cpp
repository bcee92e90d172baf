// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/render/svg_writer.h"

#include "lib/base/encoding.h"
#include "lib/base/markup.h"
#include "lib/base/utf8.h"
#include "lib/render/flame_layout.h"
#include "lib/render/svg_colours.h"
#include "lib/render/svg_script.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace jprof::render {
namespace {

constexpr double kSidePad = 10;
constexpr double kFramePad = 1;
constexpr std::size_t kMaxNameLength = 4096;

std::string fixed(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string shortest(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

// Untrusted text as XML: escaped, without what XML 1.0 forbids (control characters, U+FFFE/F) and
// with direction marks made visible.
std::string xml(std::string_view text) {
  return base::escape_markup(base::printable(base::sanitize_utf8(text), kMaxNameLength));
}

std::string with_commas(double value) {
  std::string digits = fixed(value, 0);
  for (std::ptrdiff_t at = std::ssize(digits) - 3; at > (digits[0] == '-' ? 1 : 0); at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

std::string_view without_annotation(std::string_view name) {
  for (const std::string_view suffix : {"_[k]", "_[w]", "_[i]", "_[j]", "_[0]", "_[1]"}) {
    if (name.ends_with(suffix)) {
      return name.substr(0, name.size() - suffix.size());
    }
  }
  return name;
}

// Cuts at whole characters: half a character is not valid XML.
std::string fitted(std::string_view name, std::size_t letters) {
  std::size_t count = 0;
  std::size_t cut = 0;
  for (std::size_t at = 0; at < name.size(); ++count) {
    if (count + 2 == letters) {
      cut = at;
    }
    at += base::decode_utf8(name.substr(at)).length;
  }
  return count <= letters ? std::string(name) : std::string(name.substr(0, cut)) + "..";
}

// As written to the file, so that positions and widths agree to the last digit.
double tenths(double value) {
  return std::strtod(fixed(value, 1).c_str(), nullptr);
}

class Picture {
 public:
  Picture(FlameLayout layout, const SvgOptions& options, ColourMap* palette)
      : layout_(std::move(layout)), options_(options), palette_(palette),
        total_(options.total >= layout_.total ? options.total : layout_.total),
        per_count_((options.width - 2 * kSidePad) / total_) {
    prune();
    top_ = options.font_size * (options.subtitle.empty() ? 3 : 4) + 4;
    bottom_ = options.font_size * 2 + 10;
    height_ = (depth_ + 1.0) * options.frame_height + top_ + bottom_;
  }

  std::string draw() {
    head();
    unsigned place = 0;
    for (const FlameBox& box : layout_.boxes) {
      draw_box(box, place++);
    }
    out_ += "</g>\n</svg>\n";
    return std::move(out_);
  }

 private:
  void prune() {
    const double smallest = options_.min_width_percent ? total_ * options_.min_width / 100
                                                       : options_.min_width / per_count_;
    std::erase_if(layout_.boxes,
                  [&](const FlameBox& box) { return box.end - box.begin < smallest; });
    for (const FlameBox& box : layout_.boxes) {
      depth_ = std::max(depth_, box.depth);
    }
  }

  void head() {
    const std::string title = !options_.title.empty() ? options_.title
                              : options_.flamechart   ? "Flame Chart"
                              : options_.inverted     ? "Icicle Graph"
                                                      : "Flame Graph";
    const auto [above, below] = background_gradient(options_.background, options_.colors);
    const std::string width = std::to_string(options_.width);
    const std::string height = fixed(height_, 0);
    out_ += "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n";
    out_ += "<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"" + width +
            "\" height=\"" + height + "\" viewBox=\"0 0 " + width + " " + height +
            "\" font-family=\"" + xml(options_.font_type) + ",sans-serif\" font-size=\"" +
            shortest(options_.font_size) + "\" data-pad=\"" + shortest(kSidePad) +
            "\" data-letter=\"" + shortest(options_.font_size * options_.font_width) +
            "\" data-inverted=\"" + (options_.inverted ? "1" : "") + "\" data-type=\"" +
            xml(options_.name_type) + "\">\n";
    if (!options_.notes.empty()) {
      out_ += "<desc>" + xml(options_.notes) + "</desc>\n";
    }
    out_ += "<defs><linearGradient id=\"back\" y1=\"0\" y2=\"1\" x1=\"0\" x2=\"0\">"
            "<stop stop-color=\"" +
            above + "\" offset=\"5%\"/><stop stop-color=\"" + below +
            "\" offset=\"95%\"/></linearGradient></defs>\n";
    out_ += "<style>.box:hover rect{stroke:#000;stroke-width:.5}.box,.tool{cursor:pointer}"
            ".away{opacity:.5}text{pointer-events:none}.tool{pointer-events:all}</style>\n";
    out_ += svg_script();
    out_ += "<rect width=\"100%\" height=\"100%\" fill=\"url(#back)\"/>\n";
    const double middle = options_.width / 2.0;
    text(middle, options_.font_size * 2, xml(title),
         "text-anchor=\"middle\" font-size=\"" + shortest(options_.font_size + 5) + "\"");
    if (!options_.subtitle.empty()) {
      text(middle, options_.font_size * 3.6, xml(options_.subtitle),
           "text-anchor=\"middle\" fill=\"#707070\"");
    }
    text(kSidePad, height_ - bottom_ / 2, "", "id=\"details\"");
    text(kSidePad, options_.font_size * 2, "Reset zoom",
         "id=\"reset\" class=\"tool\" opacity=\"0\"");
    text(options_.width - kSidePad, options_.font_size * 2, "Search",
         "id=\"search\" class=\"tool\" text-anchor=\"end\"");
    text(options_.width - kSidePad, height_ - bottom_ / 2, "",
         "id=\"matched\" text-anchor=\"end\"");
    out_ += "<g id=\"boxes\">\n";
  }

  void text(double x, double y, std::string_view content, std::string_view attributes) {
    out_ += "<text x=\"" + fixed(x, 2) + "\" y=\"" + fixed(y, 2) + "\" ";
    out_ += attributes;
    out_ += ">";
    out_ += content;
    out_ += "</text>\n";
  }

  std::string fill_of(const FlameBox& box, unsigned place) const {
    if (box.has_delta && box.name != "--" && box.name != "-") {
      return delta_colour(options_.negate ? 0 - box.delta : box.delta, layout_.largest_delta);
    }
    const auto of_name = [&] {
      return palette_colour(options_.colors, box.name,
                            options_.hash     ? ColourSource::kNameStart
                            : options_.random ? ColourSource::kPlace
                                              : ColourSource::kName,
                            place);
    };
    if (palette_ == nullptr || box.name == "--" || box.name == "-") {
      return of_name();
    }
    const auto known = palette_->find(box.name);
    return known != palette_->end() ? known->second
                                    : palette_->emplace(box.name, of_name()).first->second;
  }

  std::string title_of(const FlameBox& box, double end) const {
    // To even, as printf rounds: the share below is that of the rounded count, as in flamegraph.pl.
    const double count = std::nearbyint((end - box.begin) * options_.factor);
    const std::string amount = with_commas(count) + " " + xml(options_.count_name);
    if (box.depth == 0) {
      return "all (" + amount + ", 100%)";
    }
    const double whole = total_ * options_.factor;
    std::string title = xml(without_annotation(box.name)) + " (" + amount + ", " +
                        fixed(100 * count / whole, 2) + "%";
    if (box.has_delta) {
      const double delta = options_.negate ? 0 - box.delta : box.delta;
      title += std::string("; ") + (delta > 0 ? "+" : "") + fixed(100 * delta / whole, 2) + "%";
    }
    return title + ")";
  }

  void open_box(const FrameAttributes* extra) {
    if (extra == nullptr) {
      out_ += "<g class=\"box\">";
      return;
    }
    if (!extra->href.empty()) {
      out_ += "<a href=\"" + xml(extra->href) + "\" target=\"" + xml(extra->target) + "\">";
    }
    out_ += "<g class=\"box" + (extra->css_class.empty() ? "" : " " + xml(extra->css_class)) + "\"";
    out_ += extra->id.empty() ? ">" : " id=\"" + xml(extra->id) + "\">";
  }

  void draw_box(const FlameBox& box, unsigned place) {
    const double end = box.depth == 0 ? total_ : box.end;
    const double x1 = kSidePad + box.begin * per_count_;
    const double x2 = kSidePad + end * per_count_;
    const double row = double{1} * box.depth * options_.frame_height;
    const double y = options_.inverted
                         ? top_ + row
                         : height_ - bottom_ - row - options_.frame_height + kFramePad;
    const auto attributes = options_.attributes.find(box.name);
    const FrameAttributes* extra =
        attributes == options_.attributes.end() ? nullptr : &attributes->second;
    open_box(extra);
    out_ += "<title>" +
            (extra != nullptr && !extra->title.empty() ? xml(extra->title) : title_of(box, end)) +
            "</title><rect x=\"" + fixed(x1, 1) + "\" y=\"" + fixed(y, 1) + "\" width=\"" +
            fixed(tenths(x2) - tenths(x1), 1) + "\" height=\"" +
            fixed(options_.frame_height - kFramePad, 1) + "\" fill=\"" + fill_of(box, place) +
            "\" rx=\"2\"/>";
    const auto letters = static_cast<std::size_t>(std::max(0.0, x2 - x1) /
                                                  (options_.font_size * options_.font_width));
    out_ += "<text x=\"" + fixed(x1 + 3, 2) + "\" y=\"" +
            fixed(y + options_.frame_height / 2.0 + options_.font_size / 3, 2) + "\">";
    if (letters >= 3 && box.depth > 0) {
      out_ += xml(fitted(without_annotation(box.name), letters));
    }
    out_ += extra != nullptr && !extra->href.empty() ? "</text></g></a>\n" : "</text></g>\n";
  }

  FlameLayout layout_;
  const SvgOptions& options_;
  ColourMap* palette_;
  double total_;
  double per_count_;
  std::uint32_t depth_ = 0;
  double top_ = 0;
  double bottom_ = 0;
  double height_ = 0;
  std::string out_;
};

bool is_harmless_link(std::string_view href) {
  const std::size_t colon = href.find(':');
  const std::size_t path = href.find_first_of("/?#");
  return colon == std::string_view::npos || path < colon || href.starts_with("https:") ||
         href.starts_with("http:");
}

base::Status check(const SvgOptions& options) {
  const auto refuse = [](const std::string& what) {
    return base::make_failure(base::ErrorCode::kUsage, what);
  };
  // A picture narrower than its margins has boxes of negative width, which are invisible, as in
  // flamegraph.pl.
  if (options.width < 1 || options.width > 100'000 || options.width == 2 * kSidePad) {
    return refuse("width must be 1 to 100000 pixels, but not the " + fixed(2 * kSidePad, 0) +
                  " of the margins");
  }
  if (options.frame_height < 4 || options.frame_height > 200) {
    return refuse("frame height must be 4 to 200 pixels");
  }
  if (!(options.font_size >= 1 && options.font_size <= 100 && options.font_width > 0 &&
        options.font_width <= 5 && options.min_width >= 0)) {
    return refuse("font size, font width and minimum width must be above 0 and reasonable");
  }
  if (options.factor == 0 || !std::isfinite(options.factor)) {
    return refuse("factor must be a number other than 0");
  }
  for (const auto& [name, attributes] : options.attributes) {
    if (!is_harmless_link(attributes.href)) {
      return refuse("the link of '" + base::printable(name) + "' is neither http nor https");
    }
  }
  if (!is_palette(options.colors)) {
    return base::make_failure(base::ErrorCode::kUsage, "unknown colours: " + options.colors,
                              "Use hot, mem, io, wakeup, chain, java, js, perl, red, green, blue, "
                              "aqua, yellow, purple or orange.");
  }
  if (background_gradient(options.background, options.colors).top.empty()) {
    return base::make_failure(base::ErrorCode::kUsage, "unknown background: " + options.background,
                              "Use yellow, blue, green, grey or #rrggbb.");
  }
  return {};
}

} // namespace

base::Result<std::string> write_svg(std::string_view folded, const SvgOptions& options,
                                    ColourMap* palette) {
  JPROF_TRY(check(options));
  FlameLayout layout =
      lay_out_folded(folded, options.flamechart ? FrameOrder::kInTime : FrameOrder::kMerged,
                     options.reverse ? StackOrder::kReversed : StackOrder::kAsGiven,
                     options.colors == "chain" ? StackForm::kChain : StackForm::kPlain);
  if (!(layout.total > 0)) {
    return base::make_failure(base::ErrorCode::kInvalidData, "no stack with a count",
                              "Folded text has one stack and one count on each line.");
  }
  return Picture(std::move(layout), options, palette).draw();
}

std::string write_empty_svg(std::string_view title) {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
         "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"600\" height=\"80\" "
         "font-family=\"Verdana\" font-size=\"14\">\n"
         "<rect width=\"100%\" height=\"100%\" fill=\"#eee\"/>\n"
         "<text x=\"20\" y=\"32\">" +
         xml(fitted(title, 70)) + "</text>\n<text x=\"20\" y=\"58\">No samples.</text>\n</svg>\n";
}

} // namespace jprof::render

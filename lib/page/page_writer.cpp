// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/page/page_writer.h"

#include "lib/base/encoding.h"
#include "lib/base/markup.h"
#include "lib/page/assets.h"
#include "lib/page/page_data.h"
#include "lib/render/method_table.h"

#include <cinttypes>
#include <cstdio>
#include <span>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace jprof::page {
namespace {

constexpr std::size_t kTopMethods = 20;
constexpr std::size_t kShownBytes = 500;
// Below 2^32 with room: columns have 32-bit lengths. A node takes 4 bytes or less in each column.
constexpr std::size_t kMaxFrames = 1'000'000'000;

struct Side {
  const profile::Profile& profile;
  profile::EventId event;
  render::CallTree tree;
  std::string title;
};

// Whoever read the capture has left small blocks behind, and the tree needs large ones.
void give_back_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

// The only way from foreign text into the HTML. printable() has taken control characters and
// direction marks; what is left of markup is escaped.
std::string html(std::string_view text) {
  return base::escape_markup(base::printable(text, kShownBytes));
}

std::string share(std::uint64_t part, std::uint64_t whole) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%",
                whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

// What shows without script, and beneath a message when the script cannot read the data.
std::string plain_part(const Side& side) {
  std::string out = "<dl>";
  for (const auto& [label, value] : describe_capture(side.profile, side.event)) {
    out += "<dt>" + html(label) + "</dt><dd><bdi>" + html(value) + "</bdi></dd>";
  }
  out += "</dl>\n";
  const auto rows = render::top_methods(side.profile, side.tree, kTopMethods);
  if (rows.empty()) {
    return out + "<p>No samples.</p>\n";
  }
  out += "<table><thead><tr><th class=\"n\">Self</th><th class=\"n\">Total</th><th>Method</th>"
         "</tr></thead><tbody>\n";
  const std::uint64_t whole = side.tree.total_weight[0];
  for (const render::MethodRow& row : rows) {
    out += "<tr><td class=\"n\">" + share(row.self_weight, whole) + "</td><td class=\"n\">" +
           share(row.total_weight, whole) + "</td><td><bdi>" +
           html(side.profile.string(row.label)) + "</bdi></td></tr>\n";
  }
  return out + "</tbody></table>\n";
}

std::string head(const std::string& title) {
  std::string out = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src '";
  out += script_hash();
  out += "'; style-src '";
  out += style_hash();
  // The workers are the one that matches expressions (src/data/matcher.js) and the one that reads
  // files that users give (src/data/intake.js).
  out += "'; worker-src blob:; base-uri 'none'; form-action 'none'; "
         "require-trusted-types-for 'script'; trusted-types jprof-matcher jprof-reader\">\n";
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n"
         "<meta name=\"referrer\" content=\"no-referrer\">\n"
         "<meta name=\"generator\" content=\"jprof " JPROF_VERSION "\">\n";
  out += "<title>" + html(title) + "</title>\n<style>";
  out += page_style();
  out += "</style>\n</head>\n<body>\n";
  return out;
}

base::Result<Side> make_side(const profile::Profile& profile, profile::EventId event) {
  std::size_t frames = 0;
  for (std::size_t s = 0; s < profile.stack_count(); ++s) {
    frames += profile.stack(profile::StackId{static_cast<std::uint32_t>(s)}).size();
  }
  if (frames > kMaxFrames || profile.event(event).samples.size() > kMaxFrames) {
    return base::make_failure(base::ErrorCode::kLimit, "this capture is too large for one page",
                              "Write it as .jprof or .collapsed, or record a shorter time.");
  }
  give_back_memory();
  return Side{profile, event, render::build_call_tree(profile, event), profile.info().title};
}

std::string script_and_end() {
  std::string out = "<script>";
  out += page_script();
  out += "</script>\n</body>\n</html>\n";
  return out;
}

std::string assemble(std::span<Side> sides, const std::string& title) {
  std::string out = head(title);
  out += "<div id=\"jprof\"><div class=\"light\">\n<h1><bdi>" + html(title) + "</bdi></h1>\n";
  for (Side& side : sides) {
    if (sides.size() > 1) {
      out += "<h2><bdi>" + html(side.title) + "</bdi></h2>\n";
    }
    out += plain_part(side);
    // The page adds up itself; of three million nodes these are 24 MB.
    std::vector<std::uint64_t>().swap(side.tree.total_weight);
  }
  out += "<noscript><p>The graph needs a browser with scripts on.</p></noscript>\n</div></div>\n";
  for (std::size_t i = 0; i < sides.size(); ++i) {
    out += "<script type=\"text/plain\" id=\"jprof-data";
    out += i == 0 ? "" : "-" + std::to_string(i + 1);
    out += "\">";
    const std::string own = sides.size() == 1 ? title : sides[i].title;
    out +=
        base::base64_encode(encode_page_data(sides[i].profile, sides[i].event, sides[i].tree, own));
    out += "</script>\n";
  }
  return out + script_and_end();
}

} // namespace

base::Result<std::string> write_page(const profile::Profile& profile, const PageOptions& options) {
  JPROF_TRY_ASSIGN(Side side, make_side(profile, options.event));
  std::string title = options.title.empty() ? profile.info().title : options.title;
  return assemble(std::span(&side, 1), title.empty() ? "capture" : title);
}

base::Result<std::string> write_diff_page(const profile::Profile& base,
                                          const profile::Profile& changed,
                                          const PageOptions& options) {
  JPROF_TRY_ASSIGN(Side first, make_side(base, options.base_event));
  JPROF_TRY_ASSIGN(Side second, make_side(changed, options.event));
  std::string title = options.title;
  if (title.empty()) {
    title = second.title + " compared with " + first.title;
  }
  Side sides[] = {std::move(first), std::move(second)};
  return assemble(sides, title);
}

std::string write_viewer_page() {
  return head("jprof") +
         "<div id=\"jprof\" data-viewer><div class=\"light\"><h1>jprof</h1>\n"
         "<noscript><p>The viewer needs a browser with scripts on.</p></noscript>\n</div></div>\n" +
         script_and_end();
}

} // namespace jprof::page

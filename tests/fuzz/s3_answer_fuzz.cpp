// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/check.h"
#include "lib/store/s3_error.h"
#include "lib/store/xml.h"

#include <cstddef>
#include <cstdint>

namespace {

void check_limits(const jprof::store::XmlElement& element, std::size_t depth, std::size_t& count) {
  JPROF_CHECK(depth <= 16 && ++count <= 1000);
  for (const auto& child : element.children) {
    check_limits(child, depth + 1, count);
  }
}

} // namespace

// The first line is the value of some headers, the rest the body of an answer of a hostile store:
// the tree keeps its limits, and the message made of it holds no control character.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jprof;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string header(text.substr(0, text.find('\n')));
  const std::string body(text.substr(std::min(header.size() + 1, text.size())));

  if (const auto root = store::parse_xml(body, {.elements = 1000})) {
    std::size_t count = 0;
    check_limits(*root, 1, count);
  }
  const http::HttpResponse response{
      400, {{"Retry-After", header}, {"x-amz-bucket-region", header}}, body};
  const auto error = store::to_error(store::read_s3_error(response), "fuzz");
  for (const char c : error.message) {
    JPROF_CHECK(static_cast<unsigned char>(c) >= ' ' && c != '\x7f');
  }
  const auto wait = store::retry_after(response, std::chrono::sys_seconds());
  JPROF_CHECK(!wait || wait->count() >= 0);
  return 0;
}

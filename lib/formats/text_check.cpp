// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/formats/text_check.h"

#include <cstring>

namespace jprof::formats {
namespace {

// Of random bytes every tenth is such a control character. Fewer than these are a strange name.
constexpr std::uint64_t kMinControls = 8;
constexpr std::uint64_t kBytesAControl = 100;

// One bit for each of the first 32 characters: all but \b \t \n \v \f \r and escape.
constexpr std::uint32_t kControls = ~((0x3fU << 8) | (1U << 27));

bool is_control(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code < 0x20 && ((kControls >> code) & 1U) != 0;
}

} // namespace

void TextCheck::add(std::string_view piece) {
  bytes_ += piece.size();
  has_nul_ = has_nul_ || std::memchr(piece.data(), 0, piece.size()) != nullptr;
  std::uint64_t controls = 0;
  for (const char c : piece) {
    controls += is_control(c) ? 1U : 0U;
  }
  controls_ += controls;
}

base::Status TextCheck::verdict() const {
  if (has_nul_ || (controls_ >= kMinControls && controls_ > bytes_ / kBytesAControl)) {
    return base::make_failure(
        base::ErrorCode::kInvalidData,
        has_nul_ ? "this is not text: it holds bytes of zero" : "this is not text",
        "what can be read: .jprof, folded stacks, perf script, thread dumps, speedscope's JSON, "
        "in UTF-8, also compressed with gzip or zstd");
  }
  return {};
}

base::Status check_text(std::string_view bytes) {
  TextCheck check;
  check.add(bytes);
  return check.verdict();
}

} // namespace jprof::formats

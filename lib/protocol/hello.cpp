// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/protocol/hello.h"

#include "lib/base/json.h"
#include "lib/protocol/frame.h"

#include <algorithm>
#include <utility>

namespace jprof::protocol {
namespace {

constexpr std::size_t kMaxFeatures = 64;

std::string range_text(const Hello& hello) {
  return std::to_string(hello.min) + " to " + std::to_string(hello.protocol);
}

} // namespace

Hello our_hello(std::vector<std::string> features) {
  return {kProtocol, kMinProtocol, JPROF_VERSION, std::move(features)};
}

std::string encode_hello(const Hello& hello) {
  return base::dump_json({{"protocol", hello.protocol},
                          {"min", hello.min},
                          {"version", hello.version},
                          {"features", hello.features}});
}

base::Result<Hello> parse_hello(std::string_view payload) {
  JPROF_TRY_ASSIGN(const base::Json json, base::parse_json(payload));
  constexpr std::int64_t kMax = 1'000'000;
  const std::int64_t protocol = base::json_int(json, "protocol");
  const std::int64_t min = base::json_int(json, "min", protocol);
  if (protocol < 1 || protocol > kMax || min < 1 || min > protocol) {
    return base::make_failure(base::ErrorCode::kProtocol, "a hello without a valid protocol range");
  }
  Hello hello;
  hello.protocol = static_cast<int>(protocol);
  hello.min = static_cast<int>(min);
  hello.version = base::json_string(json, "version");
  for (const base::Json& feature : base::json_array(json, "features")) {
    if (feature.is_string() && hello.features.size() < kMaxFeatures) {
      hello.features.push_back(feature.get<std::string>());
    }
  }
  return hello;
}

base::Result<int> choose_protocol(const Hello& ours, const Hello& theirs) {
  const int common = std::min(ours.protocol, theirs.protocol);
  if (common >= std::max(ours.min, theirs.min)) {
    return common;
  }
  const bool we_are_older = ours.protocol < theirs.min;
  return base::make_failure(base::ErrorCode::kProtocol,
                            "jprof " + ours.version + " speaks protocol " + range_text(ours) +
                                ", the other side (" + theirs.version + ") " + range_text(theirs),
                            we_are_older ? "upgrade this jprof"
                                         : "upgrade jprof on the other side");
}

} // namespace jprof::protocol

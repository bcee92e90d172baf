// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/check.h"
#include "lib/http/url.h"
#include "lib/store/object_key.h"
#include "lib/store/s3_location.h"
#include "lib/store/store_url.h"

#include <cstddef>
#include <cstdint>

// What the parsers accept says the same after a round trip, and no store URL or key leads outside.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace jprof;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto url = http::parse_url(text)) {
    const auto again = http::parse_url(url->to_string());
    JPROF_CHECK(again && again->host == url->host && again->path == url->path &&
                again->query == url->query && again->effective_port() == url->effective_port());
  }
  if (const auto key = store::ObjectKey::parse(text)) {
    JPROF_CHECK(key->text() == text && ("/" + key->text() + "/").find("/../") == std::string::npos);
  }
  const auto where = store::parse_store_url(text);
  if (where && where->kind == store::StoreUrl::Kind::kFile) {
    JPROF_CHECK((where->directory + "/").find("/../") == std::string::npos);
  } else if (where) {
    if (const auto location = store::make_s3_location(*where)) {
      JPROF_CHECK(http::parse_url(location->object_url("v1/a=b").to_string()).has_value());
    }
  }
  return 0;
}

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/http/url.h"

#include <optional>
#include <string>
#include <string_view>

namespace jprof::store {

using base::Result;
using base::Status;

enum class Addressing { kAutomatic, kPath, kVirtualHost };

// Where captures go:
//   file:///directory
//   s3://bucket[/prefix][?region=R][&endpoint=https://host:port][&addressing=path|virtual]
// gs:// and az:// are recognised and refused with what to use meanwhile.
struct StoreUrl {
  enum class Kind { kFile, kS3 };
  Kind kind = Kind::kFile;
  std::string directory; // kFile: absolute, without a final '/'
  std::string bucket;    // kS3, as all below
  std::string prefix;    // without '/' at either end
  std::string region;    // empty: not said
  std::optional<http::Url> endpoint;
  Addressing addressing = Addressing::kAutomatic;

  // Without the parameters.
  std::string to_string() const;
};

// kUsage with a cure for everything else. A URL holds no credentials, ever.
Result<StoreUrl> parse_store_url(std::string_view text);

} // namespace jprof::store

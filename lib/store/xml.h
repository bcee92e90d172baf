// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace jprof::store {

using base::Result;
using base::Status;

// An element of an object store's answer. Namespaces and attributes are dropped: these answers put
// everything into elements.
struct XmlElement {
  std::string name;
  std::string text; // all character data directly inside
  std::vector<XmlElement> children;

  // The first child with this name; nullptr if there is none.
  const XmlElement* child(std::string_view child_name) const;
  std::string_view child_text(std::string_view child_name) const;
};

struct XmlLimits {
  std::size_t bytes = std::size_t{4} * 1024 * 1024;
  std::size_t depth = 16;
  std::size_t elements = 50000;
};

// The root of a foreign document. kInvalidData: not well-formed, or it has a document type (which
// no answer has, and which entity bombs need); kLimit: larger than the limits.
Result<XmlElement> parse_xml(std::string_view text, const XmlLimits& limits = {});

} // namespace jprof::store

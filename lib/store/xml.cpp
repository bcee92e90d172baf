// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/store/xml.h"

#include "lib/base/unique_resource.h"

#include <expat.h>

namespace jprof::store {

using base::ErrorCode;

namespace {

struct ParserTraits {
  using Handle = XML_Parser;
  static Handle invalid() { return nullptr; }
  static void close(Handle handle) { XML_ParserFree(handle); }
};

struct Building {
  XML_Parser parser;
  XmlLimits limits;
  std::vector<XmlElement> open; // from the root down
  XmlElement root;
  std::size_t elements = 0;
  const char* refused = nullptr;

  void refuse(const char* why) {
    refused = why;
    XML_StopParser(parser, XML_FALSE);
  }
};

std::string_view local_name(const char* name) {
  const std::string_view text(name);
  const auto colon = text.rfind(':');
  return colon == std::string_view::npos ? text : text.substr(colon + 1);
}

void XMLCALL on_start(void* user, const char* name, const char** /*attributes*/) {
  auto& building = *static_cast<Building*>(user);
  if (building.open.size() >= building.limits.depth) {
    building.refuse("nested too deeply");
  } else if (++building.elements > building.limits.elements) {
    building.refuse("too many elements");
  } else {
    building.open.push_back({std::string(local_name(name)), {}, {}});
  }
}

void XMLCALL on_end(void* user, const char* /*name*/) {
  auto& building = *static_cast<Building*>(user);
  if (building.refused != nullptr) {
    return; // expat may still report the end of the element that was refused
  }
  XmlElement done = std::move(building.open.back());
  building.open.pop_back();
  if (building.open.empty()) {
    building.root = std::move(done);
  } else {
    building.open.back().children.push_back(std::move(done));
  }
}

void XMLCALL on_text(void* user, const char* text, int length) {
  auto& building = *static_cast<Building*>(user);
  if (!building.open.empty()) {
    building.open.back().text.append(text, static_cast<std::size_t>(length));
  }
}

void XMLCALL on_doctype(void* user, const char* /*name*/, const char* /*system*/,
                        const char* /*public_id*/, int /*has_subset*/) {
  static_cast<Building*>(user)->refuse("it has a document type");
}

} // namespace

const XmlElement* XmlElement::child(std::string_view child_name) const {
  for (const XmlElement& element : children) {
    if (element.name == child_name) {
      return &element;
    }
  }
  return nullptr;
}

std::string_view XmlElement::child_text(std::string_view child_name) const {
  const XmlElement* const found = child(child_name);
  return found == nullptr ? std::string_view() : std::string_view(found->text);
}

Result<XmlElement> parse_xml(std::string_view text, const XmlLimits& limits) {
  if (text.size() > limits.bytes) {
    return base::make_failure(ErrorCode::kLimit, "the XML document is too large");
  }
  const base::UniqueResource<ParserTraits> parser(XML_ParserCreate(nullptr));
  if (!parser) {
    return base::make_failure(ErrorCode::kInternal, "no memory for an XML parser");
  }
  Building building{parser.get(), limits, {}, {}, 0, nullptr};
  XML_SetUserData(parser.get(), &building);
  XML_SetElementHandler(parser.get(), &on_start, &on_end);
  XML_SetCharacterDataHandler(parser.get(), &on_text);
  XML_SetStartDoctypeDeclHandler(parser.get(), &on_doctype);
  const XML_Status status =
      XML_Parse(parser.get(), text.data(), static_cast<int>(text.size()), XML_TRUE);
  if (building.refused != nullptr) {
    return base::make_failure(ErrorCode::kLimit,
                              std::string("the XML document is refused: ") + building.refused);
  }
  if (status != XML_STATUS_OK) {
    return base::make_failure(ErrorCode::kInvalidData,
                              std::string("not an XML document: ") +
                                  XML_ErrorString(XML_GetErrorCode(parser.get())));
  }
  return std::move(building.root);
}

} // namespace jprof::store

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/http/websocket_handshake.h"

#include "lib/base/encoding.h"
#include "lib/base/text.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace jprof::http {
namespace {

using base::ErrorCode;

constexpr std::size_t kMaxHeadBytes = 64 * 1024;
constexpr std::size_t kMaxBodyBytes = 1024 * 1024;
constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; // RFC 6455 section 1.3

tl::unexpected<base::Error> nonsense(std::string what) {
  return base::make_failure(ErrorCode::kProtocol, std::move(what));
}

bool is_clean(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

// A list like "keep-alive, Upgrade" has this word.
bool has_token(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    if (base::equal_ignoring_case(base::trimmed(list.substr(0, end)), word)) {
      return true;
    }
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

template <typename Number>
bool parse_number(std::string_view text, Number& out, int base) {
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, out, base);
  return !text.empty() && parsed.ec == std::errc() && parsed.ptr == end;
}

} // namespace

std::string websocket_accept(std::string_view key) {
  const std::string text = std::string(key) + std::string(kGuid);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned length = 0;
  EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha1(), nullptr);
  return base::base64_encode({reinterpret_cast<const char*>(digest.data()), length});
}

Result<std::string> make_upgrade_request(const Url& url, const std::vector<Header>& headers,
                                         const std::vector<std::string>& protocols,
                                         std::string_view key) {
  std::string out = "GET " + url.path + (url.query.empty() ? "" : "?" + url.query) +
                    " HTTP/1.1\r\nHost: " + url.authority() +
                    "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13" +
                    "\r\nSec-WebSocket-Key: " + std::string(key) + "\r\n";
  std::string offered;
  for (const std::string& protocol : protocols) {
    offered += (offered.empty() ? "" : ", ") + protocol;
  }
  std::vector<Header> all = headers;
  if (!offered.empty()) {
    all.push_back({"Sec-WebSocket-Protocol", offered});
  }
  for (const Header& header : all) {
    if (!is_clean(header.name) || !is_clean(header.value)) {
      return base::make_failure(ErrorCode::kUsage, "the header " + base::printable(header.name) +
                                                       " holds control characters");
    }
    out += header.name + ": " + header.value + "\r\n";
  }
  return out + "\r\n";
}

Status ResponseReader::feed(std::string_view bytes, bool ended) {
  if (complete_) {
    return {};
  }
  buffer_.append(bytes);
  if (body_at_ == 0) {
    const std::size_t end = buffer_.find("\r\n\r\n");
    if (end == std::string::npos) {
      if (buffer_.size() > kMaxHeadBytes) {
        return base::make_failure(ErrorCode::kLimit, "the server's answer has an endless head");
      }
      if (ended) {
        return base::make_failure(ErrorCode::kUnavailable,
                                  "the server closed the connection before it answered");
      }
      return {};
    }
    JPROF_TRY(parse_head(end));
  }
  return parse_body(ended);
}

Status ResponseReader::parse_head(std::size_t end) {
  std::string_view head = std::string_view(buffer_).substr(0, end);
  const std::size_t line_end = std::min(head.find("\r\n"), head.size());
  const std::string_view line = head.substr(0, line_end);
  // "HTTP/1.1 101 Switching Protocols"
  int status = 0;
  if (line.size() < 12 || line.substr(0, 7) != "HTTP/1." || line[8] != ' ' ||
      !parse_number(line.substr(9, 3), status, 10) || status < 100 ||
      (line.size() > 12 && line[12] != ' ')) {
    return nonsense("the server does not speak HTTP: " + base::printable(line, 80));
  }
  response_.status = status;
  head.remove_prefix(std::min(line_end + 2, head.size()));
  while (!head.empty()) {
    const std::size_t next = std::min(head.find("\r\n"), head.size());
    const std::string_view field = head.substr(0, next);
    const std::size_t colon = field.find(':');
    if (colon == std::string_view::npos || colon == 0) {
      return nonsense("the server sent a broken header: " + base::printable(field, 80));
    }
    response_.headers.push_back(
        {std::string(field.substr(0, colon)), std::string(base::trimmed(field.substr(colon + 1)))});
    head.remove_prefix(std::min(next + 2, head.size()));
  }
  body_at_ = end + 4;
  return {};
}

Status ResponseReader::parse_body(bool ended) {
  if (response_.status == 101) {
    complete_ = true;
    return {};
  }
  if (buffer_.size() - body_at_ > 2 * kMaxBodyBytes) {
    return base::make_failure(ErrorCode::kLimit, "the server's answer is too long");
  }
  if (has_token(response_.header("Transfer-Encoding"), "chunked")) {
    JPROF_TRY(parse_chunks());
  } else {
    const std::string_view text = response_.header("Content-Length");
    std::size_t length = 0;
    const bool known = parse_number(text, length, 10);
    const std::string_view body = rest();
    if (!text.empty() && !known) {
      return nonsense("the server sent a broken Content-Length");
    }
    if (known && body.size() >= length) {
      response_.body = body.substr(0, length);
      complete_ = true;
    } else if (!known && ended) {
      response_.body = body;
      complete_ = true;
    }
  }
  if (!complete_ && ended) {
    // What there is of a refusal's text is better than nothing.
    response_.body = rest();
    complete_ = true;
  }
  return {};
}

Status ResponseReader::parse_chunks() {
  std::string body;
  std::string_view left = rest();
  for (;;) {
    const std::size_t line_end = left.find("\r\n");
    if (line_end == std::string_view::npos) {
      return {};
    }
    const std::string_view size_text = left.substr(0, std::min(left.find(';'), line_end));
    std::size_t size = 0;
    if (!parse_number(base::trimmed(size_text), size, 16) || size > kMaxBodyBytes) {
      return nonsense("the server sent a broken chunk");
    }
    left.remove_prefix(line_end + 2);
    if (size == 0) {
      response_.body = std::move(body);
      complete_ = true;
      return {};
    }
    if (left.size() < size + 2) {
      return {};
    }
    body.append(left.substr(0, size));
    left.remove_prefix(size + 2);
  }
}

Result<std::string> check_upgrade(const HttpResponse& response, std::string_view key,
                                  const std::vector<std::string>& protocols) {
  if (!base::equal_ignoring_case(response.header("Upgrade"), "websocket") ||
      !has_token(response.header("Connection"), "upgrade") ||
      response.header("Sec-WebSocket-Accept") != websocket_accept(key)) {
    return nonsense("the server's answer to the WebSocket upgrade is not one");
  }
  if (!response.header("Sec-WebSocket-Extensions").empty()) {
    return nonsense("the server chose a WebSocket extension that was not offered");
  }
  const std::string chosen(response.header("Sec-WebSocket-Protocol"));
  const bool offered = std::find(protocols.begin(), protocols.end(), chosen) != protocols.end();
  if (!offered && !(protocols.empty() && chosen.empty())) {
    return nonsense("the server chose the WebSocket protocol \"" + base::printable(chosen) +
                    "\", which was not offered");
  }
  return chosen;
}

} // namespace jprof::http

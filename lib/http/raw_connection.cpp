// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/http/raw_connection.h"

#include "lib/http/curl_handle.h"

#include <curl/curl.h>

namespace jprof::http {

using base::ErrorCode;

namespace {

class CurlRawConnection final : public RawConnection {
 public:
  CurlRawConnection(CurlEasy easy, std::unique_ptr<ConnectionSetup> setup, Url url, int socket)
      : setup_(std::move(setup)), easy_(std::move(easy)), url_(std::move(url)), socket_(socket) {}

  Result<std::size_t> send(std::span<const std::byte> bytes) override {
    std::size_t sent = 0;
    const CURLcode code = curl_easy_send(easy_.get(), bytes.data(), bytes.size(), &sent);
    if (code == CURLE_AGAIN) {
      return std::size_t{0};
    }
    if (code != CURLE_OK) {
      return base::fail(curl_error(easy_.get(), code, *setup_, url_));
    }
    return sent;
  }

  Result<Received> receive(std::span<std::byte> out) override {
    std::size_t got = 0;
    const CURLcode code = curl_easy_recv(easy_.get(), out.data(), out.size(), &got);
    if (code == CURLE_AGAIN) {
      return Received{};
    }
    if (code != CURLE_OK) {
      return base::fail(curl_error(easy_.get(), code, *setup_, url_));
    }
    return Received{got, got == 0 ? Received::State::kEnded : Received::State::kOpen};
  }

  int socket() const override { return socket_; }

 private:
  std::unique_ptr<ConnectionSetup> setup_; // outlives easy_, which points into it
  CurlEasy easy_;
  Url url_;
  int socket_;
};

} // namespace

Result<std::unique_ptr<RawConnection>> open_raw_connection(const ClientOptions& options,
                                                           const Url& url) {
  JPROF_TRY_ASSIGN(CurlEasy easy, make_curl_easy());
  JPROF_TRY_ASSIGN(auto setup, configure_connection(easy.get(), options, url));
  curl_easy_setopt(easy.get(), CURLOPT_CONNECT_ONLY, 1L);
  // A proxied connection must be a tunnel, for http as for https: the bytes are not a request.
  curl_easy_setopt(easy.get(), CURLOPT_HTTPPROXYTUNNEL, 1L);
  const CURLcode code = curl_easy_perform(easy.get());
  if (code != CURLE_OK) {
    return base::fail(curl_error(easy.get(), code, *setup, url));
  }
  curl_socket_t socket = CURL_SOCKET_BAD;
  if (curl_easy_getinfo(easy.get(), CURLINFO_ACTIVESOCKET, &socket) != CURLE_OK ||
      socket == CURL_SOCKET_BAD) {
    return base::make_failure(ErrorCode::kInternal, "libcurl gives no socket");
  }
  return std::unique_ptr<RawConnection>(std::make_unique<CurlRawConnection>(
      std::move(easy), std::move(setup), url, static_cast<int>(socket)));
}

} // namespace jprof::http

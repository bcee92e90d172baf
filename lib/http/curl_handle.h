// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/unique_resource.h"
#include "lib/http/http_client.h"

#include <array>
#include <memory>
#include <string>

// Inside lib/http only: what the HTTP client and the raw connection share. libcurl's handles are
// `void*` by its own definition, so that its header stays in the .cpp files.
namespace jprof::http {

struct CurlEasyTraits {
  using Handle = void*;
  static Handle invalid() { return nullptr; }
  static void close(Handle handle);
};
struct CurlMultiTraits {
  using Handle = void*;
  static Handle invalid() { return nullptr; }
  static void close(Handle handle);
};
struct CurlListTraits {
  using Handle = void*; // curl_slist*
  static Handle invalid() { return nullptr; }
  static void close(Handle handle);
};
using CurlEasy = base::UniqueResource<CurlEasyTraits>;
using CurlMulti = base::UniqueResource<CurlMultiTraits>;
using CurlList = base::UniqueResource<CurlListTraits>;

// Both fail only without memory (kInternal). The first call initialises libcurl.
Result<CurlEasy> make_curl_easy();
Result<CurlMulti> make_curl_multi();
Status append(CurlList& list, const std::string& line);

// What must stay alive while a configured handle is in use.
struct ConnectionSetup {
  CurlList connect_to;
  std::array<char, 256> error_text{}; // CURL_ERROR_SIZE
};

// Sets URL, protocols, TLS, proxy and time limits of `easy` (fresh or just reset) for one exchange
// with `url`. Refuses (kUsage) plain http where the options do not allow it, and (kConfigInvalid)
// certificate files that cannot be read.
Result<std::unique_ptr<ConnectionSetup>>
configure_connection(void* easy, const ClientOptions& options, const Url& url);

// The Error for a failed exchange; `code` is a CURLcode.
base::Error curl_error(void* easy, int code, const ConnectionSetup& setup, const Url& url);

} // namespace jprof::http

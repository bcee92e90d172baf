// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/secret.h"
#include "lib/http/body_source.h"
#include "lib/http/url.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jprof::http {

struct Header {
  std::string name;
  std::string value;
};

// The value of the first header with this name (case does not matter), or an empty view.
std::string_view find_header(const std::vector<Header>& headers, std::string_view name);

enum class Verify { kPeer, kNothing }; // kNothing: "insecure-skip-tls-verify" of a kubeconfig

// How to talk TLS. Files are read when a connection is opened, so a rotated one is picked up. Where
// both a file and text are given, the text wins. PEM throughout.
struct TlsOptions {
  std::string ca_file; // none and no ca_pem: the system's (system_ca_file)
  std::string ca_pem;
  std::string client_certificate_file;
  std::string client_key_file;
  std::string client_certificate_pem;
  base::Secret client_key_pem;
  std::string server_name; // checked instead of the URL's host, and sent as SNI
  Verify verify = Verify::kPeer;
};

struct ProxyOptions {
  enum class Kind { kFromEnvironment, kNone, kUrl }; // HTTPS_PROXY, http_proxy, NO_PROXY
  Kind kind = Kind::kFromEnvironment;
  base::Secret url; // a Secret: it may carry a password. http://, https:// or socks5h://
};

enum class PlainHttp { kRefuse, kAllow };

// What all exchanges of one client have in common; connections are shared among them.
struct ClientOptions {
  TlsOptions tls;
  ProxyOptions proxy;
  PlainHttp plain_http = PlainHttp::kRefuse;
  std::chrono::milliseconds connect_timeout{5000}; // name, TCP and TLS together
  std::string user_agent = "jprof/" JPROF_VERSION;
};

struct HttpRequest {
  std::string method = "GET";
  Url url;
  // Names and values must hold no control characters (kUsage). A Host header replaces the URL's.
  std::vector<Header> headers;
  const BodySource* body = nullptr; // not owned, must outlive send(); nullptr: no body

  // Gives up (kTimeout) when less than 1 KiB/s moved for this long; 0: never (watches).
  std::chrono::milliseconds stall_timeout{30000};
  // For the whole exchange; 0: none.
  std::chrono::milliseconds total_timeout{0};
  std::stop_token stop; // stops at once, with kInterrupted

  // A body beyond this ends the exchange with kLimit. Does not bound what goes to on_body.
  std::size_t response_limit_bytes = std::size_t{1024} * 1024;
  // Receives the body of a 2xx answer piece by piece instead of HttpResponse::body. An Error ends
  // the exchange and is what send() returns.
  std::function<Status(std::string_view)> on_body;
};

struct HttpResponse {
  int status = 0;
  std::vector<Header> headers; // names as sent
  std::string body;

  bool ok() const { return status >= 200 && status < 300; }
  std::string_view header(std::string_view name) const { return find_header(headers, name); }
};

// One HTTP exchange. Any answered exchange is a success, whatever its status: the caller knows what
// a 404 means. Redirects are never followed (a 3xx is returned). Failures: kUnavailable (no
// connection, cut short), kTimeout, kProtocol (not HTTP; TLS not trusted, which no retry cures),
// kLimit, kInterrupted, kUsage or kConfigInvalid (options). Messages name the host, never the query
// or a header. An object is used by one thread at a time.
class HttpClient {
 public:
  virtual ~HttpClient() = default;
  virtual Result<HttpResponse> send(const HttpRequest& request) = 0;
};

// The client over libcurl: HTTP/1.1, TLS 1.2 or newer, connections kept between requests.
Result<std::unique_ptr<HttpClient>> make_curl_http_client(ClientOptions options);

// The bundle of certificate authorities to use if none is named: SSL_CERT_FILE, then the places
// where Linux distributions and macOS keep theirs. Empty if there is none.
std::string system_ca_file();

} // namespace jprof::http

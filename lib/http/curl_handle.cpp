// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/http/curl_handle.h"

#include "lib/base/encoding.h"

#include <curl/curl.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace jprof::http {

using base::ErrorCode;

namespace {

bool initialise_libcurl() {
  // Never cleaned up: other threads may be in an exchange while main returns.
  static const bool kDone = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return kDone;
}

curl_blob blob_of(std::string_view text) {
  // CURL_BLOB_COPY: libcurl keeps its own copy and does not write to ours.
  return {const_cast<char*>(text.data()), text.size(), CURL_BLOB_COPY};
}

Status require_readable(const std::string& path, std::string_view what) {
  if (!path.empty() && ::access(path.c_str(), R_OK) != 0) {
    return base::make_failure(ErrorCode::kConfigInvalid, "cannot read the " + std::string(what) +
                                                             " " + path + ": " +
                                                             std::strerror(errno));
  }
  return {};
}

Status set_authorities(CURL* easy, const TlsOptions& tls) {
  if (!tls.ca_pem.empty()) {
    curl_blob blob = blob_of(tls.ca_pem);
    curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob);
    // Without this the build's default directory would also be trusted.
    curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
    return {};
  }
  if (!tls.ca_file.empty()) {
    JPROF_TRY(require_readable(tls.ca_file, "certificate authority file"));
    curl_easy_setopt(easy, CURLOPT_CAINFO, tls.ca_file.c_str());
    curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
    return {};
  }
  const std::string system = system_ca_file();
  if (!system.empty()) {
    curl_easy_setopt(easy, CURLOPT_CAINFO, system.c_str());
    curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO, system.c_str());
  }
  return {};
}

Status set_client_certificate(CURL* easy, const TlsOptions& tls) {
  if (!tls.client_certificate_pem.empty()) {
    curl_blob blob = blob_of(tls.client_certificate_pem);
    curl_easy_setopt(easy, CURLOPT_SSLCERT_BLOB, &blob);
  } else if (!tls.client_certificate_file.empty()) {
    JPROF_TRY(require_readable(tls.client_certificate_file, "client certificate"));
    curl_easy_setopt(easy, CURLOPT_SSLCERT, tls.client_certificate_file.c_str());
  }
  if (!tls.client_key_pem.empty()) {
    curl_blob blob = blob_of(tls.client_key_pem.reveal());
    curl_easy_setopt(easy, CURLOPT_SSLKEY_BLOB, &blob);
  } else if (!tls.client_key_file.empty()) {
    JPROF_TRY(require_readable(tls.client_key_file, "client key"));
    curl_easy_setopt(easy, CURLOPT_SSLKEY, tls.client_key_file.c_str());
  }
  return {};
}

Status set_tls(CURL* easy, const TlsOptions& tls) {
  curl_easy_setopt(easy, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
  const bool verify = tls.verify == Verify::kPeer;
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, verify ? 1L : 0L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, verify ? 2L : 0L);
  JPROF_TRY(set_authorities(easy, tls));
  return set_client_certificate(easy, tls);
}

void set_proxy(CURL* easy, const ProxyOptions& proxy) {
  switch (proxy.kind) {
  case ProxyOptions::Kind::kFromEnvironment:
    break; // libcurl reads HTTPS_PROXY, http_proxy, ALL_PROXY and NO_PROXY by itself
  case ProxyOptions::Kind::kNone:
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    break;
  case ProxyOptions::Kind::kUrl:
    curl_easy_setopt(easy, CURLOPT_PROXY, std::string(proxy.url.reveal()).c_str());
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    break;
  }
  curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
}

// libcurl checks the certificate against the URL's host. To check another name, the URL gets that
// name and CONNECT_TO the real address; a Host header (http_client) then names the real host again.
Result<std::string> set_server_name(CURL* easy, const TlsOptions& tls, const Url& url,
                                    ConnectionSetup& setup) {
  if (tls.server_name.empty() || !url.is_tls() || tls.server_name == url.host) {
    return url.to_string();
  }
  Url named = url;
  named.host = tls.server_name;
  JPROF_TRY_ASSIGN(const Url checked, parse_url(named.to_string()));
  const auto bracketed = [](const std::string& host) {
    return host.find(':') == std::string::npos ? host : "[" + host + "]";
  };
  const std::string port = std::to_string(url.effective_port());
  JPROF_TRY(append(setup.connect_to,
                   bracketed(checked.host) + ":" + port + ":" + bracketed(url.host) + ":" + port));
  curl_easy_setopt(easy, CURLOPT_CONNECT_TO, static_cast<curl_slist*>(setup.connect_to.get()));
  return checked.to_string();
}

struct CodeRow {
  CURLcode code;
  ErrorCode error;
  const char* cure;
};

constexpr CodeRow kCodes[] = {
    {CURLE_COULDNT_RESOLVE_HOST, ErrorCode::kUnavailable, "check the host name and the DNS"},
    {CURLE_COULDNT_RESOLVE_PROXY, ErrorCode::kUnavailable, "check the proxy's host name"},
    {CURLE_COULDNT_CONNECT, ErrorCode::kUnavailable,
     "check that it is running and that no network policy or firewall blocks the way"},
    {CURLE_OPERATION_TIMEDOUT, ErrorCode::kTimeout, ""},
    {CURLE_SEND_ERROR, ErrorCode::kUnavailable, ""},
    {CURLE_RECV_ERROR, ErrorCode::kUnavailable, ""},
    {CURLE_GOT_NOTHING, ErrorCode::kUnavailable, ""},
    {CURLE_PARTIAL_FILE, ErrorCode::kUnavailable, ""},
    {CURLE_SSL_CONNECT_ERROR, ErrorCode::kUnavailable, ""},
    {CURLE_PEER_FAILED_VERIFICATION, ErrorCode::kProtocol,
     "name its certificate authority, or fix the server's certificate"},
    {CURLE_SSL_CERTPROBLEM, ErrorCode::kConfigInvalid, "check the client certificate and its key"},
    {CURLE_SSL_CACERT_BADFILE, ErrorCode::kConfigInvalid, "check the certificate authority file"},
    {CURLE_PROXY, ErrorCode::kUnavailable, "check the proxy"},
    {CURLE_OUT_OF_MEMORY, ErrorCode::kInternal, ""},
    {CURLE_FAILED_INIT, ErrorCode::kInternal, ""},
    {CURLE_BAD_FUNCTION_ARGUMENT, ErrorCode::kInternal, ""},
};

} // namespace

void CurlEasyTraits::close(Handle handle) {
  curl_easy_cleanup(handle);
}

void CurlMultiTraits::close(Handle handle) {
  curl_multi_cleanup(handle);
}

void CurlListTraits::close(Handle handle) {
  curl_slist_free_all(static_cast<curl_slist*>(handle));
}

Result<CurlEasy> make_curl_easy() {
  CurlEasy easy(initialise_libcurl() ? curl_easy_init() : nullptr);
  if (!easy) {
    return base::make_failure(ErrorCode::kInternal, "cannot start libcurl");
  }
  return easy;
}

Result<CurlMulti> make_curl_multi() {
  CurlMulti multi(initialise_libcurl() ? curl_multi_init() : nullptr);
  if (!multi) {
    return base::make_failure(ErrorCode::kInternal, "cannot start libcurl");
  }
  return multi;
}

Status append(CurlList& list, const std::string& line) {
  auto* const old = static_cast<curl_slist*>(list.get());
  curl_slist* const grown = curl_slist_append(old, line.c_str());
  if (grown == nullptr) {
    return base::make_failure(ErrorCode::kInternal, "no memory for libcurl's list");
  }
  (void)list.release(); // the old head is part of the grown list
  list.reset(grown);
  return {};
}

Result<std::unique_ptr<ConnectionSetup>>
configure_connection(void* easy, const ClientOptions& options, const Url& url) {
  static_assert(sizeof(ConnectionSetup::error_text) >= CURL_ERROR_SIZE);
  if (!url.is_tls() && options.plain_http == PlainHttp::kRefuse) {
    return base::make_failure(ErrorCode::kUsage,
                              "refusing to talk to " + url.authority() + " without TLS",
                              "use https://, or allow plain http where you trust the network");
  }
  auto setup = std::make_unique<ConnectionSetup>();
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, setup->error_text.data());
  JPROF_TRY(set_tls(easy, options.tls));
  set_proxy(easy, options.proxy);
  JPROF_TRY_ASSIGN(const std::string text, set_server_name(easy, options.tls, url, *setup));
  curl_easy_setopt(easy, CURLOPT_URL, text.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR,
                   options.plain_http == PlainHttp::kAllow ? "http,https" : "https");
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(options.connect_timeout.count()));
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, options.user_agent.c_str());
  return setup;
}

base::Error curl_error(void* easy, int code, const ConnectionSetup& setup, const Url& url) {
  // The server's certificate, and so its owner, has a say in libcurl's text: made printable.
  const std::string detail =
      base::printable(setup.error_text[0] != '\0'
                          ? std::string_view(setup.error_text.data())
                          : std::string_view(curl_easy_strerror(static_cast<CURLcode>(code))));
  const std::string where = "cannot talk to " + url.authority();
  long proxy_answer = 0;
  curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &proxy_answer);
  if (proxy_answer >= 400) {
    const bool again = proxy_answer >= 500;
    return base::make_error(again ? ErrorCode::kUnavailable : ErrorCode::kProtocol,
                            where + ": the proxy answered " + std::to_string(proxy_answer),
                            proxy_answer == 407 ? "put a user and password into the proxy's URL"
                                                : "check the proxy, or name the host in NO_PROXY");
  }
  for (const CodeRow& row : kCodes) {
    if (row.code == static_cast<CURLcode>(code)) {
      return base::make_error(row.error, where + ": " + detail, row.cure);
    }
  }
  return base::make_error(ErrorCode::kProtocol, where + ": " + detail);
}

std::string system_ca_file() {
  if (const char* named = std::getenv("SSL_CERT_FILE"); named != nullptr && *named != '\0') {
    return named;
  }
  // Debian and Alpine, Fedora and RHEL 6, openSUSE, RHEL 7 and later, macOS.
  constexpr const char* kPlaces[] = {
      "/etc/ssl/certs/ca-certificates.crt",
      "/etc/pki/tls/certs/ca-bundle.crt",
      "/etc/ssl/ca-bundle.pem",
      "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
      "/etc/ssl/cert.pem",
  };
  for (const char* place : kPlaces) {
    if (::access(place, R_OK) == 0) {
      return place;
    }
  }
  return {};
}

} // namespace jprof::http

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/encoding.h"
#include "lib/base/text.h"
#include "lib/http/curl_handle.h"
#include "lib/http/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <optional>

namespace jprof::http {

using base::Error;
using base::ErrorCode;

namespace {

constexpr std::size_t kHeaderLimitBytes = 64 * 1024;
// From this size on, a body waits for "100 Continue": a refusal or redirection then costs no
// upload. A smaller one is sent in less time than the question takes; and behind a proxy that does
// not answer it, libcurl waits a second.
constexpr std::uint64_t kAskFirstBytes = std::uint64_t{1} << 20U;
constexpr long kSlowestBytesPerSecond = 1024;
// The longest sleep between checks of the stop token, in case a wake-up gets lost.
constexpr int kPollMilliseconds = 1000;

// One exchange: what the C callbacks work on. Lives on send()'s stack, so its address is stable.
struct Exchange {
  const HttpRequest& request;
  HttpResponse response;
  std::uint64_t sent_bytes = 0;
  std::size_t header_bytes = 0;
  std::optional<Error> error; // why a callback ended the exchange
};

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* user) {
  Exchange& exchange = *static_cast<Exchange*>(user);
  const std::string_view line(data, size * count);
  exchange.header_bytes += line.size();
  if (exchange.header_bytes > kHeaderLimitBytes) {
    exchange.error = base::make_error(ErrorCode::kLimit, "the answer's headers are over 64 KiB");
    return 0;
  }
  if (line.starts_with("HTTP/")) {
    exchange.response.headers.clear(); // those of "100 Continue" are not the answer's
  } else if (const auto colon = line.find(':'); colon != std::string_view::npos) {
    exchange.response.headers.push_back({std::string(base::trimmed(line.substr(0, colon))),
                                         std::string(base::trimmed(line.substr(colon + 1)))});
  }
  return line.size();
}

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* user) {
  auto& [curl, exchange] = *static_cast<std::pair<CURL*, Exchange*>*>(user);
  const std::string_view piece(data, size * count);
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  if (exchange->request.on_body && status >= 200 && status < 300) {
    if (Status accepted = exchange->request.on_body(piece); !accepted) {
      exchange->error = std::move(accepted).error();
      return 0;
    }
    return piece.size();
  }
  if (exchange->response.body.size() + piece.size() > exchange->request.response_limit_bytes) {
    exchange->error =
        base::make_error(ErrorCode::kLimit,
                         "the answer of " + exchange->request.url.authority() + " is larger than " +
                             std::to_string(exchange->request.response_limit_bytes) + " bytes");
    return 0;
  }
  exchange->response.body += piece;
  return piece.size();
}

std::size_t on_read(char* data, std::size_t size, std::size_t count, void* user) {
  Exchange& exchange = *static_cast<Exchange*>(user);
  auto got = exchange.request.body->read(exchange.sent_bytes,
                                         std::as_writable_bytes(std::span(data, size * count)));
  if (!got) {
    exchange.error = std::move(got).error();
    return CURL_READFUNC_ABORT;
  }
  exchange.sent_bytes += *got;
  return *got;
}

// libcurl asks for this when a kept connection turns out dead after part of the body was sent.
int on_seek(void* user, curl_off_t offset, int origin) {
  if (origin != SEEK_SET || offset < 0) {
    return CURL_SEEKFUNC_CANTSEEK;
  }
  static_cast<Exchange*>(user)->sent_bytes = static_cast<std::uint64_t>(offset);
  return CURL_SEEKFUNC_OK;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

bool is_header_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != '\x7f'; });
}

Result<CurlList> header_list(const HttpRequest& request) {
  CurlList list;
  for (const Header& header : request.headers) {
    if (!is_token(header.name) || !is_header_value(header.value)) {
      // The value is not shown: it may be a token.
      return base::make_failure(ErrorCode::kUsage,
                                "a request header is malformed: " + base::printable(header.name));
    }
    // "Name;" is libcurl's way to send an empty value; "Name:" would remove the header.
    JPROF_TRY(
        append(list, header.value.empty() ? header.name + ";" : header.name + ": " + header.value));
  }
  if (find_header(request.headers, "host").empty()) {
    // Always said by us: with TlsOptions::server_name the URL that libcurl sees has another host.
    JPROF_TRY(append(list, "Host: " + request.url.authority()));
  }
  if (request.body != nullptr && request.body->size_bytes() < kAskFirstBytes) {
    JPROF_TRY(append(list, "Expect:")); // removes it
  }
  return list;
}

void set_method(CURL* easy, const HttpRequest& request, Exchange& exchange) {
  if (request.body != nullptr) {
    curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE,
                     static_cast<curl_off_t>(request.body->size_bytes()));
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, &on_read);
    curl_easy_setopt(easy, CURLOPT_READDATA, &exchange);
    curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, &on_seek);
    curl_easy_setopt(easy, CURLOPT_SEEKDATA, &exchange);
  } else if (request.method == "HEAD") {
    curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
  }
  curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

class CurlHttpClient final : public HttpClient {
 public:
  CurlHttpClient(ClientOptions options, CurlMulti multi, CurlEasy easy)
      : options_(std::move(options)), multi_(std::move(multi)), easy_(std::move(easy)) {}

  Result<HttpResponse> send(const HttpRequest& request) override;

 private:
  Result<CURLcode> run(const HttpRequest& request);

  ClientOptions options_;
  CurlMulti multi_; // holds the connections
  CurlEasy easy_;
};

Result<HttpResponse> CurlHttpClient::send(const HttpRequest& request) {
  CURL* const easy = easy_.get();
  curl_easy_reset(easy);
  if (!is_token(request.method)) {
    return base::make_failure(ErrorCode::kUsage, "not an HTTP method");
  }
  JPROF_TRY_ASSIGN(const auto setup, configure_connection(easy, options_, request.url));
  JPROF_TRY_ASSIGN(const CurlList headers, header_list(request));
  Exchange exchange{request, {}, 0, 0, std::nullopt};
  std::pair<CURL*, Exchange*> body_target(easy, &exchange);
  set_method(easy, request, exchange);
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, static_cast<curl_slist*>(headers.get()));
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, &on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &exchange);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body_target);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(request.total_timeout.count()));
  if (request.stall_timeout.count() > 0) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(request.stall_timeout);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, kSlowestBytesPerSecond);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, static_cast<long>(seconds.count()));
  }

  JPROF_TRY_ASSIGN(const CURLcode code, run(request));
  if (exchange.error) {
    return base::fail(std::move(*exchange.error));
  }
  if (code != CURLE_OK) {
    return base::fail(curl_error(easy, code, *setup, request.url));
  }
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  exchange.response.status = static_cast<int>(status);
  return std::move(exchange.response);
}

Result<CURLcode> CurlHttpClient::run(const HttpRequest& request) {
  const auto failed = [](CURLMcode code) {
    return base::make_failure(ErrorCode::kInternal,
                              std::string("libcurl: ") + curl_multi_strerror(code));
  };
  CURLM* const multi = multi_.get();
  if (const CURLMcode added = curl_multi_add_handle(multi, easy_.get()); added != CURLM_OK) {
    return failed(added);
  }
  struct Removal {
    CURLM* multi;
    CURL* easy;
    ~Removal() { curl_multi_remove_handle(multi, easy); }
  } const removal{multi, easy_.get()};
  // Runs in the thread that asks to stop; curl_multi_wakeup is the one call that allows that.
  const std::stop_callback wake(request.stop, [multi] { curl_multi_wakeup(multi); });
  int running = 1;
  while (running > 0) {
    if (request.stop.stop_requested()) {
      return base::make_failure(ErrorCode::kInterrupted,
                                "stopped while talking to " + request.url.authority());
    }
    CURLMcode code = curl_multi_perform(multi, &running);
    if (code == CURLM_OK && running > 0) {
      code = curl_multi_poll(multi, nullptr, 0, kPollMilliseconds, nullptr);
    }
    if (code != CURLM_OK) {
      return failed(code);
    }
  }
  int left = 0;
  while (const CURLMsg* const message = curl_multi_info_read(multi, &left)) {
    if (message->msg == CURLMSG_DONE) {
      return message->data.result;
    }
  }
  return base::make_failure(ErrorCode::kInternal, "libcurl ended an exchange without a result");
}

} // namespace

std::string_view find_header(const std::vector<Header>& headers, std::string_view name) {
  for (const Header& header : headers) {
    if (base::equal_ignoring_case(header.name, name)) {
      return header.value;
    }
  }
  return {};
}

Result<std::unique_ptr<HttpClient>> make_curl_http_client(ClientOptions options) {
  JPROF_TRY_ASSIGN(CurlMulti multi, make_curl_multi());
  JPROF_TRY_ASSIGN(CurlEasy easy, make_curl_easy());
  return std::unique_ptr<HttpClient>(
      std::make_unique<CurlHttpClient>(std::move(options), std::move(multi), std::move(easy)));
}

} // namespace jprof::http

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/file.h"
#include "lib/http/http_client.h"
#include "lib/http/raw_connection.h"
#include "tests/support/fault_server.h"
#include "tests/support/test_certificates.h"

#include <gtest/gtest.h>

#include <poll.h>

namespace jprof::http {
namespace {

using base::ErrorCode;
using base::Json;
using testing::FaultServer;
using testing::ServerCertificate;
using testing::TestCertificates;

const TestCertificates& certificates() {
  static const TestCertificates kMade;
  static const bool kIssued = [] {
    kMade.issue("loopback", "IP:127.0.0.1");
    kMade.issue("named", "DNS:store.test");
    kMade.issue("client", "DNS:client");
    return true;
  }();
  (void)kIssued;
  return kMade;
}

ServerCertificate server_certificate(const std::string& name, const std::string& clients = {}) {
  return {certificates().certificate_file(name), certificates().key_file(name), clients};
}

std::string text_of(const std::string& path) {
  return base::read_file(path, 100000).value();
}

ClientOptions trusting() {
  ClientOptions options;
  options.tls.ca_file = certificates().authority_file();
  options.proxy.kind = ProxyOptions::Kind::kNone;
  return options;
}

Result<HttpResponse> get(const FaultServer& server, const ClientOptions& options) {
  HttpRequest request;
  request.url = server.url();
  return make_curl_http_client(options).value()->send(request);
}

TEST(CurlTls, TrustsTheNamedAuthorityFromFileOrText) {
  const FaultServer server("[{}]", server_certificate("loopback"));
  ClientOptions by_text = trusting();
  by_text.tls.ca_pem = text_of(by_text.tls.ca_file);
  by_text.tls.ca_file.clear();

  EXPECT_TRUE(get(server, trusting()).has_value());
  EXPECT_TRUE(get(server, by_text).has_value());
}

TEST(CurlTls, RefusesAnUnknownAuthorityAndSendsNothing) {
  FaultServer server("[{}]", server_certificate("loopback"));
  ClientOptions options = trusting();
  options.tls.ca_file.clear();

  const auto response = get(server, options);

  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::kProtocol); // and so is never repeated
  EXPECT_FALSE(response.error().cure.empty());
  EXPECT_TRUE(server.next_request().is_null());
}

TEST(CurlTls, RefusesACertificateForAnotherHostUnlessThatNameIsExpected) {
  FaultServer server("[{}]", server_certificate("named"));
  ClientOptions named = trusting();
  named.tls.server_name = "store.test";

  const auto refused = get(server, trusting());
  const auto accepted = get(server, named);

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kProtocol);
  ASSERT_TRUE(accepted.has_value()) << accepted.error().text();
  EXPECT_EQ(server.next_request()["headers"]["host"], "127.0.0.1:" + std::to_string(server.port()));
}

TEST(CurlTls, SkipsVerificationOnlyWhenAsked) {
  const FaultServer server("[{}]", server_certificate("named"));
  ClientOptions options;
  options.proxy.kind = ProxyOptions::Kind::kNone;
  options.tls.verify = Verify::kNothing;

  EXPECT_TRUE(get(server, options).has_value());
}

TEST(CurlTls, ShowsAClientCertificateFromFilesOrText) {
  const FaultServer server("[{}]", server_certificate("loopback", certificates().authority_file()));
  ClientOptions files = trusting();
  files.tls.client_certificate_file = certificates().certificate_file("client");
  files.tls.client_key_file = certificates().key_file("client");
  ClientOptions texts = trusting();
  texts.tls.client_certificate_pem = text_of(files.tls.client_certificate_file);
  texts.tls.client_key_pem = base::Secret(text_of(files.tls.client_key_file));

  EXPECT_FALSE(get(server, trusting()).has_value());
  EXPECT_TRUE(get(server, files).has_value());
  EXPECT_TRUE(get(server, texts).has_value());
}

TEST(CurlTls, NamesAFileThatIsMissing) {
  const FaultServer server("[{}]", server_certificate("loopback"));
  ClientOptions options = trusting();
  options.tls.ca_file = "/nowhere/ca.pem";

  const auto response = get(server, options);

  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::kConfigInvalid);
  EXPECT_NE(response.error().message.find("/nowhere/ca.pem"), std::string::npos);
}

TEST(RawConnection, CarriesBytesBothWaysOverTls) {
  const FaultServer server(R"([{"body":"hello"}])", server_certificate("loopback"));
  auto connection = open_raw_connection(trusting(), server.url());
  ASSERT_TRUE(connection.has_value()) << connection.error().text();
  const std::string_view request = "GET /raw HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";

  const auto sent = (*connection)->send(std::as_bytes(std::span(request)));

  ASSERT_TRUE(sent.has_value());
  ASSERT_EQ(*sent, request.size());
  std::string answer;
  while (answer.find("hello") == std::string::npos) {
    std::byte buffer[256];
    const auto got = (*connection)->receive(buffer);
    ASSERT_TRUE(got.has_value()) << got.error().text();
    ASSERT_EQ(got->state, RawConnection::Received::State::kOpen);
    answer.append(reinterpret_cast<const char*>(buffer), got->bytes);
    if (got->bytes == 0) {
      pollfd ready{(*connection)->socket(), POLLIN, 0};
      ASSERT_EQ(::poll(&ready, 1, 5000), 1);
    }
  }
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200"));
}

TEST(RawConnection, TellsAnOrderlyEnd) {
  const FaultServer server(R"([{"do":"close"}])");
  ClientOptions options = trusting();
  options.plain_http = PlainHttp::kAllow;
  auto connection = open_raw_connection(options, server.url());
  ASSERT_TRUE(connection.has_value());
  const std::string_view request = "GET / HTTP/1.1\r\n\r\n";
  ASSERT_TRUE((*connection)->send(std::as_bytes(std::span(request))).has_value());

  pollfd ready{(*connection)->socket(), POLLIN, 0};
  ASSERT_EQ(::poll(&ready, 1, 5000), 1);
  std::byte buffer[16];
  const auto got = (*connection)->receive(buffer);

  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->state, RawConnection::Received::State::kEnded);
}

TEST(RawConnection, FailsWhereNobodyListens) {
  ClientOptions options;
  options.plain_http = PlainHttp::kAllow;
  options.proxy.kind = ProxyOptions::Kind::kNone;

  const auto connection = open_raw_connection(options, *parse_url("http://127.0.0.1:1/"));

  ASSERT_FALSE(connection.has_value());
  EXPECT_EQ(connection.error().code, ErrorCode::kUnavailable);
}

} // namespace
} // namespace jprof::http

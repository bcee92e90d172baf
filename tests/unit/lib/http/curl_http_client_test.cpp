// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/digest.h"
#include "lib/base/file.h"
#include "lib/http/http_client.h"
#include "tests/support/fault_server.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <thread>

namespace jprof::http {
namespace {

using base::ErrorCode;
using base::Json;
using testing::FaultServer;
using namespace std::chrono_literals;

std::unique_ptr<HttpClient> plain_client() {
  ClientOptions options;
  options.plain_http = PlainHttp::kAllow;
  options.proxy.kind = ProxyOptions::Kind::kNone;
  auto client = make_curl_http_client(std::move(options));
  EXPECT_TRUE(client.has_value());
  return std::move(*client);
}

Result<HttpResponse> get(const FaultServer& server, const std::string& path = "/") {
  HttpRequest request;
  request.url = server.url(path);
  return plain_client()->send(request);
}

ErrorCode code_for(const Json& step) {
  const FaultServer server(base::dump_json(Json::array({step})));
  HttpRequest request;
  request.url = server.url();
  request.stall_timeout = 1s;
  const auto response = plain_client()->send(request);
  EXPECT_FALSE(response.has_value());
  return response ? ErrorCode::kInternal : response.error().code;
}

TEST(CurlHttpClient, ReturnsAnAnswerWhateverItsStatus) {
  FaultServer server(R"([{"status":404,"headers":{"X-Why":"gone "},"body":"no such"}])");

  const auto response = get(server, "/a%3Db?x=1");

  ASSERT_TRUE(response.has_value()) << response.error().text();
  EXPECT_EQ(response->status, 404);
  EXPECT_EQ(response->header("x-why"), "gone");
  EXPECT_EQ(response->body, "no such");
  const Json seen = server.next_request();
  EXPECT_EQ(seen["method"], "GET");
  EXPECT_EQ(seen["target"], "/a%3Db?x=1");
  EXPECT_EQ(seen["headers"]["user-agent"], "jprof/" JPROF_VERSION);
}

TEST(CurlHttpClient, SendsMethodHeadersAndBody) {
  FaultServer server(R"([{"do":"echo","status":201}])");
  const MemoryBody body("payload");
  HttpRequest request;
  request.method = "PATCH";
  request.url = server.url();
  request.headers = {{"X-One", "1"}, {"X-Empty", ""}};
  request.body = &body;

  const auto response = plain_client()->send(request);

  ASSERT_TRUE(response.has_value()) << response.error().text();
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->body, "payload");
  const Json seen = server.next_request();
  EXPECT_EQ(seen["method"], "PATCH");
  EXPECT_EQ(seen["headers"]["x-one"], "1");
  EXPECT_EQ(seen["headers"]["x-empty"], "");
  EXPECT_EQ(seen["headers"]["content-length"], "7");
  EXPECT_FALSE(seen["headers"].contains("expect")); // a round trip for 7 bytes
}

TEST(CurlHttpClient, SendsAnEmptyBodyWithItsLength) {
  FaultServer server(R"([{}])");
  const MemoryBody body("");
  HttpRequest request;
  request.method = "PUT";
  request.url = server.url();
  request.body = &body;

  ASSERT_TRUE(plain_client()->send(request).has_value());

  EXPECT_EQ(server.next_request()["headers"]["content-length"], "0");
}

TEST(CurlHttpClient, ReusesItsConnection) {
  FaultServer server(R"([{}])");
  const auto client = plain_client();
  HttpRequest request;
  request.url = server.url();

  ASSERT_TRUE(client->send(request).has_value());
  ASSERT_TRUE(client->send(request).has_value());

  EXPECT_EQ(server.next_request()["port"], server.next_request()["port"]);
}

TEST(CurlHttpClient, SendsALargeFileAfterAskingWhetherItMay) {
  const testing::TempDir directory;
  const std::string bytes(std::size_t{3} * 1024 * 1024 + 7, 'z');
  ASSERT_TRUE(base::write_file_atomically(directory.path() + "/f", bytes, 0600).has_value());
  const auto fd = base::open_read(directory.path() + "/f");
  const FileBody body(fd->get(), 5, bytes.size() - 5);
  FaultServer server(R"([{}])");
  HttpRequest request;
  request.method = "PUT";
  request.url = server.url();
  request.body = &body;

  ASSERT_TRUE(plain_client()->send(request).has_value());

  const Json seen = server.next_request();
  EXPECT_EQ(seen["headers"]["expect"], "100-continue");
  EXPECT_EQ(seen["body_bytes"], bytes.size() - 5);
}

TEST(CurlHttpClient, FailsWhenTheFileBecameShorter) {
  const testing::TempDir directory;
  ASSERT_TRUE(base::write_file_atomically(directory.path() + "/f", "short", 0600).has_value());
  const auto fd = base::open_read(directory.path() + "/f");
  const FileBody body(fd->get(), 0, 100);
  FaultServer server(R"([{}])");
  HttpRequest request;
  request.method = "PUT";
  request.url = server.url();
  request.body = &body;

  const auto response = plain_client()->send(request);

  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::kIo);
}

TEST(CurlHttpClient, DoesNotFollowARedirect) {
  FaultServer server(R"([{"status":302,"headers":{"Location":"http://169.254.169.254/"}}])");

  const auto response = get(server);

  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->status, 302);
  EXPECT_EQ(response->header("Location"), "http://169.254.169.254/");
}

TEST(CurlHttpClient, StreamsTheBodyOfASuccess) {
  FaultServer server(R"([{"body":")" + std::string(200000, 'b') + R"("}])");
  HttpRequest request;
  request.url = server.url();
  request.response_limit_bytes = 10;
  std::size_t received = 0;
  request.on_body = [&](std::string_view piece) -> Status {
    received += piece.size();
    return {};
  };

  const auto response = plain_client()->send(request);

  ASSERT_TRUE(response.has_value()) << response.error().text();
  EXPECT_EQ(received, 200000U);
  EXPECT_TRUE(response->body.empty());
}

TEST(CurlHttpClient, GivesTheSinksErrorBack) {
  FaultServer server(R"([{"do":"endless"}])");
  HttpRequest request;
  request.url = server.url();
  request.on_body = [](std::string_view) -> Status {
    return base::make_failure(ErrorCode::kIo, "disk full");
  };

  const auto response = plain_client()->send(request);

  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().message, "disk full");
}

TEST(CurlHttpClient, CutsAnEndlessBody) {
  EXPECT_EQ(code_for({{"do", "endless"}}), ErrorCode::kLimit);
  EXPECT_EQ(code_for({{"do", "endless"}, {"status", 500}}), ErrorCode::kLimit);
}

TEST(CurlHttpClient, CutsEndlessHeaders) {
  EXPECT_EQ(code_for({{"do", "endless_head"}}), ErrorCode::kLimit);
}

TEST(CurlHttpClient, TellsAnUnavailablePeerFromNonsense) {
  EXPECT_EQ(code_for({{"do", "reset"}}), ErrorCode::kUnavailable);
  EXPECT_EQ(code_for({{"do", "close"}}), ErrorCode::kUnavailable);
  EXPECT_EQ(code_for({{"do", "cut"}, {"body", "abc"}, {"length", 100}}), ErrorCode::kUnavailable);
  EXPECT_EQ(code_for({{"do", "garbage"}}), ErrorCode::kProtocol);
}

TEST(CurlHttpClient, GivesUpOnSilence) {
  EXPECT_EQ(code_for({{"do", "stall"}}), ErrorCode::kTimeout);
}

TEST(CurlHttpClient, RespectsTheTotalTimeout) {
  FaultServer server(R"([{"do":"stall"}])");
  HttpRequest request;
  request.url = server.url();
  request.total_timeout = 200ms;

  const auto response = plain_client()->send(request);

  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::kTimeout);
}

TEST(CurlHttpClient, StopsWhenAsked) {
  FaultServer server(R"([{"do":"stall"}])");
  std::stop_source stop;
  HttpRequest request;
  request.url = server.url();
  request.stop = stop.get_token();
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(100ms);
    stop.request_stop();
  });

  const auto response = plain_client()->send(request);

  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::kInterrupted);
}

TEST(CurlHttpClient, NamesTheHostThatRefuses) {
  HttpRequest request;
  {
    FaultServer server(R"([{}])");
    request.url = server.url("/k?secret=hunter2");
  }

  const auto response = plain_client()->send(request);

  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(response.error().text().find(request.url.authority()), std::string::npos);
  EXPECT_EQ(response.error().text().find("hunter2"), std::string::npos);
}

TEST(CurlHttpClient, RefusesPlainHttpUnlessAllowed) {
  HttpRequest request;
  request.url = *parse_url("http://127.0.0.1:1/");

  const auto response = (*make_curl_http_client({}))->send(request);

  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::kUsage);
}

TEST(CurlHttpClient, RefusesHeadersThatWouldForgeOthers) {
  HttpRequest request;
  request.url = *parse_url("http://127.0.0.1:1/");
  request.headers = {{"X-A", "b\r\nX-Admin: yes"}};

  const auto response = plain_client()->send(request);

  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::kUsage);
}

ClientOptions through_proxy(const FaultServer& proxy) {
  ClientOptions options;
  options.plain_http = PlainHttp::kAllow;
  options.proxy.kind = ProxyOptions::Kind::kUrl;
  options.proxy.url = base::Secret("http://user:hunter2@127.0.0.1:" + std::to_string(proxy.port()));
  return options;
}

TEST(CurlHttpClient, AsksTheProxyForATunnelAndTellsItsRefusalWithoutThePassword) {
  FaultServer proxy(R"([{"status":407},{"status":503}])");
  HttpRequest request;
  request.url = *parse_url("https://store.example.com/k");
  const auto client = make_curl_http_client(through_proxy(proxy)).value();

  const auto refused = client->send(request);
  const auto down = client->send(request);

  const Json seen = proxy.next_request();
  EXPECT_EQ(seen["method"], "CONNECT");
  EXPECT_EQ(seen["target"], "store.example.com:443");
  EXPECT_FALSE(seen["headers"].contains("authorization"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::kProtocol);
  EXPECT_NE(refused.error().message.find("407"), std::string::npos);
  EXPECT_EQ(refused.error().text().find("hunter2"), std::string::npos);
  ASSERT_FALSE(down.has_value());
  EXPECT_EQ(down.error().code, ErrorCode::kUnavailable);
}

TEST(CurlHttpClient, GoesThroughTheProxyForPlainHttpToo) {
  FaultServer proxy(R"([{"body":"by proxy"}])");
  HttpRequest request;
  request.url = *parse_url("http://store.example.com/k");

  const auto response = make_curl_http_client(through_proxy(proxy)).value()->send(request);

  ASSERT_TRUE(response.has_value()) << response.error().text();
  EXPECT_EQ(response->body, "by proxy");
  EXPECT_EQ(proxy.next_request()["target"], "http://store.example.com/k");
}

} // namespace
} // namespace jprof::http

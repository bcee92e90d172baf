// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
//
// Prints random requests and what lib/store makes of them, one JSON object a line, for
// sigv4_differential.py to compare with AWS's own implementation.
//
//   sigv4_cases COUNT SEED
#include "lib/base/digest.h"
#include "lib/base/encoding.h"
#include "lib/base/json.h"
#include "lib/store/sigv4.h"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>

namespace {

using namespace jprof;

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t limit) { return random_() % limit; }

  template <typename Container>
  const auto& one_of(const Container& all) {
    return all[below(std::size(all))];
  }

  // Mostly what keys are made of, with enough of everything else: signs, UTF-8, control characters.
  std::string text(std::size_t longest) {
    static const std::vector<std::string> kPieces{"a",
                                                  "Z",
                                                  "0",
                                                  "9",
                                                  "-",
                                                  "_",
                                                  ".",
                                                  "~",
                                                  "/",
                                                  "=",
                                                  ":",
                                                  "+",
                                                  " ",
                                                  "%",
                                                  "&",
                                                  "?",
                                                  "#",
                                                  "'",
                                                  "(",
                                                  ")",
                                                  "!",
                                                  "*",
                                                  ",",
                                                  ";",
                                                  "@",
                                                  "$",
                                                  "[",
                                                  "]",
                                                  "\"",
                                                  "<",
                                                  ">",
                                                  "\\",
                                                  "^",
                                                  "`",
                                                  "{",
                                                  "|",
                                                  "}",
                                                  "%2F",
                                                  "\xc3\xa9",
                                                  "..",
                                                  ".",
                                                  "//",
                                                  "\t",
                                                  "\n",
                                                  "\x7f",
                                                  "jprof",
                                                  "2026-11-21T10:00:00Z",
                                                  "\xe2\x82\xac",
                                                  "\xf0\x9f\x94\xa5"};
    std::string out;
    for (std::size_t pieces = below(longest + 1); pieces > 0; --pieces) {
      out += one_of(kPieces);
    }
    return out;
  }

  // What a header value may hold: inner blanks are what canonical forms differ in.
  std::string header_value() {
    static const std::vector<std::string> kPieces{"a", "B", "7", " ", "  ",
                                                  "=", ";", ",", "/", "\""};
    std::string out = "v";
    for (std::size_t pieces = below(12); pieces > 0; --pieces) {
      out += one_of(kPieces);
    }
    return out + "w";
  }

 private:
  std::mt19937_64 random_;
};

struct Case {
  store::SignableRequest request;
  store::AwsKeys keys;
  store::SigV4Scope scope;
  store::SystemSeconds now;
  std::string body;
};

Case random_case(Generator& generator) {
  static const std::vector<std::string> kMethods{"GET", "PUT", "POST", "HEAD", "DELETE"};
  static const std::vector<std::string> kHosts{"bucket.s3.us-east-1.amazonaws.com",
                                               "127.0.0.1:7070",
                                               "minio:9000",
                                               "[fd00::1]:8080",
                                               "s3.example.com:443",
                                               "s3.example.com:80"};
  static const std::vector<std::string> kSchemes{"https://", "http://"};
  static const std::vector<std::string> kRegions{"us-east-1", "eu-central-1", "auto", "cn-north-1"};
  static const std::vector<std::string> kNames{"prefix",    "uploads",  "partNumber", "uploadId",
                                               "list-type", "x",        "X",          "versionId",
                                               "a b",       "\xc3\xa9", "a.b",        "a-b"};
  Case out;
  out.request.method = generator.one_of(kMethods);
  out.request.url = http::parse_url(generator.one_of(kSchemes) + generator.one_of(kHosts)).value();
  out.request.url.path = "/" + base::percent_encode(generator.text(20), base::Slash::kKeep);
  std::set<std::string> used;
  std::vector<std::pair<std::string, std::string>> query;
  for (std::size_t i = generator.below(5); i > 0; --i) {
    const std::string& name = generator.one_of(kNames);
    if (used.insert(name).second) {
      query.emplace_back(name, generator.text(8));
    }
  }
  out.request.url.query = store::encode_query(query);
  for (std::size_t i = generator.below(4); i > 0; --i) {
    const std::string name = "X-Amz-Meta-" + std::string(1, static_cast<char>('a' + i)) + "-n";
    out.request.headers.push_back({name, generator.header_value()});
  }
  if (generator.below(2) == 0) {
    out.request.headers.push_back({"If-None-Match", "*"});
  }
  out.body = generator.text(30);
  out.request.payload_sha256 = base::sha256_hex(out.body);
  out.keys.access_key_id = "AK" + std::to_string(generator.below(1000000));
  out.keys.secret_access_key = base::Secret(generator.text(30) + "s");
  if (generator.below(3) == 0) {
    out.keys.session_token = base::Secret("t" + generator.header_value());
  }
  out.scope.region = generator.one_of(kRegions);
  // 1970 to 2100.
  out.now = store::SystemSeconds(std::chrono::seconds(generator.below(std::size_t{4102444800U})));
  return out;
}

base::Json as_json(const Case& one) {
  const auto added = store::sign_sigv4(one.request, one.keys, one.scope, one.now);
  const http::Url presigned =
      store::presign_sigv4(one.request, one.keys, one.scope, one.now, std::chrono::seconds(900));
  base::Json headers = base::Json::object();
  for (const http::Header& header : one.request.headers) {
    headers[header.name] = header.value;
  }
  return {{"method", one.request.method},
          {"url", one.request.url.to_string()},
          {"headers", std::move(headers)},
          {"body", base::hex(one.body)},
          {"id", one.keys.access_key_id},
          {"secret", base::hex(one.keys.secret_access_key.reveal())},
          {"token", std::string(one.keys.session_token.reveal())},
          {"region", one.scope.region},
          {"time", one.now.time_since_epoch().count()},
          {"authorization", std::string(http::find_header(added, "Authorization"))},
          {"presigned", presigned.to_string()}};
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: sigv4_cases COUNT SEED\n", stderr);
    return 2;
  }
  Generator generator(std::strtoull(argv[2], nullptr, 10));
  for (long left = std::strtol(argv[1], nullptr, 10); left > 0; --left) {
    std::puts(base::dump_json(as_json(random_case(generator))).c_str());
  }
  return 0;
}

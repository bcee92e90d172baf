// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/kube/api_status.h"

#include <gtest/gtest.h>

namespace jprof::kube {
namespace {

using base::ErrorCode;

const ApiAction kExec{"get,create", "pods/exec", "shop"};

// What a Kubernetes 1.34 API server sent.
constexpr const char* kForbidden =
    R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \"a\" is forbidden: User \"jane\" cannot get resource \"pods/exec\" in API group \"\" in the namespace \"shop\"","reason":"Forbidden","details":{"name":"a","kind":"pods"},"code":403})";

TEST(ApiStatus, WordsARefusalAsKubectlDoesAndNamesTheRole) {
  const base::Error error = api_error(403, kForbidden, kExec);

  EXPECT_EQ(error.code, ErrorCode::kForbidden);
  EXPECT_EQ(error.message,
            "Error from server (Forbidden): pods \"a\" is forbidden: User \"jane\" cannot get "
            "resource \"pods/exec\" in API group \"\" in the namespace \"shop\"");
  EXPECT_NE(error.cure.find("--verb=get,create --resource=pods/exec"), std::string::npos);
}

TEST(ApiStatus, TellsAnAdmissionPolicyFromAMissingRole) {
  const base::Error error = api_error(
      403, R"({"kind":"Status","status":"Failure","reason":"Forbidden","message":"denied by x"})",
      kExec);

  EXPECT_NE(error.cure.find("admission policy"), std::string::npos);
}

TEST(ApiStatus, GivesEachHttpStatusItsExitCode) {
  EXPECT_EQ(base::exit_code(api_error(400, "", kExec).code), 2);
  EXPECT_EQ(base::exit_code(api_error(401, "", kExec).code), 4);
  EXPECT_EQ(base::exit_code(api_error(403, "", kExec).code), 4);
  EXPECT_EQ(base::exit_code(api_error(404, "", kExec).code), 3);
  EXPECT_EQ(base::exit_code(api_error(422, "", kExec).code), 4);
  EXPECT_EQ(base::exit_code(api_error(429, "", kExec).code), 9);
  EXPECT_EQ(base::exit_code(api_error(500, "", kExec).code), 8);
  EXPECT_EQ(base::exit_code(api_error(302, "", kExec).code), 8);
}

TEST(ApiStatus, QuotesWhatIsNoStatusInPartAndPrintable) {
  const base::Error error = api_error(502, "\x1b[2J" + std::string(10'000, 'x'), kExec);

  EXPECT_EQ(error.code, ErrorCode::kUnavailable);
  EXPECT_EQ(error.message.find('\x1b'), std::string::npos);
  EXPECT_LT(error.message.size(), 500U);
}

TEST(ApiStatus, RefusesOtherJson) {
  EXPECT_FALSE(parse_api_status("[]").has_value());
  EXPECT_FALSE(parse_api_status("{}").has_value());
  EXPECT_FALSE(parse_api_status("{\"status\":3}").has_value());
  EXPECT_FALSE(parse_api_status("nonsense").has_value());
}

} // namespace
} // namespace jprof::kube

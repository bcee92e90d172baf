// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/file.h"
#include "lib/store/credentials.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <map>

namespace jprof::store {
namespace {

using base::ErrorCode;

Environment environment(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

void write(const std::string& path, std::string_view text) {
  ASSERT_TRUE(base::write_file_atomically(path, text, 0600).has_value());
}

TEST(AmbientCredentials, TakesTheEnvironmentFirst) {
  const auto keys = ambient_credentials(environment({{"AWS_ACCESS_KEY_ID", "AK"},
                                                     {"AWS_SECRET_ACCESS_KEY", "SK"},
                                                     {"AWS_SESSION_TOKEN", "ST"}}))
                        ->keys();

  ASSERT_TRUE(keys.has_value()) << keys.error().text();
  EXPECT_EQ(keys->access_key_id, "AK");
  EXPECT_EQ(keys->secret_access_key.reveal(), "SK");
  EXPECT_EQ(keys->session_token.reveal(), "ST");
}

TEST(AmbientCredentials, ReadsTheProfileOfTheSharedFiles) {
  const testing::TempDir home;
  ASSERT_TRUE(base::make_directories(home.path() + "/.aws", 0700).has_value());
  write(home.path() + "/.aws/credentials", "# comment\n[default]\naws_access_key_id=D\n"
                                           "aws_secret_access_key = DS\r\n\n[ work ]\n"
                                           "AWS_ACCESS_KEY_ID = W\naws_secret_access_key=W=S\n");
  write(home.path() + "/.aws/config",
        "[default]\nregion = eu-west-1\ns3 =\n  addressing_style = path\n"
        "[profile work]\nregion=us-west-2\naws_access_key_id=loses\n");

  const auto by_default = ambient_credentials(environment({{"HOME", home.path()}}))->keys();
  const auto work = environment({{"HOME", home.path()}, {"AWS_PROFILE", "work"}});
  const auto by_name = ambient_credentials(work)->keys();

  ASSERT_TRUE(by_default.has_value()) << by_default.error().text();
  EXPECT_EQ(by_default->access_key_id, "D");
  EXPECT_EQ(by_default->secret_access_key.reveal(), "DS");
  ASSERT_TRUE(by_name.has_value()) << by_name.error().text();
  EXPECT_EQ(by_name->access_key_id, "W");
  EXPECT_EQ(by_name->secret_access_key.reveal(), "W=S");
  EXPECT_EQ(profile_text(*load_aws_profile(work), "region"), "us-west-2");
}

TEST(AmbientCredentials, SaysWhereItLookedAndWhatToDo) {
  const testing::TempDir home;

  const auto keys = ambient_credentials(environment({{"HOME", home.path()}}))->keys();

  ASSERT_FALSE(keys.has_value());
  EXPECT_EQ(keys.error().code, ErrorCode::kUnauthenticated);
  EXPECT_NE(keys.error().cure.find("AWS_ACCESS_KEY_ID"), std::string::npos);
}

TEST(AmbientCredentials, NamesWhatItCannotDo) {
  const testing::TempDir home;
  write(home.path() + "/config", "[profile sso]\nsso_session = corp\n");

  const auto keys = ambient_credentials(environment({{"AWS_CONFIG_FILE", home.path() + "/config"},
                                                     {"AWS_PROFILE", "sso"}}))
                        ->keys();

  ASSERT_FALSE(keys.has_value());
  EXPECT_NE(keys.error().message.find("sso_session"), std::string::npos);
}

TEST(AmbientCredentials, RefusesAProfileThatIsNowhere) {
  const auto keys = ambient_credentials(environment({{"AWS_PROFILE", "typo"}}))->keys();

  ASSERT_FALSE(keys.has_value());
  EXPECT_EQ(keys.error().code, ErrorCode::kConfigInvalid);
}

std::string key_in(std::string_view text, std::string_view section = "default") {
  const auto found = parse_aws_section(text, section, "credentials");
  return found && *found ? std::string(profile_text(**found, "aws_access_key_id")) : "none";
}

// Each as Python's configparser reads it, which botocore uses.
TEST(AwsSection, TakesKeysWhereverTheyStand) {
  EXPECT_EQ(key_in("[default]\n  aws_access_key_id = AK\n  aws_secret_access_key = SK\n"), "AK");
  EXPECT_EQ(key_in("[default]\n\taws_access_key_id=AK\n"), "AK");
  EXPECT_EQ(key_in("  [default]\n    aws_access_key_id=AK\n"), "AK");
  EXPECT_EQ(key_in("[other]\n  aws_access_key_id=NO\n[default]\n    aws_access_key_id=AK\n"), "AK");
  EXPECT_EQ(key_in("[default]\n    region = x\n  aws_access_key_id=AK\n"), "AK");
  EXPECT_EQ(key_in("[default]\naws_access_key_id: AK\n"), "AK");
  // What stands further in than a setting belongs to its value.
  EXPECT_EQ(key_in("[default]\ns3 =\n  aws_access_key_id=NO\n"), "");
  EXPECT_EQ(key_in("[default]\ns3 =\n\n  # no end of it\n  aws_access_key_id=NO\n"), "");
  EXPECT_EQ(key_in("[default]\naws_access_key_id=AK\n [work]\n aws_access_key_id=NO\n"), "AK");
  EXPECT_EQ(key_in("[default]\n  s3 =\n    x = y\n  aws_access_key_id=AK\n"), "AK");
}

TEST(AwsSection, NamesTheLineButNotItsText) {
  const auto section = parse_aws_section("[default]\nhunter2\n", "default", "credentials");

  ASSERT_FALSE(section.has_value());
  EXPECT_NE(section.error().message.find("credentials, line 2"), std::string::npos);
  EXPECT_EQ(section.error().text().find("hunter2"), std::string::npos);
}

TEST(MountedCredentials, ReadsADirectoryAnewEachTime) {
  const testing::TempDir mount;
  write(mount.path() + "/AWS_ACCESS_KEY_ID", "AK1\n");
  write(mount.path() + "/AWS_SECRET_ACCESS_KEY", "SK1\r\n");
  const auto source = mounted_credentials(mount.path());

  const auto first = source->keys();
  write(mount.path() + "/AWS_ACCESS_KEY_ID", "AK2");
  const auto second = source->keys();

  ASSERT_TRUE(first.has_value()) << first.error().text();
  EXPECT_EQ(first->access_key_id, "AK1");
  EXPECT_EQ(first->secret_access_key.reveal(), "SK1");
  EXPECT_TRUE(first->session_token.empty());
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->access_key_id, "AK2");
}

TEST(MountedCredentials, ReadsAFileOfTheSharedForm) {
  const testing::TempDir mount;
  write(mount.path() + "/keys", "[default]\naws_access_key_id=A\naws_secret_access_key=B\n"
                                "aws_session_token=C\n");

  const auto keys = mounted_credentials(mount.path() + "/keys")->keys();

  ASSERT_TRUE(keys.has_value()) << keys.error().text();
  EXPECT_EQ(keys->session_token.reveal(), "C");
}

TEST(MountedCredentials, TellsWhatIsWrongWithoutTheSecret) {
  const testing::TempDir mount;
  write(mount.path() + "/access-key-id", "AK");
  EXPECT_EQ(mounted_credentials(mount.path())->keys().error().code, ErrorCode::kUnauthenticated);
  write(mount.path() + "/secret-access-key", "hunter2 hunter3");

  const auto keys = mounted_credentials(mount.path())->keys();

  ASSERT_FALSE(keys.has_value());
  EXPECT_EQ(keys.error().code, ErrorCode::kConfigInvalid);
  EXPECT_EQ(keys.error().text().find("hunter2"), std::string::npos);
  EXPECT_EQ(mounted_credentials("/nowhere")->keys().error().code, ErrorCode::kNotFound);
}

} // namespace
} // namespace jprof::store

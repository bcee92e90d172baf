// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/store/credentials.h"

#include "lib/base/file.h"

#include <algorithm>
#include <cerrno>
#include <sys/stat.h>

namespace jprof::store {

using base::ErrorCode;
using base::Secret;

namespace {

constexpr std::size_t kFileLimitBytes = std::size_t{64} * 1024;

// What goes into a header: a stray line end in a Secret would otherwise look like a wrong key.
bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

Result<AwsKeys> checked(AwsKeys keys, const std::string& where) {
  if (keys.access_key_id.empty() || keys.secret_access_key.empty()) {
    return base::make_failure(ErrorCode::kUnauthenticated,
                              where + " holds no pair of access key id and secret access key");
  }
  if (!is_printable(keys.access_key_id) || !is_printable(keys.secret_access_key.reveal()) ||
      !is_printable(keys.session_token.reveal()) ||
      keys.access_key_id.find('/') != std::string::npos) {
    return base::make_failure(ErrorCode::kConfigInvalid, where + " has a key with an invalid byte",
                              "look for white space or a line end inside the key");
  }
  return keys;
}

class StaticCredentials final : public CredentialsSource {
 public:
  explicit StaticCredentials(AwsKeys keys) : keys_(std::move(keys)) {}
  Result<AwsKeys> keys() override { return checked(keys_, "the configuration"); }

 private:
  AwsKeys keys_;
};

AwsKeys keys_of(const AwsProfile& profile) {
  return {std::string(profile_text(profile, "aws_access_key_id")),
          Secret(std::string(profile_text(profile, "aws_secret_access_key"))),
          Secret(std::string(profile_text(profile, "aws_session_token")))};
}

class MountedCredentials final : public CredentialsSource {
 public:
  explicit MountedCredentials(std::string path) : path_(std::move(path)) {}
  Result<AwsKeys> keys() override;

 private:
  Result<Secret> read_one(const std::vector<std::string>& names) const;

  std::string path_;
};

// The first of these files that exists; an empty Secret where none does.
Result<Secret> MountedCredentials::read_one(const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    auto text = base::read_file(path_ + "/" + name, kFileLimitBytes);
    if (text) {
      // kubectl create secret --from-file keeps the line end that editors leave.
      text->erase(text->find_last_not_of("\r\n") + 1);
      return Secret(std::move(*text));
    }
    if (text.error().code != ErrorCode::kNotFound) {
      return base::fail(std::move(text).error());
    }
  }
  return Secret();
}

Result<AwsKeys> MountedCredentials::keys() {
  struct stat info {};
  if (::stat(path_.c_str(), &info) != 0) {
    const int error = errno;
    return base::fail(base::errno_error(error, "cannot read store credentials " + path_)
                          .with_cure("mount the Secret there, readable by the container's user"));
  }
  if (!S_ISDIR(info.st_mode)) {
    JPROF_TRY_ASSIGN(const std::string text, base::read_file(path_, kFileLimitBytes));
    JPROF_TRY_ASSIGN(const auto profile, parse_aws_section(text, "default", path_));
    return checked(profile ? keys_of(*profile) : AwsKeys{}, path_);
  }
  JPROF_TRY_ASSIGN(const Secret id, read_one({"AWS_ACCESS_KEY_ID", "access-key-id"}));
  JPROF_TRY_ASSIGN(Secret secret, read_one({"AWS_SECRET_ACCESS_KEY", "secret-access-key"}));
  JPROF_TRY_ASSIGN(Secret token, read_one({"AWS_SESSION_TOKEN", "session-token"}));
  return checked({std::string(id.reveal()), std::move(secret), std::move(token)}, path_);
}

class AmbientCredentials final : public CredentialsSource {
 public:
  explicit AmbientCredentials(Environment environment) : environment_(std::move(environment)) {}
  Result<AwsKeys> keys() override;

 private:
  Environment environment_;
};

Result<AwsKeys> AmbientCredentials::keys() {
  AwsKeys keys{environment_("AWS_ACCESS_KEY_ID").value_or(""),
               Secret(environment_("AWS_SECRET_ACCESS_KEY").value_or("")),
               Secret(environment_("AWS_SESSION_TOKEN").value_or(""))};
  if (!keys.access_key_id.empty() || !keys.secret_access_key.empty()) {
    return checked(std::move(keys), "the environment");
  }
  JPROF_TRY_ASSIGN(const AwsProfile profile, load_aws_profile(environment_));
  keys = keys_of(profile);
  if (!keys.access_key_id.empty()) {
    return checked(std::move(keys), "the AWS profile");
  }
  constexpr const char* kCure = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, for example: "
                                "eval \"$(aws configure export-credentials --format env)\"";
  for (const char* other : {"role_arn", "sso_session", "sso_start_url", "credential_process",
                            "web_identity_token_file"}) {
    if (!profile_text(profile, other).empty()) {
      return base::make_failure(ErrorCode::kUnauthenticated,
                                std::string("the AWS profile gets its keys from ") + other +
                                    ", which jprof does not support",
                                kCure);
    }
  }
  return base::make_failure(ErrorCode::kUnauthenticated,
                            "no credentials for the store: neither the environment nor the AWS "
                            "shared files hold any",
                            kCure);
}

} // namespace

std::unique_ptr<CredentialsSource> static_credentials(AwsKeys keys) {
  return std::make_unique<StaticCredentials>(std::move(keys));
}

std::unique_ptr<CredentialsSource> mounted_credentials(std::string path) {
  return std::make_unique<MountedCredentials>(std::move(path));
}

std::unique_ptr<CredentialsSource> ambient_credentials(Environment environment) {
  return std::make_unique<AmbientCredentials>(std::move(environment));
}

} // namespace jprof::store

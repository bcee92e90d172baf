// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/store/aws_profile.h"
#include "lib/store/sigv4.h"

#include <memory>
#include <string>

namespace jprof::store {

// Where keys come from. Asked before every request, so that rotated ones take effect. One thread.
class CredentialsSource {
 public:
  virtual ~CredentialsSource() = default;
  // kUnauthenticated or kConfigInvalid, naming where it looked and what to do.
  virtual Result<AwsKeys> keys() = 0;
};

std::unique_ptr<CredentialsSource> static_credentials(AwsKeys keys);

// A mounted Secret. A directory: files AWS_ACCESS_KEY_ID (or access-key-id), AWS_SECRET_ACCESS_KEY
// (secret-access-key) and, if temporary, AWS_SESSION_TOKEN (session-token). A file: the form of
// ~/.aws/credentials, section [default]. Read at each call.
std::unique_ptr<CredentialsSource> mounted_credentials(std::string path);

// AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, else the profile of the shared
// files. A profile that needs more than static keys (a role, SSO, a process) is refused by name.
std::unique_ptr<CredentialsSource> ambient_credentials(Environment environment);

} // namespace jprof::store

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/result.h"
#include "lib/base/secret.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace jprof::store {

using base::Result;
using base::Status;

// Looks an environment variable up; a seam for tests.
using Environment = std::function<std::optional<std::string>(const char* name)>;
Environment process_environment();

// What a profile of the AWS shared files says: key (lower case) to value. Values are Secrets, since
// most are.
using AwsProfile = std::map<std::string, base::Secret, std::less<>>;

// Parses text in the format of ~/.aws/credentials and returns one section; none if there is no such
// section. `section` as written between the brackets. Lines that are neither a section, a setting
// nor a comment are kConfigInvalid, with the line's number but never its text.
Result<std::optional<AwsProfile>> parse_aws_section(std::string_view text, std::string_view section,
                                                    std::string_view file_name);

// The profile that AWS_PROFILE names, otherwise "default", from AWS_SHARED_CREDENTIALS_FILE or
// ~/.aws/credentials over AWS_CONFIG_FILE or ~/.aws/config. Files that do not exist count as empty;
// a profile that was requested by name and does not exist is kConfigInvalid.
Result<AwsProfile> load_aws_profile(const Environment& environment);

std::string_view profile_text(const AwsProfile& profile, std::string_view key);

} // namespace jprof::store

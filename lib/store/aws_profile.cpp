// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/store/aws_profile.h"

#include "lib/base/encoding.h"
#include "lib/base/file.h"
#include "lib/base/text.h"

#include <algorithm>
#include <cstdlib>

namespace jprof::store {

using base::ErrorCode;

namespace {

constexpr std::size_t kFileLimitBytes = std::size_t{1024} * 1024;

std::string named_or(const Environment& environment, const char* variable, std::string_view below) {
  if (const auto named = environment(variable); named && !named->empty()) {
    return *named;
  }
  const auto home = environment("HOME");
  return home && !home->empty() ? *home + std::string(below) : std::string();
}

// Merges a file's section into `profile`; what is already there wins.
Result<bool> merge(const std::string& path, std::string_view section, AwsProfile& profile) {
  if (path.empty()) {
    return false;
  }
  auto text = base::read_file(path, kFileLimitBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) {
    return false;
  }
  if (!text) {
    return base::fail(std::move(text).error());
  }
  JPROF_TRY_ASSIGN(auto found, parse_aws_section(*text, section, path));
  if (!found) {
    return false;
  }
  profile.merge(*found);
  return true;
}

} // namespace

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
}

Result<std::optional<AwsProfile>> parse_aws_section(std::string_view text, std::string_view section,
                                                    std::string_view file_name) {
  std::optional<AwsProfile> out;
  bool inside = false;
  // As botocore's parser has it: a line that stands further in than the setting before it goes on
  // with that one's value (what is below "s3 ="); any other begins anew, wherever it stands.
  bool after_setting = false;
  std::size_t indent = 0;
  int line_number = 0;
  while (!text.empty()) {
    const std::string_view raw = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(raw.size() + 1, text.size()));
    ++line_number;
    const std::string_view line = base::trimmed(raw);
    if (line.empty() || line.front() == '#' || line.front() == ';') {
      continue;
    }
    const std::size_t stands_at = raw.find_first_not_of(" \t\r");
    if (after_setting && stands_at > indent) {
      continue;
    }
    indent = stands_at;
    const auto delimiter = line.find_first_of("=:");
    after_setting = line.front() != '[' || line.find(']') == std::string_view::npos;
    if (!after_setting) {
      inside = base::trimmed(line.substr(1, line.find(']') - 1)) == section;
      if (inside && !out) {
        out.emplace();
      }
    } else if (delimiter == std::string_view::npos) {
      return base::make_failure(ErrorCode::kConfigInvalid,
                                std::string(file_name) + ", line " + std::to_string(line_number) +
                                    ": neither a [section] nor a setting");
    } else if (inside) {
      out->insert_or_assign(base::lowered(base::trimmed(line.substr(0, delimiter))),
                            base::Secret(std::string(base::trimmed(line.substr(delimiter + 1)))));
    }
  }
  return out;
}

Result<AwsProfile> load_aws_profile(const Environment& environment) {
  const auto asked = environment("AWS_PROFILE");
  const bool by_name = asked && !asked->empty();
  const std::string name = by_name ? *asked : "default";
  AwsProfile profile;
  JPROF_TRY_ASSIGN(const bool in_credentials,
                   merge(named_or(environment, "AWS_SHARED_CREDENTIALS_FILE", "/.aws/credentials"),
                         name, profile));
  // In the configuration file every section but the default one is called "profile NAME".
  const std::string section = name == "default" ? name : "profile " + name;
  JPROF_TRY_ASSIGN(
      const bool in_config,
      merge(named_or(environment, "AWS_CONFIG_FILE", "/.aws/config"), section, profile));
  if (by_name && !in_credentials && !in_config) {
    return base::make_failure(ErrorCode::kConfigInvalid,
                              "no AWS profile is named " + base::printable(name),
                              "check AWS_PROFILE against ~/.aws/credentials and ~/.aws/config");
  }
  return profile;
}

std::string_view profile_text(const AwsProfile& profile, std::string_view key) {
  const auto found = profile.find(key);
  return found == profile.end() ? std::string_view() : found->second.reveal();
}

} // namespace jprof::store

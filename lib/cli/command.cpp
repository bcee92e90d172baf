// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cli/command.h"

#include <CLI/CLI.hpp>

#include <charconv>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

namespace jprof::cli {

Option& Option::required() {
  option_->required();
  return *this;
}

Option& Option::group(const std::string& heading) {
  option_->group(heading);
  return *this;
}

Option& Option::environment(const std::string& variable) {
  option_->envname(variable);
  return *this;
}

Option& Option::show_default() {
  option_->capture_default_str();
  return *this;
}

Option& Option::repeated() {
  option_->allow_extra_args(false);
  return *this;
}

Option& Option::one_of(std::vector<std::string> words) {
  option_->check(CLI::IsMember(std::move(words)));
  return *this;
}

// CLI11's own ranges mention doubles of 300 digits, and call text that is not a number "not in
// range".
Option& Option::whole_number(std::int64_t least, std::int64_t most, const std::string& wanted,
                             const std::string& shown) {
  const auto check = [=](const std::string& word) {
    std::int64_t value = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, value);
    const bool good = error == std::errc() && stop == end && value >= least && value <= most;
    return good ? std::string() : "'" + word + "' is not " + wanted;
  };
  option_->check(CLI::Validator(check, shown));
  return *this;
}

Option& Option::between(std::int64_t least, std::int64_t most) {
  const std::string from = std::to_string(least);
  const std::string to = std::to_string(most);
  return whole_number(least, most, "a whole number from " + from + " to " + to, from + "-" + to);
}

Option& Option::positive() {
  return whole_number(1, std::numeric_limits<std::int64_t>::max(), "a whole number above 0",
                      "POSITIVE");
}

template <typename T>
Option Command::option(const std::string& names, T& value, const std::string& help) {
  return Option(*app_->add_option(names, value, help));
}

template Option Command::option(const std::string&, std::string&, const std::string&);
template Option Command::option(const std::string&, std::vector<std::string>&, const std::string&);
template Option Command::option(const std::string&, int&, const std::string&);
template Option Command::option(const std::string&, unsigned&, const std::string&);
template Option Command::option(const std::string&, std::uint64_t&, const std::string&);
template Option Command::option(const std::string&, double&, const std::string&);
template Option Command::option(const std::string&, std::optional<int>&, const std::string&);
template Option Command::option(const std::string&, std::optional<std::int64_t>&,
                                const std::string&);

Option Command::flag(const std::string& names, bool& value, const std::string& help) {
  return Option(*app_->add_flag(names, value, help));
}

Option Command::word_flag(const std::string& name, std::string& value,
                          std::vector<std::string> words, const std::string& help) {
  const std::string names = name + '{' + words.front() + '}';
  return Option(*app_->add_flag(names, value, help)->check(CLI::IsMember(std::move(words))));
}

std::string Command::name() const {
  return app_->get_name();
}

bool Command::takes_value(const std::string& flag) const {
  const CLI::Option* option = app_->get_option_no_throw(flag);
  return option != nullptr && option->get_items_expected_max() > 0;
}

std::vector<std::string> Command::long_flags() const {
  std::vector<std::string> out;
  for (const CLI::Option* option : app_->get_options()) {
    for (const std::string& name : option->get_lnames()) {
      out.push_back("--" + name);
    }
  }
  return out;
}

} // namespace jprof::cli

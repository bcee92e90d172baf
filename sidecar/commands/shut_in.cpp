// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/shut_in.h"

#include "lib/base/digest.h"
#include "sidecar/sandbox/sandbox.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <sys/stat.h>
#include <utility>

namespace jprof::sidecar {
namespace {

struct Free {
  void operator()(char* text) const { std::free(text); }
};

// A regular file is created and renamed, so its folder is needed; anything else is written into
// directly.
std::string place_of(const std::string& output) {
  const std::unique_ptr<char, Free> real(::realpath(output.c_str(), nullptr));
  const std::string path = real ? real.get() : output;
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    return path;
  }
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
}

} // namespace

void shut_in(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  base::sha256_hex(""); // its library looks for a configuration when it is first used
  sandbox::Paths paths;
  paths.readable = inputs;
  for (const std::string& output : outputs) {
    if (output != "-") {
      paths.writable.push_back(place_of(output));
    }
  }
  std::erase(paths.readable, "-");
  sandbox::enter(paths);
}

} // namespace jprof::sidecar

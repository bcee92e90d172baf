// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/md5.h"

#include <openssl/evp.h>

namespace jprof::base {

struct Md5Stream::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  bool good = EVP_DigestInit_ex(context, EVP_md5(), nullptr) == 1;
  ~State() { EVP_MD_CTX_free(context); }
};

Md5Stream::Md5Stream() : state_(std::make_unique<State>()) {}
Md5Stream::~Md5Stream() = default;

void Md5Stream::update(std::string_view bytes) {
  state_->good = state_->good && EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1;
}

std::optional<Md5> Md5Stream::finish() {
  Md5 out{};
  auto* const at = reinterpret_cast<unsigned char*>(out.data());
  const bool done = state_->good && EVP_DigestFinal_ex(state_->context, at, nullptr) == 1;
  return done ? std::optional(out) : std::nullopt;
}

} // namespace jprof::base

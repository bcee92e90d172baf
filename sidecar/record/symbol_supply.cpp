// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/symbol_supply.h"

#include "lib/base/file.h"
#include "sidecar/record/agent_channel.h"
#include "sidecar/record/region_memory.h"

#include <algorithm>
#include <span>
#include <string>

namespace jprof::record {
namespace {

// For each module: 100,000 symbols with their names. It is held only as long as one answer takes.
constexpr std::uint64_t kMaxBytes = 4U << 20;
constexpr std::uint64_t kMinBytes = 4096;
constexpr std::chrono::milliseconds kPatience{250}; // for one answer
constexpr std::chrono::milliseconds kHoldBack{500}; // for all of them

std::string read_piece(int memory, std::uint64_t bytes, const wire::SymbolsPiece& piece) {
  if (piece.bytes > bytes || piece.offset > bytes - piece.bytes) {
    return {};
  }
  std::string out(static_cast<std::size_t>(piece.bytes), '\0');
  const auto read =
      base::pread_exact(memory, std::as_writable_bytes(std::span(out)), piece.offset, "symbols");
  return read ? out : std::string();
}

} // namespace

void SymbolSupply::look(Clock::time_point now) {
  if (silent_) {
    return;
  }
  for (symbols::Module& module : symbolizer_.missing()) {
    wanted_.push_back(std::move(module));
  }
  ask(now);
}

void SymbolSupply::ask(Clock::time_point now) {
  if (memory_ || wanted_.empty()) {
    return;
  }
  // Symbols are part of the module, so they are no larger than it.
  const symbols::Module& module = wanted_.front();
  const std::uint64_t bytes = std::clamp(module.end - module.base, kMinBytes, kMaxBytes);
  auto memory = make_region(bytes);
  if (!memory || !send_symbols_wanted(socket_, module.base, bytes, memory->get())) {
    wanted_.clear(); // no memory or no agent: costs names, harms nothing
    return;
  }
  memory_ = std::move(*memory);
  bytes_ = bytes;
  asked_at_ = now;
}

bool SymbolSupply::take(const wire::SymbolsMessage& message, Clock::time_point now) {
  if (!memory_ || wanted_.empty() || message.base != wanted_.front().base) {
    return false; // not what was asked for
  }
  waited_ += now - asked_at_;
  symbols::ModulePieces pieces;
  pieces.symbols = read_piece(memory_.get(), bytes_, message.symbols);
  pieces.strings = read_piece(memory_.get(), bytes_, message.strings);
  pieces.frame_header = read_piece(memory_.get(), bytes_, message.frame_header);
  pieces.frame_header_address = message.frame_header.address;
  symbolizer_.supply(wanted_.front(), pieces);
  wanted_.pop_front();
  memory_.reset();
  ask(now);
  return true;
}

bool SymbolSupply::holds_back(Clock::time_point now) {
  if (!memory_) {
    return false;
  }
  const Clock::duration waiting = now - asked_at_;
  if (waiting > kPatience) {
    silent_ = true;
    wanted_.clear();
    memory_.reset();
    return false;
  }
  return waited_ + waiting < kHoldBack;
}

} // namespace jprof::record

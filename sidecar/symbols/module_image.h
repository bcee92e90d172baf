// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/elf/byte_source.h"

#include <cstdint>
#include <memory>
#include <string>

namespace jprof::symbols {

// What the agent copied out of a module's memory: foreign bytes, any of which may be wrong or
// missing.
struct ModulePieces {
  std::string symbols;                    // .dynsym
  std::string strings;                    // .dynstr
  std::string frame_header;               // .eh_frame_hdr
  std::uint64_t frame_header_address = 0; // link-time
};

// An ELF file that holds these pieces and nothing else, for the one bounded reader of such files.
std::unique_ptr<elf::ByteSource> make_image(const ModulePieces& pieces);

} // namespace jprof::symbols

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/recording/module_symbols.h"

#include "agent/control/control_channel.h"
#include "agent/os/modules.h"
#include "agent/os/system.h"

#include <elf.h>

namespace jprof::agent::recording {
namespace {

struct Copy {
  wire::SymbolsMessage* answer;
  int fd;
  std::uint64_t room;
  std::uint64_t used = 0;
};

wire::SymbolsPiece copy_piece(Copy& copy, std::uint64_t bias, std::uint64_t address,
                              std::uint64_t bytes) {
  wire::SymbolsPiece piece{.address = address - bias, .offset = copy.used, .bytes = 0};
  if (address == 0 || bytes == 0 || bytes > copy.room - copy.used) {
    return piece;
  }
  for (std::uint64_t done = 0; done < bytes;) {
    const long wrote =
        arch::system_call(SYS_pwrite64, copy.fd, static_cast<long>(address + done),
                          static_cast<long>(bytes - done), static_cast<long>(piece.offset + done));
    if (wrote <= 0) {
      return piece; // EFAULT or any other error: go on without this piece
    }
    done += static_cast<std::uint64_t>(wrote);
  }
  piece.bytes = bytes;
  copy.used = (copy.used + bytes + 7) & ~std::uint64_t{7};
  copy.used = copy.used < copy.room ? copy.used : copy.room;
  return piece;
}

bool copy_if_wanted(const os::LoadedModule& module, void* context) {
  auto& copy = *static_cast<Copy*>(context);
  if (module.base != copy.answer->base) {
    return true;
  }
  const os::DynamicSymbols found = os::dynamic_symbols(module);
  copy.answer->symbols =
      copy_piece(copy, module.bias, found.symbols, found.count * sizeof(Elf64_Sym));
  copy.answer->strings = copy_piece(copy, module.bias, found.strings, found.string_bytes);
  copy.answer->frame_header =
      copy_piece(copy, module.bias, module.eh_frame_header, module.eh_frame_header_bytes);
  return false;
}

} // namespace

wire::SymbolsMessage copy_symbols(const wire::SymbolsWantedMessage& wanted, int fd) {
  auto answer = make_message<wire::SymbolsMessage>(wire::ControlType::kSymbols);
  answer.base = wanted.base;
  if (fd >= 0 && os::is_allocated(fd, wanted.bytes)) {
    Copy copy{.answer = &answer, .fd = fd, .room = wanted.bytes};
    os::visit_modules(copy_if_wanted, &copy);
  }
  return answer;
}

} // namespace jprof::agent::recording

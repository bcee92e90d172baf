// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/call_frame_info.h"

#include "agent/sampling/byte_cursor.h"

namespace jprof::agent::sampling {
namespace {

using arch::load;

// Pointer encodings (LSB Core 10.5.1).
constexpr std::uint8_t kUdata4 = 0x03;
constexpr std::uint8_t kSdata4 = 0x0b;
constexpr std::uint8_t kAbsolute8 = 0x04;
constexpr std::uint8_t kSdata8 = 0x0c;
constexpr std::uint8_t kPcRelative = 0x10;
constexpr std::uint8_t kTableEncoding = 0x3b; // relative to the header, signed, four bytes

constexpr std::uint64_t kMaxRecordBytes = 1U << 16;
constexpr std::uint32_t kMaxInstructions = 1024;
constexpr std::size_t kMaxRemembered = 4;

enum class RuleKind : std::uint8_t { kSame, kUndefined, kAtCfa, kOther };
struct Rule {
  RuleKind kind = RuleKind::kSame;
  std::int64_t offset = 0;
};
enum class CfaKind : std::uint8_t { kRegister, kProcedureLinkage, kOther };
struct Row {
  CfaKind cfa = CfaKind::kOther;
  std::uint64_t cfa_register = 0;
  std::int64_t cfa_offset = 0;
  Rule frame_pointer;
  Rule return_address;
};

// What a CIE says about all its functions.
struct Common {
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 1;
  std::uint8_t pointer_encoding = 0;
  bool has_augmentation_data = false;
  std::uint64_t instructions = 0;
  std::uint64_t end = 0;
};

struct Function {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t instructions = 0;
  std::uint64_t instructions_end = 0;
  Common common;
};

bool read_pointer(ByteCursor& cursor, std::uint8_t encoding, std::uint64_t* value) {
  const std::uint64_t at = cursor.address();
  const std::uint64_t base = (encoding & 0x70) == kPcRelative ? at : 0;
  if ((encoding & 0x70) != kPcRelative && (encoding & 0x70) != 0) {
    return false;
  }
  switch (encoding & 0x0f) {
  case kSdata4:
    *value = base + static_cast<std::uint64_t>(
                        std::int64_t{static_cast<std::int32_t>(cursor.fixed<std::uint32_t>())});
    break;
  case kUdata4:
    *value = base + cursor.fixed<std::uint32_t>();
    break;
  case 0:
  case kAbsolute8:
  case kSdata8:
    *value = base + cursor.fixed<std::uint64_t>();
    break;
  default:
    return false;
  }
  return cursor.ok();
}

// The end of a record, past its length; false if the record has the 64-bit form or an absurd
// length.
bool open_record(std::uint64_t address, std::uint64_t* end) {
  std::uint32_t length = 0;
  if (!load(address, &length) || length < 8 || length > kMaxRecordBytes) {
    return false;
  }
  *end = address + 4 + length;
  return true;
}

bool read_augmentation(ByteCursor& cursor, const char* letters, Common* common) {
  const std::uint64_t bytes = cursor.unsigned_leb();
  const std::uint64_t end = cursor.address() + bytes;
  for (const char* letter = letters; *letter != 0 && cursor.ok(); ++letter) {
    if (*letter == 'R') {
      common->pointer_encoding = cursor.byte();
    } else if (*letter == 'L') {
      cursor.byte();
    } else if (*letter == 'P') {
      std::uint64_t ignored = 0;
      const auto encoding = static_cast<std::uint8_t>(cursor.byte() & 0x7f); // less "indirect"
      if (!read_pointer(cursor, encoding, &ignored)) {
        return false;
      }
    } else if (*letter != 'B') { // 'S', a signal frame, which we do not follow, or unknown
      return false;
    }
  }
  common->instructions = end;
  return cursor.ok();
}

bool read_common(std::uint64_t address, Common* common) {
  if (!open_record(address, &common->end)) {
    return false;
  }
  ByteCursor cursor(address + 4, common->end);
  if (cursor.fixed<std::uint32_t>() != 0) {
    return false; // not a CIE
  }
  const std::uint8_t version = cursor.byte();
  char letters[8] = {};
  for (std::size_t i = 0; i < sizeof letters; ++i) {
    letters[i] = static_cast<char>(cursor.byte());
    if (letters[i] == 0) {
      break;
    }
  }
  if (letters[sizeof letters - 1] != 0 || (version != 1 && version != 3)) {
    return false;
  }
  common->code_alignment = cursor.unsigned_leb();
  common->data_alignment = cursor.signed_leb();
  const std::uint64_t return_register = version == 1 ? cursor.byte() : cursor.unsigned_leb();
  if (!cursor.ok() || return_register != arch::kDwarfReturnAddress) {
    return false;
  }
  common->instructions = cursor.address();
  common->has_augmentation_data = letters[0] == 'z';
  return letters[0] == 0 || (letters[0] == 'z' && read_augmentation(cursor, letters + 1, common));
}

bool read_function(std::uint64_t address, Function* function) {
  std::uint64_t end = 0;
  if (!open_record(address, &end)) {
    return false;
  }
  ByteCursor cursor(address + 4, end);
  const std::uint32_t common_distance = cursor.fixed<std::uint32_t>();
  if (common_distance == 0 || !read_common(address + 4 - common_distance, &function->common)) {
    return false;
  }
  std::uint64_t length = 0;
  const std::uint8_t encoding = function->common.pointer_encoding;
  if (!read_pointer(cursor, encoding, &function->begin) ||
      !read_pointer(cursor, encoding & 0x0f, &length)) {
    return false;
  }
  function->end = function->begin + length;
  if (function->common.has_augmentation_data) {
    cursor.skip(cursor.unsigned_leb());
  }
  function->instructions = cursor.address();
  function->instructions_end = end;
  return cursor.ok();
}

// Binary search of .eh_frame_hdr for the last function that begins at or before `pc`.
bool find_function(std::uint64_t header, std::uint64_t pc, Function* function) {
  std::uint32_t encodings = 0;
  std::uint32_t count = 0;
  if (!load(header, &encodings) || !load(header + 8, &count) ||
      static_cast<std::uint8_t>(encodings >> 24) != kTableEncoding ||
      static_cast<std::uint8_t>(encodings >> 16) != kUdata4 || count == 0) {
    return false;
  }
  const std::uint64_t table = header + 12;
  const auto begin_of = [&](std::uint32_t index, bool* ok) {
    std::uint32_t distance = 0;
    *ok = load(table + std::uint64_t{index} * 8, &distance);
    return header + static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(distance)});
  };
  std::uint32_t low = 0;
  std::uint32_t high = count;
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    bool ok = false;
    const std::uint64_t begin = begin_of(middle, &ok);
    if (!ok) {
      return false;
    }
    (begin <= pc ? low : high) = middle;
  }
  std::uint32_t record = 0;
  return load(table + std::uint64_t{low} * 8 + 4, &record) &&
         read_function(
             header + static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(record)}),
             function) &&
         pc >= function->begin && pc < function->end;
}

// Runs call frame instructions (DWARF 5, 6.4.2) up to the row of one pc.
class RowBuilder {
 public:
  RowBuilder(const Function& function, std::uint64_t pc) : function_(function), pc_(pc) {}

  bool build(Row* row) {
    const Common& common = function_.common;
    location_ = ~std::uint64_t{0}; // the CIE's instructions advance nothing
    if (!run(ByteCursor(common.instructions, common.end))) {
      return false;
    }
    initial_ = row_;
    location_ = function_.begin;
    if (!run(ByteCursor(function_.instructions, function_.instructions_end))) {
      return false;
    }
    *row = row_;
    return true;
  }

 private:
  bool run(ByteCursor cursor) {
    for (std::uint32_t i = 0; i < kMaxInstructions && !cursor.at_end(); ++i) {
      const std::uint8_t opcode = cursor.byte();
      const std::uint8_t operand = opcode & 0x3f;
      bool more = true;
      switch (opcode >> 6) {
      case 1: // advance_loc
        more = advance(operand);
        break;
      case 2: // offset
        set(operand, RuleKind::kAtCfa,
            static_cast<std::int64_t>(cursor.unsigned_leb()) * function_.common.data_alignment);
        break;
      case 3: // restore
        restore(operand);
        break;
      default:
        if (!extended(opcode, cursor, &more)) {
          return false;
        }
      }
      if (!more) {
        return cursor.ok();
      }
    }
    return cursor.ok();
  }

  static std::uint64_t advance_of(std::uint8_t opcode, ByteCursor& cursor) {
    switch (opcode) {
    case 0x02:
      return cursor.byte();
    case 0x03:
      return cursor.fixed<std::uint16_t>();
    default:
      return cursor.fixed<std::uint32_t>();
    }
  }

  bool extended(std::uint8_t opcode, ByteCursor& cursor, bool* more) {
    const std::int64_t scale = function_.common.data_alignment;
    std::uint64_t number = 0;
    switch (opcode) {
    case 0x00: // nop
    case 0x2d: // AARCH64_negate_ra_state: we strip the return address anyway
      break;
    case 0x02: // advance_loc1, 2, 4
    case 0x03:
    case 0x04:
      *more = advance(advance_of(opcode, cursor));
      break;
    case 0x05: // offset_extended
      number = cursor.unsigned_leb();
      set(number, RuleKind::kAtCfa, static_cast<std::int64_t>(cursor.unsigned_leb()) * scale);
      break;
    case 0x06: // restore_extended
      restore(cursor.unsigned_leb());
      break;
    case 0x07: // undefined
      set(cursor.unsigned_leb(), RuleKind::kUndefined, 0);
      break;
    case 0x08: // same_value
      set(cursor.unsigned_leb(), RuleKind::kSame, 0);
      break;
    case 0x09: // register
      number = cursor.unsigned_leb();
      cursor.unsigned_leb();
      set(number, RuleKind::kOther, 0);
      break;
    case 0x0a: // remember_state
      if (remembered_count_ == kMaxRemembered) {
        return false;
      }
      remembered_[remembered_count_++] = row_;
      break;
    case 0x0b: // restore_state
      if (remembered_count_ == 0) {
        return false;
      }
      row_ = remembered_[--remembered_count_];
      break;
    case 0x10: // expression
    case 0x16: // val_expression
      set(cursor.unsigned_leb(), RuleKind::kOther, 0);
      cursor.skip(cursor.unsigned_leb());
      break;
    case 0x11: // offset_extended_sf
      number = cursor.unsigned_leb();
      set(number, RuleKind::kAtCfa, cursor.signed_leb() * scale);
      break;
    case 0x2e: // GNU_args_size
      cursor.unsigned_leb();
      break;
    default:
      return define_cfa(opcode, cursor);
    }
    return true;
  }

  // Handles the extended instructions that say how to find the frame's own address; false for
  // others.
  bool define_cfa(std::uint8_t opcode, ByteCursor& cursor) {
    const std::int64_t scale = function_.common.data_alignment;
    switch (opcode) {
    case 0x0c: // def_cfa
      row_.cfa = CfaKind::kRegister;
      row_.cfa_register = cursor.unsigned_leb();
      row_.cfa_offset = static_cast<std::int64_t>(cursor.unsigned_leb());
      break;
    case 0x0d: // def_cfa_register
      row_.cfa_register = cursor.unsigned_leb();
      break;
    case 0x0e: // def_cfa_offset
      row_.cfa_offset = static_cast<std::int64_t>(cursor.unsigned_leb());
      break;
    case 0x0f: // def_cfa_expression
      define_by_expression(cursor);
      break;
    case 0x12: // def_cfa_sf
      row_.cfa = CfaKind::kRegister;
      row_.cfa_register = cursor.unsigned_leb();
      row_.cfa_offset = cursor.signed_leb() * scale;
      break;
    case 0x13: // def_cfa_offset_sf
      row_.cfa_offset = cursor.signed_leb() * scale;
      break;
    default:
      return false;
    }
    return true;
  }

  // False if the next row would be past the pc.
  bool advance(std::uint64_t delta) {
    if (location_ == ~std::uint64_t{0}) {
      return true;
    }
    location_ += delta * function_.common.code_alignment;
    return location_ <= pc_;
  }

  // The only expression in use on x86-64: the linker's for its procedure linkage table, where the
  // frame grows by 8 in the last bytes of each 16-byte entry (LSB; binutils, elf64-x86-64.c).
  void define_by_expression(ByteCursor& cursor) {
    constexpr std::uint8_t kLinkage[] = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a,
                                         0x00, 0x2a, 0x33, 0x24, 0x22};
    const std::uint64_t bytes = cursor.unsigned_leb();
    const std::uint64_t end = cursor.address() + bytes;
    row_.cfa = CfaKind::kOther;
    if (bytes == sizeof kLinkage) {
      bool matches = true;
      for (std::size_t i = 0; i < sizeof kLinkage; ++i) {
        const std::uint8_t byte = cursor.byte();
        if (i == 6) { // lit10 or lit11: the byte of an entry where it grows
          row_.cfa_offset = byte - 0x30;
        } else {
          matches = matches && byte == kLinkage[i];
        }
      }
      row_.cfa = matches ? CfaKind::kProcedureLinkage : CfaKind::kOther;
    }
    cursor.skip(end - cursor.address());
  }

  Rule* rule_of(std::uint64_t number, Row& row) {
    if (number == arch::kDwarfFramePointer) {
      return &row.frame_pointer;
    }
    return number == arch::kDwarfReturnAddress ? &row.return_address : nullptr;
  }
  void set(std::uint64_t number, RuleKind kind, std::int64_t offset) {
    if (Rule* rule = rule_of(number, row_); rule != nullptr) {
      *rule = Rule{kind, offset};
    }
  }
  void restore(std::uint64_t number) {
    if (Rule* rule = rule_of(number, row_); rule != nullptr) {
      *rule = *rule_of(number, initial_);
    }
  }

  const Function& function_;
  std::uint64_t pc_;
  std::uint64_t location_ = 0;
  Row row_;
  Row initial_;
  Row remembered_[kMaxRemembered];
  std::size_t remembered_count_ = 0;
};

FrameRule rule_of(const Row& row) {
  FrameRule rule;
  if (row.return_address.kind == RuleKind::kUndefined) {
    rule.return_address = SavedIn::kNowhere;
    return rule;
  }
  const auto saved = [](const Rule& of) {
    return of.kind == RuleKind::kAtCfa ? SavedIn::kFrame : SavedIn::kRegister;
  };
  if (row.cfa == CfaKind::kProcedureLinkage) {
    rule.base = FrameBase::kLinkage;
  } else if (row.cfa == CfaKind::kRegister && row.cfa_register == arch::kDwarfStackPointer) {
    rule.base = FrameBase::kStackPointer;
  } else if (row.cfa == CfaKind::kRegister && row.cfa_register == arch::kDwarfFramePointer) {
    rule.base = FrameBase::kFramePointer;
  }
  // A frame that needs an expression or another register is not followed.
  if (row.return_address.kind == RuleKind::kOther || row.frame_pointer.kind == RuleKind::kOther) {
    rule.base = FrameBase::kUnknown;
  }
  rule.base_offset = row.cfa_offset;
  rule.return_address = saved(row.return_address);
  rule.return_address_offset = row.return_address.offset;
  rule.frame_pointer = saved(row.frame_pointer);
  rule.frame_pointer_offset = row.frame_pointer.offset;
  return rule;
}

std::uint64_t caller_sp(const FrameRule& rule, const arch::Registers& registers) {
  const auto offset = static_cast<std::uint64_t>(rule.base_offset);
  switch (rule.base) {
  case FrameBase::kStackPointer:
    return registers.sp + offset;
  case FrameBase::kFramePointer:
    return registers.fp + offset;
  default:
    return registers.sp + 8 + ((registers.pc & 15) >= offset ? 8 : 0);
  }
}

} // namespace

FrameRule find_frame_rule(const CodeModule& module, std::uint64_t pc) {
  Function function;
  Row row;
  const bool found = module.eh_frame_header != 0 &&
                     find_function(module.eh_frame_header, pc, &function) &&
                     RowBuilder(function, pc).build(&row);
  return found ? rule_of(row) : FrameRule{};
}

UnwindResult unwind_by_rule(const FrameRule& rule, arch::Registers& registers) {
  if (rule.return_address == SavedIn::kNowhere) {
    return UnwindResult::kOutermost;
  }
  if (rule.base == FrameBase::kUnknown) {
    return UnwindResult::kNoInformation;
  }
  const std::uint64_t sp = caller_sp(rule, registers);
  std::uint64_t return_address = registers.lr;
  if (rule.return_address == SavedIn::kFrame &&
      !load(sp + static_cast<std::uint64_t>(rule.return_address_offset), &return_address)) {
    return UnwindResult::kNoInformation;
  }
  if (rule.return_address == SavedIn::kRegister && registers.lr == 0) {
    return UnwindResult::kNoInformation;
  }
  std::uint64_t frame_pointer = registers.fp;
  if (rule.frame_pointer == SavedIn::kFrame &&
      !load(sp + static_cast<std::uint64_t>(rule.frame_pointer_offset), &frame_pointer)) {
    return UnwindResult::kNoInformation;
  }
  registers.sp = sp;
  registers.fp = frame_pointer;
  registers.pc = arch::strip_return_address(return_address);
  registers.lr = 0;
  return registers.pc != 0 ? UnwindResult::kUnwound : UnwindResult::kOutermost;
}

} // namespace jprof::agent::sampling

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/file.h"
#include "lib/elf/elf_file.h"
#include "sidecar/symbols/demangle.h"
#include "sidecar/symbols/symbolizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <random>
#include <span>
#include <string>
#include <sys/auxv.h>
#include <vector>

namespace jprof::symbols {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

FunctionName named(std::string name, std::string parameters) {
  return {std::move(name), std::move(parameters)};
}

void expect_demangled(const char* symbol, const FunctionName& expected) {
  const FunctionName got = demangle(symbol);
  EXPECT_EQ(got.name, expected.name) << symbol;
  EXPECT_EQ(got.parameters, expected.parameters) << symbol;
}

// Right sides by c++filt of binutils 2.40, with parameters and return types taken off by hand.
TEST(Demangle, GivesTheNameWithoutParameters) {
  expect_demangled("_ZN10JavaThread3runEv", named("JavaThread::run", "()"));
  expect_demangled("_ZNK3Foo3getEi", named("Foo::get", "(int) const"));
  expect_demangled("_ZN3FooclEi", named("Foo::operator()", "(int)"));
  expect_demangled("_ZN3FooclEv", named("Foo::operator()", "()"));
  expect_demangled("_ZN12_GLOBAL__N_14workEv", named("(anonymous namespace)::work", "()"));
  expect_demangled("_Z3maxIiET_S0_S0_", named("max<int>", "(int, int)"));
  expect_demangled("_ZN1AlsERKS_", named("A::operator<<", "(A const&)"));
  expect_demangled("_ZNSt6vectorIiSaIiEE9push_backERKi",
                   named("std::vector<int, std::allocator<int> >::push_back", "(int const&)"));
  expect_demangled("_ZN3Foo3barEv.constprop.0", named("Foo::bar", "() [clone .constprop.0]"));
  expect_demangled("malloc", named("malloc", ""));
  expect_demangled("_ZTV3Foo", named("Foo", "")); // no function; only must not be odd
}

TEST(Demangle, LeavesWhatIsNoSymbolAlone) {
  expect_demangled("", named("", ""));
  expect_demangled("_Z", named("_Z", ""));
  expect_demangled("_ZNNNNNN", named("_ZNNNNNN", ""));
  const std::string endless(100'000, 'Z');
  EXPECT_EQ(demangle("_Z" + endless).name, "_Z" + endless);
}

// Each level doubles the text of the one before: 60 of them would be 2^60 bytes.
TEST(Demangle, BoundsNamesThatGrowWithoutEnd) {
  // f(A, pair<A, A>, pair<pair<..>, pair<..>>, ...): a substitution for each parameter type.
  const auto substitution = [](int number) {
    static constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return number == 0 ? std::string("S_")
                       : "S" + std::string(1, kDigits[static_cast<std::size_t>(number - 1)]) + "_";
  };
  std::string symbol = "_Z1f1A"; // S_ is A
  // The first pair's template name is S0_, the pair itself S1_; each later one is one more.
  symbol += "1PIS_S_E";
  for (int level = 1; level < 30; ++level) {
    const std::string last = substitution(level + 1);
    symbol += substitution(1) + "I" + last + last + "E";
  }

  const FunctionName got = demangle(symbol);

  EXPECT_LE(got.name.size(), 4096U);
}

// This process's own modules, as an agent would describe them.
std::vector<wire::ModuleSlot> own_modules() {
  std::vector<wire::ModuleSlot> slots;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* opaque) {
        wire::ModuleSlot slot{};
        slot.bias = info->dlpi_addr;
        slot.base = UINT64_MAX;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          if (segment.p_type == PT_LOAD) {
            slot.base = std::min<std::uint64_t>(slot.base, info->dlpi_addr + segment.p_vaddr);
            slot.end = std::max<std::uint64_t>(slot.end,
                                               info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
          }
        }
        const std::string path = info->dlpi_name[0] == '\0' ? "/proc/self/exe" : info->dlpi_name;
        slot.path_bytes = static_cast<std::uint32_t>(path.size());
        std::memcpy(slot.path, path.data(), path.size());
        static_cast<std::vector<wire::ModuleSlot>*>(opaque)->push_back(slot);
        return 0;
      },
      &slots);
  return slots;
}

std::uint64_t address_of(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

// By libc's own handle: a sanitizer puts its own functions before those of libc.
const void* libc_function(const char* name) {
  return ::dlsym(::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), name);
}

TEST(Symbolizer, NamesFunctionsOfLibrariesProgramAndKernelLibrary) {
  Symbolizer symbolizer([](const std::string& path) { return base::open_read(path); });
  ASSERT_TRUE(symbolizer.set_modules(own_modules()));

  const AddressName library = symbolizer.name(address_of(libc_function("qsort_r")) + 3, 1);
  const AddressName program =
      symbolizer.name(address_of(reinterpret_cast<const void*>(&demangle)) + 1, 1);

  EXPECT_THAT(library.function, HasSubstr("qsort_r"));
  EXPECT_THAT(library.module, HasSubstr("libc.so"));
  EXPECT_FALSE(library.belongs_to_vm);
  EXPECT_EQ(program.function, "jprof::symbols::demangle");
  EXPECT_THAT(program.parameters, StartsWith("(std::basic_string_view"));
  if (const std::uint64_t vdso = ::getauxval(AT_SYSINFO_EHDR); vdso != 0) {
    // Some function of it begins within the first pages; which is the kernel's choice.
    bool named = false;
    for (std::uint64_t offset = 0; offset < 0x2000 && !named; offset += 16) {
      named = symbolizer.name(vdso + offset, 1).function.find("vdso_") != std::string::npos;
    }
    EXPECT_TRUE(named);
  }
  EXPECT_FALSE(symbolizer.set_modules(own_modules())); // nothing has changed
}

TEST(Symbolizer, PutsNamelessAddressesTogetherByFunction) {
  // A library without symbols: only its unwind table says where functions begin.
  Symbolizer symbolizer([](const std::string&) -> base::Result<base::UniqueFd> {
    return base::open_read("/lib64/ld-linux-x86-64.so.2");
  });
  wire::ModuleSlot slot{};
  slot.base = 0x100000;
  slot.end = 0x200000;
  slot.bias = 0x100000;
  std::memcpy(slot.path, "/x/libjvm.so", slot.path_bytes = 12);
  symbolizer.set_modules({slot});
  const auto file = elf::ElfFile::open(
      elf::make_file_source(base::open_read("/lib64/ld-linux-x86-64.so.2").value()));

  const AddressName name = symbolizer.name(0x100000 + 0x8000, 1);

  EXPECT_TRUE(name.belongs_to_vm);
  EXPECT_EQ(name.module, "/x/libjvm.so");
  EXPECT_FALSE(name.function.empty());
}

TEST(Symbolizer, RefusesAFileThatIsNotTheOneInMemory) {
  Symbolizer symbolizer([](const std::string& path) { return base::open_read(path); });
  std::vector<wire::ModuleSlot> modules = own_modules();
  for (wire::ModuleSlot& slot : modules) {
    slot.build_id_bytes = 20; // all zero: nobody's
  }
  symbolizer.set_modules(modules);

  const AddressName name = symbolizer.name(address_of(libc_function("qsort_r")), 1);

  EXPECT_THAT(name.function, HasSubstr("libc.so.6+0x"));
  ASSERT_FALSE(symbolizer.notes().empty());
  EXPECT_THAT(symbolizer.notes()[0], HasSubstr("build-id"));
}

TEST(Symbolizer, SaysWhatItCouldNotOpen) {
  Symbolizer symbolizer([](const std::string& path) -> base::Result<base::UniqueFd> {
    return base::make_failure(base::ErrorCode::kNotFound, "cannot open " + path);
  });
  wire::ModuleSlot slot{};
  slot.base = 0x1000;
  slot.end = 0x2000;
  slot.bias = 0x1000;
  std::memcpy(slot.path, "/gone/libx.so", slot.path_bytes = 13);
  symbolizer.set_modules({slot});

  EXPECT_EQ(symbolizer.name(0x1234, 1).function, "libx.so+0x234");
  EXPECT_EQ(symbolizer.name(0x1235, 1).function, "libx.so+0x235");
  EXPECT_EQ(symbolizer.name(0x9999, 1).function, "[unknown]");
  EXPECT_EQ(symbolizer.notes().size(), 1U);
}

// The pieces of a file as the agent would copy them out of memory.
ModulePieces pieces_of(const std::string& path) {
  const auto file = elf::ElfFile::open(elf::make_file_source(base::open_read(path).value()));
  const auto read = [&](const elf::Part& part) {
    std::string bytes(part.bytes, '\0');
    EXPECT_TRUE(file->source().read(part.offset, std::as_writable_bytes(std::span(bytes))));
    return bytes;
  };
  ModulePieces pieces;
  for (const elf::Part& section : file->sections()) {
    if (section.type == SHT_DYNSYM) {
      pieces.symbols = read(section);
      pieces.strings = read(file->sections()[section.link]);
    }
  }
  for (const elf::Part& segment : file->segments()) {
    if (segment.type == PT_GNU_EH_FRAME) {
      pieces.frame_header = read(segment);
      pieces.frame_header_address = segment.address;
    }
  }
  return pieces;
}

TEST(Symbolizer, NamesAModuleWithoutAFileByWhatWasSupplied) {
  Dl_info libc{};
  ASSERT_NE(::dladdr(libc_function("qsort_r"), &libc), 0);
  Symbolizer symbolizer([](const std::string& path) -> base::Result<base::UniqueFd> {
    if (path.find("libc.so") != std::string::npos) {
      return base::make_failure(base::ErrorCode::kNotFound, "cannot open " + path);
    }
    return base::open_read(path);
  });
  symbolizer.set_modules(own_modules());

  const std::vector<Module> missing = symbolizer.missing();
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_THAT(missing[0].path, HasSubstr("libc.so"));
  EXPECT_TRUE(symbolizer.missing().empty()) << "each is told once";
  symbolizer.supply(missing[0], pieces_of(libc.dli_fname));

  EXPECT_THAT(symbolizer.name(address_of(libc_function("qsort_r")), 1).function,
              HasSubstr("qsort_r"));
  ASSERT_EQ(symbolizer.notes().size(), 1U);
  EXPECT_THAT(symbolizer.notes()[0], HasSubstr("from the JVM's memory"));
}

TEST(Symbolizer, TakesAnyPieces) {
  std::mt19937 random(11);
  const ModulePieces sane = pieces_of("/proc/self/exe");
  for (int round = 0; round < 200; ++round) {
    Symbolizer symbolizer([](const std::string& path) -> base::Result<base::UniqueFd> {
      return base::make_failure(base::ErrorCode::kNotFound, "cannot open " + path);
    });
    wire::ModuleSlot slot{};
    slot.base = 0x1000;
    slot.end = 0x100000;
    std::memcpy(slot.path, "/x.so", slot.path_bytes = 5);
    symbolizer.set_modules({slot});
    ModulePieces pieces = sane;
    for (std::string* piece : {&pieces.symbols, &pieces.strings, &pieces.frame_header}) {
      piece->resize(random() % 4 == 0
                        ? 0
                        : piece->size() - random() % std::min<std::size_t>(piece->size(), 100));
      for (int i = 0; i < 64 && !piece->empty(); ++i) {
        (*piece)[random() % piece->size()] = static_cast<char>(random());
      }
    }
    pieces.frame_header_address = random();
    symbolizer.supply(symbolizer.missing().at(0), pieces);

    EXPECT_FALSE(symbolizer.name(0x1000 + random() % 0xff000, 1).function.empty());
  }
}

TEST(Symbolizer, KnowsWhichModuleWasThereThen) {
  Symbolizer symbolizer([](const std::string& path) -> base::Result<base::UniqueFd> {
    return base::make_failure(base::ErrorCode::kNotFound, "cannot open " + path);
  });
  wire::ModuleSlot before{};
  before.base = 0x1000;
  before.end = 0x2000;
  before.bias = 0x1000;
  before.unloaded_ns = 50;
  std::memcpy(before.path, "/a.so", before.path_bytes = 5);
  wire::ModuleSlot after = before;
  after.unloaded_ns = 0;
  std::memcpy(after.path, "/b.so", after.path_bytes = 5);
  after.loaded_ns = 60;
  symbolizer.set_modules({before, after});

  EXPECT_EQ(symbolizer.name(0x1001, 40).module, "/a.so");
  EXPECT_EQ(symbolizer.name(0x1001, 70).module, "/b.so");
}

} // namespace
} // namespace jprof::symbols

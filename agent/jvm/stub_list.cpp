// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/jvm/stub_list.h"

#include "agent/arch/safe_load.h"
#include "agent/os/modules.h"

namespace jprof::agent::jvm {
namespace {

using arch::word_at;
using sampling::StubName;
using sampling::StubNames;

// A node of the list that StubCodeDesc::_list begins (runtime/stubCodeGenerator.hpp): the next one,
// group, name, begin and end of the code; in 8, a number comes before the code.
constexpr std::uint64_t kGroup = 8;
constexpr std::uint64_t kName = 16;
constexpr std::uint64_t kBegin = 24;
constexpr std::uint64_t kBeginIn8 = 32;
constexpr std::uint64_t kNodeBytes = 48;
constexpr std::uint32_t kMinStubs = 16; // a shorter chain is not a list of a JVM's stubs

StubNames g_names;
std::uint64_t g_list = 0; // the address of StubCodeDesc::_list; 0: not yet found

struct Search {
  const sampling::VmLayout* vm;
  std::uint64_t list = 0;
  std::uint64_t image = 0; // of libjvm
  std::uint64_t image_end = 0;

  bool holds(std::uint64_t address) const { return address >= image && address < image_end; }
};

// Nearly everything that is examined is not a node.
bool can_be_node(std::uint64_t node) {
  return node != 0 && (node & 7) == 0 && arch::is_readable(node) &&
         arch::is_readable(node + kNodeBytes - sizeof(std::uint64_t));
}

// False if there is no such node at `node`.
bool read_node(const Search& search, std::uint64_t node, StubName* stub) {
  const std::uint64_t at = node + (search.vm->java_feature == 8 ? kBeginIn8 : kBegin);
  const std::uint64_t begin = word_at(at);
  const std::uint64_t end = word_at(at + 8);
  stub->text = word_at(node + kName);
  if (!search.vm->contains_code(begin) || end < begin || end > search.vm->code_high ||
      !search.holds(stub->text) || !search.holds(word_at(node + kGroup))) {
    return false;
  }
  stub->begin = static_cast<std::uint32_t>(begin - search.vm->code_low);
  stub->bytes = static_cast<std::uint32_t>(end - begin);
  return true;
}

// An insertion sort: the list is nearly sorted, with the newest and highest first.
void insert(StubNames& names, const StubName& stub) {
  std::uint32_t at = 0;
  while (at < names.count && names.stubs[at].begin < stub.begin) {
    ++at;
  }
  for (std::uint32_t i = names.count; i > at; --i) {
    names.stubs[i] = names.stubs[i - 1];
  }
  names.stubs[at] = stub;
  ++names.count;
}

// False, and no names, if the chain that begins with `node` is not a list of stubs.
bool read_list(const Search& search, std::uint64_t node) {
  g_names.count = 0;
  g_names.code_base = search.vm->code_low;
  for (; node != 0 && g_names.count < StubNames::kMax; node = word_at(node)) {
    StubName stub;
    if (!can_be_node(node) || !read_node(search, node, &stub)) {
      g_names.count = 0;
      return false;
    }
    insert(g_names, stub);
  }
  if (g_names.count < kMinStubs) {
    g_names.count = 0;
  }
  return g_names.count != 0;
}

// No symbol or table says where the list begins: finds the one word of libjvm's data that points to
// it.
void find_list(const os::LoadedModule& module, Search* search) {
  for (std::uint64_t at = (module.data_begin + 7) & ~std::uint64_t{7};
       g_list == 0 && at + 8 <= module.data_end; at += 8) {
    const std::uint64_t node = word_at(at);
    StubName stub;
    if (!search->holds(node) && !search->vm->contains_code(node) && can_be_node(node) &&
        read_node(*search, node, &stub) && read_list(*search, node)) {
      g_list = at;
    }
  }
}

void read_list_of(const os::LoadedModule& module, Search* search) {
  search->image = module.base;
  search->image_end = module.end;
  if (g_list == 0) {
    find_list(module, search);
  } else {
    read_list(*search, word_at(g_list)); // a JVM that has just started keeps adding to it
  }
}

} // namespace

const StubNames* read_stub_names(const sampling::VmLayout& vm) {
  Search search{.vm = &vm};
  os::visit_modules(
      [](const os::LoadedModule& module, void* context) {
        if (!os::starts_with(os::file_name(module.path), "libjvm.so")) {
          return true;
        }
        read_list_of(module, static_cast<Search*>(context));
        return false;
      },
      &search);
  return g_names.count != 0 ? &g_names : nullptr;
}

} // namespace jprof::agent::jvm

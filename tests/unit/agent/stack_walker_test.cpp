// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "agent/sampling/stack_walker.h"
#include "tests/unit/agent/fake_nmethod.h"
#include "tests/unit/agent/protected_loads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <sys/mman.h>
#include <thread>
#include <vector>

namespace jprof::agent::sampling {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kCodeBytes = 64 * kPage;
constexpr std::uint64_t kDataBytes = 64 * kPage;
constexpr std::uint64_t kFrozenThread = kCodeBytes + 50 * kPage;
constexpr std::array<std::uint64_t, 3> kHoles = {17 * kPage, kCodeBytes + 9 * kPage,
                                                 kCodeBytes + 40 * kPage};
constexpr std::uint32_t kMaxDepth = 256;
constexpr std::array<const char*, 7> kBlobNames = {"nmethod",
                                                   "native nmethod",
                                                   "Interpreter",
                                                   "I2C/C2I adapters",
                                                   "StubRoutines (1)",
                                                   "vtable chunks",
                                                   "StubRoutines (continuation stubs)"};

// A JVM gone mad: a code cache, stacks and metadata of random words, most of them pointers into it,
// with pages in it that cannot be read. The fields lie where some JVM might have them.
class MadJvm {
 public:
  explicit MadJvm(std::uint32_t seed) : random_(seed) {
    base_ =
        static_cast<std::uint8_t*>(mmap(nullptr, kCodeBytes + kDataBytes, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    names_.assign(64 * 1024, 0);
    table_.assign(4096, 0);
    for (std::uint64_t i = 0; i < (kCodeBytes + kDataBytes) / 8; ++i) {
      put(i, word());
    }
    segments_.resize(kCodeBytes / 64);
    for (std::uint8_t& segment : segments_) { // mostly blocks of a few segments
      segment = random_() % 16 == 0 ? static_cast<std::uint8_t>(random_()) : random_() % 4;
    }
    for (const std::uint64_t hole : kHoles) {
      mprotect(base_ + hole, kPage, PROT_NONE);
    }
    lay_out();
    const auto* words = reinterpret_cast<const std::uint64_t*>(base_);
    planted_.resize((kCodeBytes + kDataBytes) / 8);
    for (std::uint64_t i = 0; i < planted_.size(); ++i) {
      planted_[i] = is_hole(i) ? 0 : words[i];
    }
  }
  ~MadJvm() { munmap(base_, kCodeBytes + kDataBytes); }
  MadJvm(const MadJvm&) = delete;
  MadJvm& operator=(const MadJvm&) = delete;

  WalkedStack walk(std::vector<wire::Frame>& frames) {
    arch::Registers at;
    at.pc = random_() % 4 == 0 ? word() : address(random_() % kCodeBytes);
    at.sp = random_() % 8 == 0 ? word() : address(kCodeBytes + random_() % kDataBytes / 8 * 8);
    at.fp = random_() % 4 == 0 ? word() : at.sp + random_() % 512 * 8;
    at.lr = word();
    at.bcp = word();
    at.sender_sp = at.sp + random_() % 64 * 8;
    at.popped_return = word();
    names_committed_ = 8; // the names of the walks before are forgotten
    std::memset(names_.data(), 0, names_.size());
    std::memset(table_.data(), 0, table_.size() * sizeof table_[0]);
    const NameStore store{{names_.data(), names_.size(), &names_committed_},
                          {table_.data(), table_.size() - 1}};
    StackWalker walker(vm_, random_() % 8 == 0 ? nullptr : &frozen_, *modules_, store,
                       frames.data(), kMaxDepth);
    walker.use_cache(FrameCache(cached_.data(), cached_.size()), ++generation_);
    const std::uint64_t anywhere = address(kCodeBytes + random_() % kDataBytes);
    switch (random_() % 3) {
    case 0:
      return walker.walk(at, 0);
    case 1:
      return walker.walk(at, anywhere);
    default: // in native code, called by what is left to the thaw stub
      at.pc = address(kCodeBytes + 5 * kPage);
      at.sp = address(kFrozenThread + kPage);
      return walker.walk(at, address(kFrozenThread));
    }
  }

  // Another thread's part: code, stacks and metadata change under the walk. Half of the words
  // become what they were: a slow walk must not find code without any names and sizes in it.
  void scribble() {
    std::mt19937_64 random(99);
    while (!enough_.load()) {
      const std::uint64_t at = random() % planted_.size();
      if (is_hole(at)) {
        continue;
      }
      const std::uint64_t anywhere = address(random() % (kCodeBytes + kDataBytes));
      put(at, random() % 2 == 0 ? planted_[at] : anywhere & ~std::uint64_t{random() % 2 * 7});
    }
  }
  void end_scribbling() { enough_.store(true); }

 private:
  std::uint64_t address(std::uint64_t offset) const {
    return reinterpret_cast<std::uint64_t>(base_) + offset;
  }
  void put(std::uint64_t index, std::uint64_t value) {
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(base_) + index, value, __ATOMIC_RELAXED);
  }
  static bool is_hole(std::uint64_t index) {
    return std::find(kHoles.begin(), kHoles.end(), index * 8 / kPage * kPage) != kHoles.end();
  }
  std::uint64_t word() {
    switch (random_() % 10) {
    case 0:
      return random_();
    case 1:
      return random_() % 2 == 0 ? 0 : ~std::uint64_t{0} - random_() % 64;
    case 2: // two small numbers: sizes, offsets, indexes
      return (random_() % 256) << 32 | random_() % 256;
    case 3:
      return reinterpret_cast<std::uint64_t>(kBlobNames[random_() % kBlobNames.size()]);
    case 4:
    case 5:
      return address(random_() % kCodeBytes);
    default:
      return address(random_() % (kCodeBytes + kDataBytes) / 8 * 8);
    }
  }

  void lay_out() {
    vm_.java_feature = 17;
    vm_.heap_count = 1;
    vm_.code_low = address(0);
    vm_.code_high = address(kCodeBytes);
    vm_.heaps[0] = {vm_.code_low, vm_.code_high, reinterpret_cast<std::uint64_t>(segments_.data()),
                    6};
    vm_.heap_block_used = {8, 1, false};
    lay_out_nmethods(vm_);
    vm_.compiled.compile_id = 72;
    vm_.method = {.const_method = 0,
                  .access_flags = 8,
                  .constants = 0,
                  .code_size = 8,
                  .name_index = 10,
                  .signature_index = 12,
                  .const_method_bytes = 16,
                  .pool_holder = 0,
                  .pool_length = 8,
                  .pool_bytes = 16,
                  .klass_name = 0,
                  .symbol_length = 0,
                  .symbol_body = 2};
    vm_.thread = {.anchor_sp = 0,
                  .anchor_pc = 8,
                  .anchor_fp = 16,
                  .stack_base = 24,
                  .stack_size = 32,
                  .state = 40,
                  .os_thread = 48,
                  .os_thread_id = 0,
                  .bytes = 64};
    frozen_.virtual_thread = 56;
    frozen_.continuation = 8;
    frozen_.entry = 24; // as stack_base: within the stack or not
    frozen_.tail = 8;
    frozen_.parent = 0;
    frozen_.size = 8;
    frozen_.sp = 12;
    frozen_.bottom = 8;
    frozen_.stack = 16;
    frozen_.entry_method = address(kCodeBytes + kPage);
    frozen_.clock = {address(kCodeBytes), reinterpret_cast<std::uint64_t>(&collecting_)};
    plant_frozen();
    stubs_.code_base = vm_.code_low;
    for (std::uint32_t begin = 0; stubs_.count < 100; begin += 97) {
      stubs_.stubs[stubs_.count++] = {begin, 50 + begin % 60, word()};
    }
    vm_.stub_names = &stubs_;
    vm_.call_stub_return = address(33);
    vm_.entry_wrapper_words = arch::kCallWrapperWords;
    vm_.wrapper_anchor = 8;
    vm_.anchor_in_wrapper_sp = 0;
    vm_.anchor_in_wrapper_pc = 8;
    vm_.anchor_in_wrapper_fp = 16;
    // Native code in the data's first pages, with unwind tables of random bytes.
    modules_->count = 2;
    modules_->modules[0] = {address(kCodeBytes), address(kCodeBytes + 4 * kPage),
                            address(kCodeBytes + 20 * kPage)};
    modules_->modules[1] = {address(kCodeBytes + 4 * kPage), address(kCodeBytes + 30 * kPage), 0};
  }

  // One thread has left Java by the thaw stub, and has a way to a chunk of its stack; what is in
  // that is as mad as all the rest.
  void plant_frozen() {
    constexpr std::uint64_t kStub = 20 * kPage;
    segments_[kStub / 64] = 0;
    segments_[kStub / 64 + 1] = 1;
    put(kStub / 8 + 1, 1);                                                  // in use
    put(kStub / 8 + 2, reinterpret_cast<std::uint64_t>(kBlobNames.back())); // its blob's name
    put(kStub / 8 + 3, 512);                                                // size, no frame
    put(kStub / 8 + 4, std::uint64_t{48} << 32);                            // code
    const std::uint64_t thread = kFrozenThread / 8;
    put(thread, address(kFrozenThread + 2 * kPage)); // where it has left Java: sp, pc, fp
    put(thread + 1, address(kStub + 80));
    put(thread + 2, address(kFrozenThread + 2 * kPage + 64));
    put(thread + 3, address(kFrozenThread + 10 * kPage)); // stack base
    put(thread + 7, address(kFrozenThread + 64));         // handle, virtual thread, continuation
    put(thread + 8, address(kFrozenThread + 128));
    put(thread + 16 + 1, address(kFrozenThread + 192));
    put(thread + 24 + 1, address(kFrozenThread + 256));
    put(thread + 32 + 1, std::uint64_t{4} << 32 | 400); // sp, size and bottom of the chunk
  }

  std::mt19937_64 random_;
  std::uint8_t* base_ = nullptr;
  std::vector<std::uint64_t> planted_; // what the memory was before anything changed
  std::vector<std::uint8_t> segments_;
  std::vector<std::uint8_t> names_;
  std::vector<std::uint64_t> table_;
  std::uint64_t names_committed_ = 8;
  std::vector<FrameCache::Entry> cached_ = std::vector<FrameCache::Entry>(64);
  std::uint32_t generation_ = 0;
  VmLayout vm_;
  StubNames stubs_;
  FrozenLayout frozen_;
  std::uint8_t collecting_ = 0; // never
  std::unique_ptr<ModuleMap> modules_ = std::make_unique<ModuleMap>();
  std::atomic<bool> enough_{false};
};

class StackWalkerInAMadJvm : public ProtectedLoads {
 protected:
  void walk_often(MadJvm& jvm, int times) {
    std::vector<wire::Frame> frames(kMaxDepth);
    for (int i = 0; i < times; ++i) {
      const WalkedStack walked = jvm.walk(frames);
      ASSERT_LE(walked.depth, kMaxDepth);
      deepest_ = std::max(deepest_, walked.depth);
      ++errors_[static_cast<std::size_t>(walked.error)];
      for (std::uint32_t frame = 0; frame < walked.depth; ++frame) {
        const auto kind = static_cast<std::size_t>(wire::frame_kind(frames[frame]));
        ASSERT_LE(kind, static_cast<std::size_t>(wire::FrameKind::kJavaNative));
        ++kinds_[kind];
      }
    }
  }
  // Otherwise the madness has not reached the code that it is meant for.
  void expect_all_paths() const {
    EXPECT_GE(deepest_, 4U);
    for (const auto kind :
         {wire::FrameKind::kNative, wire::FrameKind::kStub, wire::FrameKind::kError}) {
      EXPECT_GT(kinds_[static_cast<std::size_t>(kind)], 0U) << static_cast<int>(kind);
    }
    for (const auto error : {wire::ErrorFrame::kNotWalkable, wire::ErrorFrame::kBrokenStack,
                             wire::ErrorFrame::kUnknownBlob, wire::ErrorFrame::kNoMethod}) {
      EXPECT_GT(errors_[static_cast<std::size_t>(error)], 0U) << static_cast<int>(error);
    }
  }

  std::uint32_t deepest_ = 0;
  std::array<std::uint64_t, 16> errors_{};
  std::array<std::uint64_t, 16> kinds_{};
};

TEST_F(StackWalkerInAMadJvm, AlwaysComesBack) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    MadJvm jvm(seed);
    walk_often(jvm, 1000);
  }

  expect_all_paths();
  EXPECT_GT(errors_[static_cast<std::size_t>(wire::ErrorFrame::kFrozenFrames)], 0U);
}

TEST_F(StackWalkerInAMadJvm, ComesBackWhileEverythingChanges) {
  MadJvm jvm(7);
  std::thread other([&] { jvm.scribble(); });

  walk_often(jvm, 10'000);

  jvm.end_scribbling();
  other.join();
  expect_all_paths();
}

} // namespace
} // namespace jprof::agent::sampling

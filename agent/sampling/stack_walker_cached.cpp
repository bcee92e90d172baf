// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// How StackWalker steps past compiled callers that it has met before (frame_cache.h).
//
// The cache keeps what an nmethod's tables say about a return address, and these tables never
// change. So an entry is true as long as the nmethod is the same. Three checks prove that each
// time:
//   - the code cache says that the block that holds the return address begins at the nmethod,
//   - and that the block is in use. Without these two, the header of a freed nmethod would pass:
//   the
//     code cache gives away the end of a free block first, and leaves what is at its front;
//   - the compile id in the header is the one recorded. HotSpot counts it up for each compilation,
//     so another nmethod at the same address has another id.
// The names are those of the nmethod's own methods, which it keeps alive as long as it is on a
// stack; a redefined class gets new methods, and code that was compiled before keeps the old ones.
// None of this depends on epochs, safepoints or class unloading.
//
// A return address that deoptimisation has put in a frame says nothing about what was there before:
// it is never kept. Nor are frames without a name, nor anything read while the nmethod changed.
#include "agent/arch/safe_load.h"
#include "agent/sampling/stack_walker.h"

namespace jprof::agent::sampling {
namespace {

using wire::FrameKind;

constexpr std::uint64_t kMinFrameBytes = 16;
constexpr std::uint32_t kMaxCachedFrames = FrameCache::kMaxPieces * CachedFrames::kMaxFrames;

// True if these are all the frames of one physical frame, each with a name.
bool are_whole(const wire::Frame* frames, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    if (wire::frame_kind(frames[i]) == FrameKind::kError || wire::frame_name(frames[i]) == 0) {
      return false;
    }
  }
  return count != 0 && wire::frame_kind(frames[count - 1]) != FrameKind::kInlined;
}

} // namespace

// 0 where it cannot be read.
std::uint32_t StackWalker::compile_id(std::uint64_t blob) const {
  std::uint32_t id = 0;
  return vm_.compiled.compile_id >= 0 &&
                 arch::load(blob + static_cast<std::uint64_t>(vm_.compiled.compile_id), &id)
             ? id
             : 0;
}

// Judges the frame that is being left. If a frame waits for a call that can reach a safepoint, its
// code says which inlined method makes the call, however old the code is.
void StackWalker::note_age(std::uint32_t id, bool is_native) {
  if (old_code_ != nullptr && innermost_ && (interrupted_ || in_java_) && !is_native) {
    result_.in_old_code = old_code_->holds(id);
  }
}

// The first frames at a return address, if they are known and its nmethod is still there.
bool StackWalker::find_cached(std::uint64_t pc, CachedFrames* first) const {
  return cache_.is_usable() && vm_.contains_code(pc) && cache_.find(pc, 0, generation_, first) &&
         is_in_blob(vm_, pc, first->blob) && compile_id(first->blob) == first->compile_id;
}

// Pushes all frames that begin with `first` at the current return address. False, with none pushed,
// if some are no longer in the cache.
bool StackWalker::push_cached(const CachedFrames& first) {
  const std::uint32_t depth = result_.depth;
  CachedFrames piece = first;
  for (std::uint32_t i = 1;; ++i) {
    for (std::uint32_t frame = 0; frame < piece.count; ++frame) {
      push(piece.frames[frame]);
    }
    if (!piece.has_more) {
      ++result_.cache_hits;
      return true;
    }
    if (!cache_.find(at_.pc, i, generation_, &piece) || piece.compile_id != first.compile_id ||
        piece.blob != first.blob) {
      result_.depth = depth;
      return false;
    }
  }
}

// False, with nothing done, if the caller is not in the cache. Otherwise `left` says whether the
// walk continues.
bool StackWalker::step_cached(bool* left) {
  CachedFrames cached;
  if (!find_cached(at_.pc, &cached) || reaches_entry(cached.frame_bytes) || !push_cached(cached)) {
    return false;
  }
  CodeBlob blob;
  blob.address = cached.blob;
  blob.frame_bytes = cached.frame_bytes;
  blob.kind = BlobKind::kCompiled;
  note_age(cached.compile_id, cached.is_native);
  *left = leave_compiled(blob, cached.is_native);
  return true;
}

bool StackWalker::leave_compiled(const CodeBlob& blob, bool is_native) {
  if (!leave_frame_of(blob)) {
    return false;
  }
  if (is_native && native_caller_ == 0) {
    native_caller_ = at_.pc;
    native_depth_ = result_.depth;
  }
  return true;
}

// Only return addresses of calls are cached.
bool StackWalker::is_cached_call(std::uint64_t pc) const {
  CachedFrames cached;
  return leaf_.end == 0 && find_cached(pc, &cached);
}

// Caches the frames from `depth` on, which were read from the nmethod that had this compile id
// before.
void StackWalker::keep_frames(const CodeBlob& blob, std::uint32_t id, std::uint32_t depth,
                              bool is_native) {
  const std::uint32_t count = result_.depth - depth;
  result_.cache_misses += cache_.is_usable() ? 1U : 0U;
  if (id == 0 || !cache_.is_usable() || count > kMaxCachedFrames || result_.depth >= max_depth_ ||
      blob.frame_bytes < kMinFrameBytes || blob.frame_bytes > arch::kMaxFrameBytes ||
      !are_whole(frames_ + depth, count) || !is_call_return(at_.pc) ||
      !is_in_blob(vm_, at_.pc, blob.address) || compile_id(blob.address) != id) {
    return;
  }
  CachedFrames piece;
  piece.blob = blob.address;
  piece.compile_id = id;
  piece.frame_bytes = static_cast<std::uint32_t>(blob.frame_bytes);
  piece.is_native = is_native;
  for (std::uint32_t done = 0; done < count; done += piece.count) {
    const std::uint32_t left = count - done;
    piece.count = static_cast<std::uint8_t>(
        left < CachedFrames::kMaxFrames ? left : CachedFrames::kMaxFrames);
    piece.has_more = left > piece.count;
    __builtin_memcpy(piece.frames, frames_ + depth + done, piece.count * sizeof(wire::Frame));
    const auto put = cache_.put(at_.pc, done / CachedFrames::kMaxFrames, generation_, piece);
    result_.cache_evictions += put == FrameCache::Put::kEvicted ? 1U : 0U;
  }
}

} // namespace jprof::agent::sampling

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/recording_info.h"

#include "lib/base/utf8.h"
#include "lib/profile/byte_codec.h"
#include "lib/profile/recording_format.h"

#include <algorithm>

namespace jprof::profile {
namespace {

using std::chrono::duration_cast;
using std::chrono::nanoseconds;
using std::chrono::system_clock;

// Facts and losses are few; an untrusted file may claim millions.
constexpr std::size_t kMaxEntries = 4096;

constexpr std::uint64_t tag_of(InfoTag tag) {
  return static_cast<std::uint64_t>(tag);
}
constexpr std::uint64_t tag_of(EventTag tag) {
  return static_cast<std::uint64_t>(tag);
}

std::string clean(std::string_view text) {
  return base::sanitize_utf8(text);
}

nanoseconds positive(std::int64_t nanos) {
  return nanoseconds(std::max<std::int64_t>(nanos, 0));
}

Unit unit_of(std::uint64_t value) {
  return value <= static_cast<std::uint64_t>(Unit::kBytes) ? static_cast<Unit>(value)
                                                           : Unit::kSamples;
}

void decode_loss(ByteReader in, EventInfo& out) {
  Loss loss{.reason = clean(in.text()), .samples = in.varint(), .weight = in.varint()};
  if (in.ok() && out.losses.size() < kMaxEntries) {
    out.losses.push_back(std::move(loss));
  }
}

void decode_gap(ByteReader in, EventInfo& out) {
  Gap gap;
  gap.reason = clean(in.text());
  gap.from = positive(in.zigzag());
  gap.to = std::max(gap.from, positive(in.zigzag()));
  gap.samples = in.varint();
  if (in.ok() && out.gaps.size() < kMaxEntries) {
    out.gaps.push_back(std::move(gap));
  }
}

void decode_fact(ByteReader in, ProfileInfo& out) {
  std::string key = clean(in.text());
  std::string value = clean(in.text());
  if (in.ok() && out.facts.size() < kMaxEntries) {
    out.facts.emplace_back(std::move(key), std::move(value));
  }
}

void decode_event_field(EventTag tag, std::string_view bytes, EventInfo& out) {
  ByteReader in(bytes);
  switch (tag) {
  case EventTag::kName:
    out.name = clean(bytes);
    break;
  case EventTag::kUnit:
    out.unit = unit_of(in.varint());
    break;
  case EventTag::kEngine:
    out.engine = clean(bytes);
    break;
  case EventTag::kWalker:
    out.walker = clean(bytes);
    break;
  case EventTag::kInterval:
    out.interval = positive(in.zigzag());
    break;
  case EventTag::kIntervalGot:
    out.interval_got = positive(in.zigzag());
    break;
  case EventTag::kLoss:
    decode_loss(in, out);
    break;
  case EventTag::kGap:
    decode_gap(in, out);
    break;
  }
}

bool decode_event(std::string_view bytes, EventInfo& out) {
  ByteReader in(bytes);
  std::uint64_t tag = 0;
  std::string_view content;
  while (in.field(tag, content)) {
    decode_event_field(static_cast<EventTag>(tag), content, out);
  }
  return in.ok();
}

bool decode_field(InfoTag tag, std::string_view bytes, ProfileInfo& out) {
  ByteReader in(bytes);
  switch (tag) {
  case InfoTag::kTitle:
    out.title = clean(bytes);
    break;
  case InfoTag::kEvent:
    return out.events.size() < kMaxEvents && decode_event(bytes, out.events.emplace_back());
  case InfoTag::kStart:
    out.start =
        system_clock::time_point(duration_cast<system_clock::duration>(nanoseconds(in.zigzag())));
    break;
  case InfoTag::kDuration:
    out.duration = positive(in.zigzag());
    break;
  case InfoTag::kHasTimes:
    out.has_times = in.varint() != 0;
    break;
  case InfoTag::kHasThreads:
    out.has_threads = in.varint() != 0;
    break;
  case InfoTag::kPartial:
    out.partial = true;
    out.partial_reason = clean(bytes);
    break;
  case InfoTag::kFact:
    decode_fact(in, out);
    break;
  }
  return true;
}

void encode_event(const EventInfo& event, ByteWriter& out) {
  ByteWriter fields;
  fields.field(tag_of(EventTag::kName), event.name);
  fields.varint_field(tag_of(EventTag::kUnit), static_cast<std::uint64_t>(event.unit));
  fields.field(tag_of(EventTag::kEngine), event.engine);
  fields.field(tag_of(EventTag::kWalker), event.walker);
  fields.zigzag_field(tag_of(EventTag::kInterval), event.interval.count());
  fields.zigzag_field(tag_of(EventTag::kIntervalGot), event.interval_got.count());
  for (const Loss& loss : event.losses) {
    ByteWriter inner;
    inner.text(loss.reason);
    inner.varint(loss.samples);
    inner.varint(loss.weight);
    fields.field(tag_of(EventTag::kLoss), inner.bytes());
  }
  for (const Gap& gap : event.gaps) {
    ByteWriter inner;
    inner.text(gap.reason);
    inner.zigzag(gap.from.count());
    inner.zigzag(gap.to.count());
    inner.varint(gap.samples);
    fields.field(tag_of(EventTag::kGap), inner.bytes());
  }
  out.field(tag_of(InfoTag::kEvent), fields.bytes());
}

} // namespace

std::string encode_info(const ProfileInfo& info) {
  ByteWriter out;
  out.field(tag_of(InfoTag::kTitle), info.title);
  for (const EventInfo& event : info.events) {
    encode_event(event, out);
  }
  out.zigzag_field(tag_of(InfoTag::kStart),
                   duration_cast<nanoseconds>(info.start.time_since_epoch()).count());
  out.zigzag_field(tag_of(InfoTag::kDuration), info.duration.count());
  out.varint_field(tag_of(InfoTag::kHasTimes), info.has_times ? 1 : 0);
  out.varint_field(tag_of(InfoTag::kHasThreads), info.has_threads ? 1 : 0);
  if (info.partial) {
    out.field(tag_of(InfoTag::kPartial), info.partial_reason);
  }
  for (const auto& [key, value] : info.facts) {
    ByteWriter inner;
    inner.text(key);
    inner.text(value);
    out.field(tag_of(InfoTag::kFact), inner.bytes());
  }
  return out.take();
}

bool decode_info(std::string_view bytes, ProfileInfo& out) {
  out = ProfileInfo{};
  out.events.clear();
  ByteReader in(bytes);
  std::uint64_t tag = 0;
  std::string_view content;
  bool sound = true;
  while (sound && in.field(tag, content)) {
    sound = decode_field(static_cast<InfoTag>(tag), content, out);
  }
  if (out.events.empty()) {
    out.events.emplace_back();
    sound = false;
  }
  return sound && in.ok();
}

} // namespace jprof::profile

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Stands for `/jprof session` where the plugin is tested without a JVM: speaks real frames on stdin
// and stdout and answers with files whose bytes follow from the capture's id, so that a second
// connection goes on where a first one was cut.
//
//   scripted_session FILE_BYTES [MODE]
//   MODE: ok, busy, partial, garbage, silent, newer, evil-name, bad-digest, too-long, no-hello,
//         jvm-refuses (after it was accepted), other-user (targets: a JVM of uid 1234, gid 5678),
//         own-page (sends pages and texts of its own beside the recording, asked or not),
//         only-a-page (and no recording),
//         salvaged:FILE (killed in mid-capture: there is this recording and nothing else);
//         discards, seals-first, hangs-at-end (how a second interrupt is answered: it seals until
//         then); ends-as-bug; attach (an answer that repeats the command; others have FILE_BYTES)
#include "lib/base/digest.h"
#include "lib/base/encoding.h"
#include "lib/base/file.h"
#include "lib/base/timestamp.h"
#include "lib/capture/bundle.h"
#include "lib/capture/manifest.h"
#include "lib/capture/measured.h"
#include "lib/profile/profile_builder.h"
#include "lib/profile/recording_writer.h"
#include "lib/protocol/frame.h"
#include "lib/protocol/hello.h"
#include "lib/protocol/reply.h"
#include "lib/protocol/request.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <poll.h>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

using namespace jprof;
using protocol::Frame;
using protocol::FrameType;

std::size_t file_bytes = 0;
std::string mode = "ok";

void send(FrameType type, const std::string& payload) {
  if (!base::write_all(STDOUT_FILENO, protocol::encode_frame(type, payload), "stdout")) {
    std::exit(0); // the caller is gone
  }
}

// The next frame, or nothing in time. Ends with stdin.
std::optional<Frame> receive(protocol::FrameDecoder& decoder, int timeout_ms) {
  for (;;) {
    auto frame = decoder.take();
    if (!frame) {
      std::exit(9);
    }
    if (*frame) {
      return std::move(**frame);
    }
    pollfd wanted{STDIN_FILENO, POLLIN, 0};
    if (::poll(&wanted, 1, timeout_ms) <= 0) {
      return std::nullopt;
    }
    char buffer[4096];
    const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (got <= 0) {
      std::exit(0);
    }
    decoder.feed({buffer, static_cast<std::size_t>(got)});
  }
}

constexpr std::string_view kSalvaged = "salvaged:";

bool is_salvaged() {
  return mode.starts_with(kSalvaged);
}

// A sample in a thread of a pool; what follows it in a file is ignored, and said to be.
std::string recording() {
  profile::ProfileBuilder builder;
  builder.info().has_threads = true;
  const profile::ThreadId thread =
      builder.add_thread({.name = builder.intern_string("pool-1-thread-7")});
  const profile::FrameId frames[] = {
      builder.intern_frame({.name = builder.intern_string("main")}),
      builder.intern_frame({.name = builder.intern_string("of.the.Recording")})};
  builder.add_sample({.thread = thread, .stack = builder.intern_stack(frames), .weight = 1});
  return profile::encode_recording(builder.build()).value();
}

std::string content_of(const std::string& id, const std::string& name) {
  if (is_salvaged()) {
    return base::read_file(mode.substr(kSalvaged.size()), std::size_t{1} << 20U).value_or("");
  }
  const std::string seed = base::sha256_hex(id + name);
  std::string out = name.ends_with(".jprof") ? recording() : std::string();
  while (out.size() < file_bytes) {
    out += seed;
  }
  out.resize(std::max(file_bytes, name.ends_with(".jprof") ? recording().size() : 0));
  return out;
}

struct File {
  std::string name;
  std::string format;
  std::string content;
};

// Instead of what was asked for.
std::vector<std::string> sent_formats(std::vector<std::string> asked) {
  if (mode == "own-page") {
    return {"html", "collapsed", "jprof"};
  }
  if (mode == "only-a-page") {
    return {"html", "collapsed"};
  }
  return asked;
}

std::vector<File> files_of(const std::string& id, const std::vector<std::string>& formats) {
  std::vector<File> out;
  for (const std::string& format : formats) {
    if (is_salvaged() && format != "jprof") {
      continue;
    }
    const std::string name = capture::bundle_file_name(format);
    out.push_back({name, format, content_of(id, name)});
  }
  return out;
}

capture::Manifest manifest_of(const std::string& id, const std::vector<File>& files,
                              const protocol::PodFacts& pod) {
  capture::Manifest out;
  out.id = id;
  out.trigger = "manual";
  out.request_time = base::format_utc(std::chrono::system_clock::now());
  out.start_time = out.request_time;
  out.source.namespace_name = pod.namespace_name;
  out.source.pod = pod.pod;
  out.source.container = pod.container;
  out.jprof_version = JPROF_VERSION;
  capture::Measured measured;
  measured.samples = 42;
  measured.accounted = true;
  measured.hottest = {{"evil.\x1b[2J.Name", 1, 1}};
  out.measured = capture::measured_json(measured);
  for (const File& file : files) {
    out.files.push_back(
        {file.name, file.format, file.content.size(), base::sha256_hex(file.content)});
  }
  return out;
}

void send_files(const std::string& id, const std::vector<File>& files,
                const protocol::PodFacts& pod, const std::vector<std::uint64_t>& offsets) {
  protocol::ResultMessage result;
  result.id = id;
  result.manifest =
      capture::manifest_json(manifest_of(id, is_salvaged() ? files_of(id, {"jprof"}) : files, pod));
  if (mode == "partial" || is_salvaged()) {
    result.exit_code = 6;
    result.reason = "PartialCapture";
    result.message = "the JVM ended after 3 s";
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::uint64_t offset = i < offsets.size() ? offsets[i] : 0;
    result.files.push_back(
        {mode == "evil-name" ? "../../evil" : files[i].name, files[i].content.size(), offset,
         mode == "bad-digest" ? std::string(64, '0') : base::sha256_hex(files[i].content)});
  }
  send(FrameType::kResult, protocol::encode_result(result));
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string_view all = files[i].content;
    std::uint64_t at = result.files[i].offset;
    while (at < all.size()) {
      const std::string_view piece = all.substr(at, 64 * 1024);
      const std::string frame =
          protocol::encode_chunk_frame({static_cast<std::uint32_t>(i), at, piece});
      if (!base::write_all(STDOUT_FILENO, frame, "stdout")) {
        std::exit(0);
      }
      at += piece.size();
    }
    while (mode == "too-long") {
      send(FrameType::kChunk,
           protocol::encode_chunk_frame({static_cast<std::uint32_t>(i), at, "more"}).substr(8));
    }
  }
  send(FrameType::kEnd, "{}");
}

// Answers with an error where the mode says so.
bool refuses(const protocol::RecordRequest& request) {
  if (mode == "busy") {
    protocol::ErrorMessage busy;
    busy.error = base::make_error(base::ErrorCode::kBusy, "this JVM is being captured by mallory");
    busy.busy_id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    busy.busy_requester = "mallory";
    busy.busy_until = "2026-01-01T00:00:00Z";
    send(FrameType::kError, protocol::encode_error(busy));
    return true;
  }
  if (mode == "ends-as-bug") {
    protocol::ErrorMessage bug;
    bug.error = base::make_error(base::ErrorCode::kInternal, "the recorder ended",
                                 "this is a bug in jprof: please report it");
    send(FrameType::kError, protocol::encode_error(bug));
    return true;
  }
  if (mode == "jvm-refuses") {
    protocol::Progress progress;
    progress.id = request.id;
    progress.phase = "attaching";
    send(FrameType::kProgress, protocol::encode_progress(progress));
    protocol::ErrorMessage refusal;
    refusal.error =
        base::make_error(base::ErrorCode::kAttachDisabled, "it refuses to be attached to",
                         "remove -XX:+DisableAttachMechanism");
    send(FrameType::kError, protocol::encode_error(refusal));
    return true;
  }
  return false;
}

void record(protocol::FrameDecoder& decoder, const protocol::RecordRequest& request) {
  if (refuses(request)) {
    return;
  }
  const auto begin = std::chrono::steady_clock::now();
  bool sealing = false;
  for (;;) {
    const auto elapsed = std::chrono::steady_clock::now() - begin;
    protocol::Progress progress;
    progress.id = request.id;
    progress.phase = sealing ? "sealing" : "recording";
    progress.elapsed = elapsed;
    progress.duration = request.duration;
    progress.hottest = {{"evil.\x1b[2J.Name", 1, 310}, {"shop.Shop.pack", 1, 200}};
    send(FrameType::kProgress, protocol::encode_progress(progress));
    const auto frame = receive(decoder, 20);
    const bool cancelled = frame && frame->type == FrameType::kCancel;
    const bool slow = mode == "discards" || mode == "seals-first" || mode == "hangs-at-end";
    if (cancelled && slow && !sealing) {
      sealing = true;
      continue;
    }
    if (cancelled && mode == "discards" &&
        *protocol::parse_cancel(frame->payload) == protocol::CancelMode::kDiscard) {
      protocol::ErrorMessage discarded;
      discarded.error =
          base::make_error(base::ErrorCode::kInterrupted, "the capture was discarded");
      send(FrameType::kError, protocol::encode_error(discarded));
      return;
    }
    if (elapsed >= request.duration || (cancelled && mode != "hangs-at-end")) {
      break;
    }
    if (frame && frame->type == FrameType::kPing) {
      send(FrameType::kPong, frame->payload);
    }
  }
  send_files(request.id, files_of(request.id, sent_formats(request.formats)), request.pod, {});
}

void targets() {
  protocol::ResultMessage result;
  result.targets =
      base::Json::array({{{"pid", 1}, {"uid", 1234}, {"gid", 5678}, {"ready", false}}});
  if (mode == "other-user") {
    result.targets[0]["reason"] = "IdentityMismatch";
  } else if (mode == "not-ready") {
    result.targets[0]["reason"] = "AttachDisabled";
  } else {
    result.targets[0]["ready"] = true;
  }
  send(FrameType::kResult, protocol::encode_result(result));
  send(FrameType::kEnd, "{}");
}

void attach(const protocol::AttachRequest& request) {
  std::string text(file_bytes, 'x');
  if (mode == "attach") {
    text = request.command + " [";
    for (const std::string& word : request.arguments) {
      text += (text.back() == '[' ? "" : " ") + word;
    }
    text += "]\n";
  }
  send_files("", {{"answer.txt", "txt", std::move(text)}}, {}, {});
}

void fetch(const protocol::FetchRequest& request) {
  std::vector<std::string> formats;
  for (const std::string& name : request.names) {
    formats.push_back(name == "flamegraph.html" ? "html" : name.substr(8));
  }
  if (formats.empty()) {
    formats = {"html", "jprof"};
  }
  std::fprintf(stderr, "resumed at %llu\n",
               request.offsets.empty() ? 0ULL
                                       : static_cast<unsigned long long>(request.offsets[0]));
  const bool just_the_recording = formats == std::vector<std::string>{"jprof"};
  send_files(request.id, files_of(request.id, just_the_recording ? formats : sent_formats(formats)),
             {}, request.offsets);
}

} // namespace

int main(int argc, char** argv) {
  file_bytes = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000;
  mode = argc > 2 ? argv[2] : "ok";
  if (mode == "garbage") {
    std::fputs("OCI runtime exec failed\x1b[2J\n", stdout);
    return 0;
  }
  if (mode == "silent") {
    while (std::fgetc(stdin) != EOF) {
    }
    return 0;
  }
  if (mode == "no-hello") {
    std::fputs("cannot connect to serve\n", stderr);
    return 8;
  }
  protocol::Hello hello = protocol::our_hello({"record", "fetch", "targets", "attach", "quit"});
  if (mode == "newer") {
    hello.protocol = 1000;
    hello.min = 999;
  }
  send(FrameType::kHello, protocol::encode_hello(hello));
  protocol::FrameDecoder decoder;
  for (;;) {
    const auto frame = receive(decoder, -1);
    if (frame->type == FrameType::kRequest) {
      const auto request = protocol::parse_request(frame->payload);
      if (!request) {
        return 9;
      }
      if (request->kind == protocol::RequestKind::kTargets) {
        targets();
      } else if (request->kind == protocol::RequestKind::kQuit) {
        send(FrameType::kResult, protocol::encode_result({}));
        send(FrameType::kEnd, "{}");
      } else if (request->kind == protocol::RequestKind::kAttach) {
        attach(request->attach);
      } else if (request->kind == protocol::RequestKind::kRecord) {
        record(decoder, request->record);
      } else {
        fetch(request->fetch);
      }
    }
  }
}

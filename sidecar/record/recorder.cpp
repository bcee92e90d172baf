// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/recorder.h"

#include "sidecar/record/agent_channel.h"
#include "sidecar/record/agent_start.h"
#include "sidecar/record/cpu_account.h"
#include "sidecar/record/gap_tracker.h"
#include "sidecar/record/recorder_summary.h"
#include "sidecar/record/stop_waker.h"
#include "sidecar/record/symbol_supply.h"
#include "sidecar/record/timer.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <poll.h>
#include <string>
#include <utility>

namespace jprof::record {
namespace {

using base::ErrorCode;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

constexpr char kDamage[] =
    "what was recorded until then is kept; find out what in the JVM writes where only the agent "
    "should, if it happens again";
// A chunk is written at least this often; a killed sidecar's file lacks no more than that.
constexpr milliseconds kFlushPeriod{2000};
constexpr milliseconds kTablesPeriod{1000};
constexpr milliseconds kProcessPeriod{500}; // between checks that the JVM's process exists
constexpr milliseconds kCpuPeriod{200};     // ... between readings of its CPU time
// The agent ends by itself after the duration; it is told to stop only if it does not.
constexpr milliseconds kDeadlineGrace{300};
// A ring that has filled by this fraction (1/n) since the last drain is read sooner.
constexpr std::uint64_t kBusyShare = 4;
constexpr milliseconds kBusyPeriod{25};
// A drain is interrupted after this long, to check for stops, deadlines and the agent's messages.
constexpr milliseconds kSlice{100};
constexpr int kMaxMessages = 64; // SymbolSupply asks for 32 at most
constexpr std::size_t kProgressMethods = 5;
constexpr std::size_t kResultMethods = 10;

IntakeLimits limits_of(const RecorderOptions& options) {
  IntakeLimits limits = options.limits;
  limits.depth = options.max_depth;
  return limits;
}

// One recording, from the agent's Started message to the end chunk.
class ActiveRecording {
 public:
  ActiveRecording(const RecorderInput& input, const RecorderOptions& options, RegionReader& region,
                  const wire::StartedMessage& started, steady_clock::time_point asked)
      : input_(input), options_(options), region_(region), waker_(input.stop), asked_(asked),
        begin_(steady_clock::now()),
        writer_(input.sink, opening_info(input, options, region.header()), {.tick = tick()}),
        intake_(region_, writer_, input.native.namer, limits_of(options)), flush_(kFlushPeriod),
        tables_(kTablesPeriod) {
    result_.started = started;
    if (!started_at(nanoseconds(0)) && started_at(input.clock_ahead)) {
      intake_.set_clock_ahead(input.clock_ahead);
    }
    if (input.native.symbolizer != nullptr) {
      supply_.emplace(input.socket, *input.native.symbolizer);
    }
  }

  RecorderResult run() {
    update_tables(Reading::kLive);
    while (!ended_) {
      drain_once(Reading::kLive);
      report_progress();
      decide_stop();
      check_process();
      if (!ended_) {
        wait();
      }
    }
    finish();
    return std::move(result_);
  }

 private:
  // True if the region began while we waited for it, given a clock this far ahead of ours.
  bool started_at(nanoseconds ahead) const {
    const nanoseconds start = nanos(region_.header().start_mono_ns) - ahead;
    return start >= asked_.time_since_epoch() && start <= begin_.time_since_epoch();
  }

  // The tick of the timers, as the agent reports it; 0 for a clock without one.
  nanoseconds tick() const {
    constexpr std::uint64_t kMaxTick = 1'000'000'000;
    return nanoseconds(static_cast<std::int64_t>(std::min(region_.header().tick_ns, kMaxTick)));
  }
  nanoseconds elapsed() const { return steady_clock::now() - begin_; }

  std::uint64_t lost() const {
    return region_.counter(wire::Counter::kOutcomeRingFull) +
           region_.counter(wire::Counter::kOutcomeNested);
  }

  void end_early(std::string reason, std::string cure) {
    if (early_reason_.empty()) {
      early_reason_ = std::move(reason);
      result_.cure = std::move(cure);
    }
  }

  void ask_to_stop() {
    if (!stop_asked_) {
      stop_asked_ = true;
      stop_deadline_ = steady_clock::now() + options_.stop_timeout;
      send_stop(input_.socket); // the next receive reports a hang-up
    }
  }

  // The region is invalid: nothing valid can follow.
  void handle(const base::Status& status) {
    if (!status) {
      end_early(status.error().message, kDamage);
      broken_ = ended_ = true;
    }
  }

  // The agent ends in an orderly way: what it has sampled by then is counted.
  void check_sink() {
    if (intake_.sink_error() && !result_.sink_error) {
      blame_sink(*intake_.sink_error());
      ask_to_stop();
    }
  }

  void blame_sink(const base::Error& error) {
    result_.sink_error = error;
    end_early("the recording could not be written: " + error.message, error.cure);
  }

  void update_tables(Reading reading) {
    intake_.update_threads(reading == Reading::kFinal ? ThreadRegistry::CpuTimes::kWrite
                                                      : ThreadRegistry::CpuTimes::kIfDue);
    if (input_.native.set_modules && input_.native.set_modules(region_.read_modules())) {
      intake_.modules_changed();
      if (supply_ && reading == Reading::kLive) {
        supply_->look(steady_clock::now());
      }
    }
  }

  // As long as names are on their way, unless the ring fills.
  bool waits_for_names() {
    const std::uint64_t waiting = region_.header().ring_head - region_.tail();
    return supply_ && supply_->holds_back(steady_clock::now()) &&
           waiting < region_.ring_capacity() / kBusyShare;
  }

  void drain_once(Reading reading) {
    handle(region_.refresh());
    const auto now = steady_clock::now();
    gaps_.note(elapsed(), lost());
    if (tables_.due(now) || reading == Reading::kFinal) {
      update_tables(reading);
    }
    if (reading == Reading::kLive && intake_.behind() == 0 && waits_for_names()) {
      return;
    }
    const std::uint64_t before = region_.tail();
    if (!broken_) {
      handle(intake_.drain(reading, [end = now + kSlice] { return steady_clock::now() >= end; }));
    }
    if (broken_) {
      return;
    }
    busy_ = (region_.tail() - before) > region_.ring_capacity() / kBusyShare;
    if (intake_.behind() == 0) {
      send_drained(input_.socket, region_.tail(), region_.drained_generation());
    }
    if (flush_.due(now)) {
      intake_.flush();
    }
    check_sink();
  }

  void report_progress() {
    if (!input_.progress || broken_) {
      return;
    }
    CaptureProgress progress;
    progress.phase = CapturePhase::kRecording;
    progress.elapsed = std::min(elapsed(), options_.duration);
    progress.duration = options_.duration;
    progress.samples = intake_.samples();
    progress.lost = lost();
    progress.hottest = hottest(kProgressMethods);
    input_.progress(progress);
  }

  std::vector<MethodShare> hottest(std::size_t most) const {
    return intake_.hot().top(
        most, [this](profile::FrameId id) { return writer_.string(writer_.frame(id).name); });
  }

  // True if the kernel still knew the process.
  bool check_cpu_time() {
    const std::optional<nanoseconds> used = input_.cpu_time ? input_.cpu_time() : std::nullopt;
    cpu_time_ = std::max(cpu_time_, used.value_or(nanoseconds(0)));
    return used.has_value();
  }

  // Handle its last messages first.
  void check_process() {
    if (cpu_.due(steady_clock::now())) {
      check_cpu_time();
    }
    if (input_.ended && process_.due(steady_clock::now()) && input_.ended()) {
      read_messages();
      result_.jvm_gone = result_.jvm_gone || !ended_;
      ended_ = true;
    }
  }

  void decide_stop() {
    if (stop_asked_) {
      std::string why = input_.standstill ? input_.standstill() : std::string();
      if (why.empty() && steady_clock::now() > stop_deadline_) {
        why = "the agent did not answer the stop request";
      }
      if (!why.empty()) {
        end_early(std::move(why), "capture again when the JVM runs");
        ended_ = true;
        return;
      }
    }
    if (input_.stop.stop_requested() && !stop_asked_) {
      result_.interrupted = true;
      if (std::string why = input_.why_stopped ? input_.why_stopped() : ""; !why.empty()) {
        result_.cut_short = true;
        end_early(std::move(why), "capture again when it is up");
      }
      ask_to_stop();
    } else if (intake_.full() && !stop_asked_) {
      end_early("the recording reached its size limit",
                "choose a longer --interval or a shorter --duration; a sidecar's limit is "
                "limits.captureBytes");
      ask_to_stop();
    } else if (std::string why = shortage(); !why.empty()) {
      end_early(std::move(why),
                "give what is short of memory more, or capture when it has more to spare");
      ask_to_stop();
    } else if (elapsed() > options_.duration + kDeadlineGrace) {
      ask_to_stop();
    }
  }

  std::string shortage() const {
    return input_.shortage && !stop_asked_ ? input_.shortage() : std::string();
  }

  // Until the next drain is due, the agent sends something, or a stop is requested.
  void wait() {
    const bool more = intake_.behind() > 0 && !intake_.overfull();
    const milliseconds period = more    ? milliseconds(0)
                                : busy_ ? kBusyPeriod
                                        : options_.drain_period;
    // Once a stop is requested, the waker stays readable: it must not turn the wait into a busy
    // loop.
    std::array<pollfd, 2> waits{
        {{input_.socket, POLLIN, 0}, {stop_asked_ ? -1 : waker_.fd(), POLLIN, 0}}};
    ::poll(waits.data(), waits.size(), static_cast<int>(period.count()));
    read_messages();
  }

  void read_messages() {
    for (int i = 0; i < kMaxMessages; ++i) {
      const base::Result<std::optional<AgentMessage>> message = receive(input_.socket);
      if (!message) {
        end_early(message.error().message, kDamage);
        ended_ = true;
        return;
      }
      if (!*message) {
        return;
      }
      if (std::holds_alternative<PeerGone>(**message)) {
        result_.jvm_gone = true;
        ended_ = true;
        return;
      }
      if (const auto* stopped = std::get_if<wire::StoppedMessage>(&**message)) {
        stopped_ = *stopped;
        ended_ = true;
        return;
      }
      if (const auto* symbols = std::get_if<wire::SymbolsMessage>(&**message);
          symbols != nullptr && supply_ && supply_->take(*symbols, steady_clock::now())) {
        intake_.modules_changed();
      }
    }
    // A well-behaved agent sends what it was asked for. More would keep us from sleeping.
    end_early("the agent floods its control socket", kDamage);
    ended_ = true;
  }

  void finish() {
    const bool clean = stopped_.has_value();
    result_.cpu_at_least = !clean && !check_cpu_time() && result_.jvm_gone;
    read_the_rest();
    take_counters();
    write_rests(clean);
    intake_.flush(); // so that refusals are known before the sums are made
    check_sink();
    if (clean) {
      result_.reason = static_cast<wire::StopReason>(stopped_->reason);
      result_.stragglers = stopped_->in_flight;
      result_.handler_left = stopped_->handler_left;
      if (Ending ending = early_end(result_.reason); !ending.cause.empty()) {
        end_early(std::move(ending.cause), std::move(ending.cure));
      }
    } else if (result_.jvm_gone) {
      result_.reason = wire::StopReason::kVmExit;
      const Ending ending =
          input_.why_gone ? input_.why_gone() : Ending{"", early_end(result_.reason).cure};
      end_early("the JVM ended during the capture" +
                    (ending.cause.empty() ? ending.cause : ": " + ending.cause),
                ending.cure);
    }
    fill_result(clean);
    result_.info = closing_info();
    // A full sink may have kept a reserve for the end.
    if (base::Status closed = writer_.finish(result_.info); !closed) {
      writer_.give_up();
      closed = writer_.finish(result_.info);
      if (!closed && !result_.sink_error) {
        blame_sink(closed.error());
        result_.info = closing_info();
      }
    }
    result_.recording_bytes = writer_.bytes_written();
  }

  void read_the_rest() {
    const auto end = steady_clock::now() + options_.last_read_timeout;
    bool more = !broken_;
    while (more) {
      drain_once(Reading::kFinal);
      report_progress();
      more = !broken_ && intake_.behind() > 0 && !intake_.overfull() && steady_clock::now() < end;
    }
    result_.left_out = intake_.behind() + (broken_ ? 0 : region_.unread());
    if (result_.left_out > 0) {
      end_early("there was no " + std::string(intake_.overfull() ? "memory" : "time") +
                    " to read everything that the JVM wrote: " + std::to_string(result_.left_out) +
                    " samples are missing",
                "choose a longer --interval, or give jprof more memory and CPU time");
    }
  }

  void take_counters() {
    std::ranges::copy(region_.header().counters, result_.counters);
    if (!stopped_ && result_.counter(wire::Counter::kProcessCpuNanosAtStart) > 0) {
      std::uint64_t& at_stop =
          result_.counters[static_cast<std::size_t>(wire::Counter::kProcessCpuNanosAtStop)];
      at_stop = std::max(at_stop, static_cast<std::uint64_t>(cpu_time_.count()));
    }
  }

  // Only an agent that ended in an orderly way has read the process's clock at the end.
  void write_rests(bool clean) {
    if (broken_) {
      return;
    }
    intake_.write_rests();
    const std::uint64_t rests = intake_.rests().weight_ns() + intake_.unwritten().rests_ns;
    const nanoseconds unseen = ended_unseen(result_, nanos(rests));
    if (clean && unseen > nanoseconds(0)) {
      intake_.write_unseen(static_cast<std::uint64_t>(unseen.count()), length());
    }
  }

  void fill_result(bool clean) {
    result_.samples = intake_.samples();
    result_.nominal_samples = intake_.nominal_samples();
    result_.error_samples = intake_.error_samples();
    result_.error_reasons = intake_.error_reasons();
    result_.rests = intake_.rests();
    result_.unwritten = intake_.unwritten();
    result_.weight = intake_.weight() + result_.rests.weight_ns();
    result_.threads = result_.counter(wire::Counter::kThreadsArmed);
    const std::uint64_t entered = result_.counter(wire::Counter::kEntered);
    const std::uint64_t outcomes = sum_of_outcomes(result_);
    result_.in_flight = entered > outcomes ? entered - outcomes : 0;
    // After a clean stop the agent itself says how many are in flight: one of them may not have
    // been counted yet, or may have left since. If the JVM was killed, only what had become a
    // sample can be compared.
    const std::uint64_t recorded = result_.counter(wire::Counter::kOutcomeStack) +
                                   result_.counter(wire::Counter::kOutcomeError);
    const bool sums = entered >= outcomes && (!clean || result_.in_flight <= result_.stragglers);
    const std::uint64_t unsure = clean ? result_.stragglers : result_.in_flight;
    const std::uint64_t taken = result_.samples + result_.unwritten.samples;
    const std::uint64_t read = taken + result_.left_out;
    const bool samples = recorded <= read + unsure && (clean ? read : taken) <= recorded + unsure;
    result_.accounted = !broken_ && sums && samples;
    result_.hottest = hottest(kResultMethods);
    result_.blocked = intake_.threads().unsampled(wire::ThreadFlag::kSignalBlocked);
    result_.never_armed = intake_.threads().unsampled(wire::ThreadFlag::kNeverArmed);
    result_.sandboxed = intake_.threads().unsampled(wire::ThreadFlag::kSandboxed);
    result_.max_depth = region_.header().max_depth;
    result_.max_overhead_permille = options_.max_overhead_permille;
    result_.tick = tick();
    result_.coverage = coverage_of(
        result_, options_.interval,
        clean && result_.reason != wire::StopReason::kVmExit ? nanoseconds(0) : elapsed());
    result_.old_code = old_code_of(result_);
    result_.detail_cut = intake_.detail_was_cut();
    result_.damaged = intake_.damaged_references() + intake_.damaged_times();
  }

  nanoseconds length() const {
    const wire::RegionHeader& header = region_.header();
    const std::uint64_t start = header.start_mono_ns;
    const std::uint64_t stop = stopped_ ? stopped_->stop_mono_ns : header.heartbeat_mono_ns;
    // A hostile clock must not give a duration longer than we have waited. A JVM that ended has
    // left its last heartbeat, which is up to half a second older than its last sample.
    const nanoseconds most = steady_clock::now() - asked_;
    const nanoseconds told = stop > start ? nanos(stop - start) : most;
    return std::min(most, std::max(told, intake_.last_time()));
  }

  profile::ProfileInfo closing_info() const {
    profile::ProfileInfo info = opening_info(input_, options_, region_.header());
    info.duration = length();
    if (const auto& repeated = intake_.threads().repeated(); repeated.samples > 0) {
      info.events.front().interval_got = nanos(repeated.weight_ns / repeated.samples);
    }
    info.events.front().losses = losses_of(result_);
    info.events.front().gaps = gaps_.gaps();
    info.partial = !early_reason_.empty();
    info.partial_reason = early_reason_;
    std::ranges::move(facts_of(result_, options_.interval), std::back_inserter(info.facts));
    return info;
  }

  const RecorderInput& input_;
  const RecorderOptions& options_;
  RegionReader& region_;
  StopWaker waker_;
  steady_clock::time_point
      asked_; // when the start was requested: the agent's start cannot be earlier
  steady_clock::time_point begin_;
  profile::RecordingWriter writer_;
  Intake intake_;
  GapTracker gaps_;
  Timer flush_;
  Timer tables_;
  Timer process_{kProcessPeriod};
  Timer cpu_{kCpuPeriod};
  nanoseconds cpu_time_{0}; // of the process, when the kernel was asked last
  std::optional<SymbolSupply> supply_;
  RecorderResult result_;
  std::optional<wire::StoppedMessage> stopped_;
  std::string early_reason_;
  steady_clock::time_point stop_deadline_{};
  bool stop_asked_ = false;
  bool busy_ = false;
  bool broken_ = false; // region or sink
  bool ended_ = false;
};

} // namespace

base::Result<RecorderResult> record(const RecorderInput& input, const RecorderOptions& options) {
  JPROF_TRY_ASSIGN(const auto session, new_session_id());
  base::UniqueFd own;
  if (input.region < 0) {
    JPROF_TRY_ASSIGN(own, make_region(options.region_bytes));
  }
  const int region = own ? own.get() : input.region;
  const auto asked = steady_clock::now();
  JPROF_TRY_ASSIGN(const wire::StartedMessage started,
                   start_agent(input, options, region, session));
  if (input.on_start) {
    input.on_start();
  }
  JPROF_TRY_ASSIGN(RegionReader reader, RegionReader::open(region, options.region_bytes, session));
  return ActiveRecording(input, options, reader, started, asked).run();
}

} // namespace jprof::record

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/record/capture_job.h"
#include "sidecar/record/capture_outcome.h"
#include "tests/unit/sidecar/record/recorded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

namespace jprof::record {
namespace {

using namespace std::chrono_literals;
using jprof::testing::ScriptedAgent;
using ::testing::HasSubstr;

TEST(Recorder, SalvagesAJvmThatDies) {
  ScriptedAgent agent([](Agent& a) {
    const std::uint32_t stack = java_stack(a, "doomed");
    a.send_started();
    a.region().add_sample({.time_ns = 1, .stack = stack});
    a.region().leave_slot_open({.time_ns = 2, .stack = stack}); // killed inside its handler
    a.region().add_sample({.time_ns = 3, .stack = stack});
  });

  const Recorded recorded = run(agent);

  ASSERT_TRUE(recorded.result);
  EXPECT_EQ(recorded.result->samples, 2U);
  EXPECT_EQ(recorded.result->in_flight, 1U);
  EXPECT_TRUE(recorded.result->accounted);
  EXPECT_TRUE(recorded.result->jvm_gone);
  EXPECT_THAT(recorded.result->info.partial_reason, HasSubstr("JVM ended"));
  EXPECT_THAT(recorded.result->cure, HasSubstr("start the JVM again"));
  const profile::Recording file = recorded.read();
  EXPECT_TRUE(file.health.complete);
  EXPECT_TRUE(file.profile.info().partial);
  EXPECT_EQ(file.profile.event_info().losses.back().reason, "in flight at the end");
}

TEST(Recorder, BelievesTheSumsOfAnAgentThatNamesItsStragglers) {
  for (const bool entered : {true, false}) { // its thread may not have counted itself yet
    ScriptedAgent agent([entered](Agent& a) {
      const std::uint32_t stack = java_stack(a, "held");
      a.send_started();
      a.region().add_sample({.time_ns = 1, .stack = stack});
      if (entered) {
        a.region().leave_slot_open({.time_ns = 2, .stack = stack});
      }
      a.send_stopped(wire::StopReason::kAsked, 1);
    });

    const Recorded recorded = run(agent);

    ASSERT_TRUE(recorded.result);
    EXPECT_TRUE(recorded.result->accounted) << entered;
    EXPECT_EQ(recorded.result->samples, 1U);
    EXPECT_EQ(recorded.result->in_flight, entered ? 1U : 0U);
    EXPECT_EQ(recorded.result->stragglers, 1U);
  }
}

TEST(Recorder, TellsWhatStaysInTheJvmAndWhy) {
  const auto notes_of = [](wire::HandlerLeft left, std::uint32_t stragglers) {
    ScriptedAgent agent([left, stragglers](Agent& a) {
      a.send_started();
      a.send_stopped(wire::StopReason::kAsked, stragglers, left);
    });
    const Recorded recorded = run(agent);
    CaptureOutcome outcome;
    if (recorded.result) {
      fill_outcome(*recorded.result, outcome);
    }
    return outcome.notes;
  };
  using ::testing::Contains;
  using ::testing::Not;
  const auto says = [](const char* text) { return Contains(HasSubstr(text)); };

  EXPECT_THAT(notes_of({}, 0), Not(says("signal handler")));
  EXPECT_THAT(notes_of({}, 2), says("had not left our signal handler 2 s after the stop: 2;"));
  EXPECT_THAT(notes_of({3, 47, 99, 't'}, 0), says("(3; thread 47 is traced by process 99)"));
  EXPECT_THAT(notes_of({1, 47, 0, 't'}, 0), says("a tracer outside its container"));
  EXPECT_THAT(notes_of({1, 47, 0, 'T'}, 0), says("thread 47 is stopped"));
  EXPECT_THAT(notes_of({1, 47, 0, 'R'}, 0), says("thread 47 has not run since"));
}

TEST(Recorder, TellsWhatSeccompWouldNotLetTheAgentTakeBack) {
  ScriptedAgent agent([](Agent& a) {
    a.send_started();
    a.region().count(wire::Counter::kTimersLeft, 5);
    a.region().count(wire::Counter::kTimersRunning, 2);
    a.region().count(wire::Counter::kStopRefused, 3);
    a.send_stopped(wire::StopReason::kAsked);
  });
  const Recorded recorded = run(agent);
  ASSERT_TRUE(recorded.result);
  CaptureOutcome outcome;
  fill_outcome(*recorded.result, outcome);
  EXPECT_THAT(outcome.residue,
              ::testing::ElementsAre(HasSubstr("2 timers keep sending"), HasSubstr("3 timers that"),
                                     HasSubstr("rt_sigaction"), HasSubstr("munmap")));
}

TEST(Recorder, TellsHowTimersWereShared) {
  ScriptedAgent agent([](Agent& a) {
    a.send_started();
    a.region().count(wire::Counter::kThreadsArmed, 31);
    a.region().count(wire::Counter::kThreadsNeverArmed, 88);
    a.region().count(wire::Counter::kTimerLimit, 148);
    a.region().count(wire::Counter::kTimersMoved, 46);
    a.send_stopped(wire::StopReason::kAsked);
  });

  const Recorded recorded = run(agent);

  ASSERT_TRUE(recorded.result);
  CaptureOutcome outcome;
  fill_outcome(*recorded.result, outcome);
  const capture::Measured measured = measured_of(outcome);
  EXPECT_EQ(measured.threads, 31U);
  EXPECT_EQ(measured.threads_unarmed, 88U);
  EXPECT_EQ(measured.timers_refused, 148U);
  EXPECT_EQ(measured.timers_moved, 46U);
  EXPECT_THAT(outcome.notes, ::testing::Contains(::testing::AllOf(
                                 HasSubstr("RLIMIT_SIGPENDING"), HasSubstr("148 threads found"),
                                 HasSubstr("timers were moved 46 times"))));
}

TEST(Recorder, TellsNothingOfAHandlerInAJvmThatHasEnded) {
  ScriptedAgent agent([](Agent& a) {
    const std::uint32_t stack = java_stack(a, "x");
    a.send_started();
    a.region().add_sample({.weight = 500'000'000, .stack = stack});
    a.region().count(wire::Counter::kProcessCpuNanosAtStart, 1'000'000'000);
    a.region().count(wire::Counter::kProcessCpuNanosAtStop, 1'100'000'000); // the last look
    a.send_stopped(wire::StopReason::kVmExit, 1, {3, 47, 0, 'R'});
  });

  const Recorded recorded = run(agent);

  ASSERT_TRUE(recorded.result);
  CaptureOutcome outcome;
  fill_outcome(*recorded.result, outcome);
  for (const std::string& note : outcome.notes) {
    EXPECT_EQ(note.find("signal handler"), std::string::npos) << note;
  }
  EXPECT_TRUE(outcome.warnings.empty());
}

// A child that the JVM forked has its descriptors, too.
TEST(Recorder, SeesTheEndOfAJvmWhoseSocketSomebodyHoldsOpen) {
  ScriptedAgent agent([](Agent& a) {
    const std::uint32_t stack = java_stack(a, "x");
    a.send_started();
    a.region().add_sample({.stack = stack});
    while (!a.stop_seen() && (a.hear(5000ms) || !a.hung_up())) {
    }
  });
  RecorderInput input;
  input.ended = [] { return true; };
  input.why_gone = [] { return Ending{"signal 9 (Killed)", "start it again"}; };
  RecorderOptions options = quick_options();
  options.duration = 60s;

  const Recorded recorded = run(agent, options, std::move(input));

  ASSERT_TRUE(recorded.result);
  EXPECT_TRUE(recorded.result->jvm_gone);
  EXPECT_EQ(recorded.result->info.partial_reason,
            "the JVM ended during the capture: signal 9 (Killed)");
  EXPECT_EQ(recorded.result->cure, "start it again");
}

TEST(Recorder, IsPartialWhereNotItsCallerStoppedIt) {
  const auto reason_of = [](const std::string& why) {
    ScriptedAgent agent([](Agent& a) {
      const std::uint32_t stack = java_stack(a, "x");
      a.send_started();
      a.region().add_sample({.stack = stack});
      while (!a.stop_seen() && (a.hear(5000ms) || !a.hung_up())) {
      }
      a.send_stopped(wire::StopReason::kAsked);
    });
    std::stop_source stop;
    stop.request_stop();
    RecorderInput input;
    input.stop = stop.get_token();
    input.why_stopped = [why] { return why; };
    const Recorded recorded = run(agent, quick_options(), std::move(input));
    CaptureOutcome outcome;
    if (recorded.result) {
      fill_outcome(*recorded.result, outcome);
    }
    EXPECT_EQ(outcome.exit_code(), why.empty() ? 0 : 6);
    EXPECT_EQ(outcome.interrupted, why.empty());
    return outcome.partial_reason;
  };

  EXPECT_EQ(reason_of(""), "");
  EXPECT_EQ(reason_of("the sidecar ended"), "the sidecar ended");
}

// The process's clock tells of time that no sample stands for, whatever the cause.
TEST(Recorder, SaysInTheRecordingThatCpuTimeIsMissing) {
  ScriptedAgent agent([](Agent& a) {
    const std::uint32_t stack = java_stack(a, "x");
    a.send_started();
    a.region().add_sample({.weight = 500'000'000, .stack = stack});
    a.region().count(wire::Counter::kProcessCpuNanosAtStart, 1'000'000'000);
    a.region().count(wire::Counter::kProcessCpuNanosAtStop, 6'000'000'000);
    a.region().count(wire::Counter::kAgentCpuNanosBetween, 50'000'000);
    a.send_stopped(wire::StopReason::kAsked);
  });

  const Recorded recorded = run(agent);

  ASSERT_TRUE(recorded.result);
  EXPECT_EQ(recorded.result->coverage.process, 5s);
  EXPECT_EQ(recorded.result->coverage.missing(), 0ms);
  EXPECT_EQ(recorded.result->coverage.ended_unseen, 4450ms);
  EXPECT_TRUE(recorded.result->accounted) << "a rest is no signal";
  EXPECT_EQ(recorded.result->samples, 1U);
  EXPECT_EQ(recorded.result->weight, 4'950'000'000U);
  EXPECT_FALSE(recorded.result->coverage.complete());
  std::map<std::string, std::string> facts;
  const auto file = recorded.read();
  EXPECT_EQ(file.profile.event().total_weight, 4'950'000'000U);
  EXPECT_EQ(samples_by_stack(file.profile).count("[ended unseen]"), 1U);
  EXPECT_EQ(file.profile.event().total_count, 1U);
  for (const auto& [label, value] : file.profile.info().facts) {
    facts[label] = value;
  }
  EXPECT_THAT(facts[std::string(profile::kWarningFact)], HasSubstr("89.0 % of the CPU time"));
  EXPECT_THAT(facts["CPU time"], HasSubstr("5.00 s used by the JVM: 500 ms in samples"));
}

TEST(Recorder, StopsWhenAskedAndKeepsWhatThereIs) {
  ScriptedAgent agent([](Agent& a) {
    const std::uint32_t stack = java_stack(a, "x");
    a.send_started();
    a.region().add_sample({.stack = stack});
    while (!a.stop_seen() && (a.hear(5000ms) || !a.hung_up())) {
    }
    a.region().add_sample({.stack = stack}); // between the stop and the last word
    a.send_stopped(wire::StopReason::kAsked);
  });
  std::stop_source stop;
  RecorderInput input;
  input.stop = stop.get_token();
  input.progress = [&stop](const CaptureProgress& progress) {
    if (progress.samples > 0) {
      stop.request_stop();
    }
  };

  const Recorded recorded = run(agent, quick_options(), input);

  ASSERT_TRUE(recorded.result);
  EXPECT_TRUE(recorded.result->interrupted);
  EXPECT_FALSE(recorded.result->info.partial);
  EXPECT_EQ(recorded.result->samples, 2U);
}

TEST(Recorder, SaysWhyTheAgentRefused) {
  ScriptedAgent agent(
      [](Agent& a) { a.send_failed(wire::AgentStatus::kBusy, "another session runs"); });

  const Recorded recorded = run(agent);

  ASSERT_FALSE(recorded.result);
  EXPECT_EQ(recorded.result.error().code, base::ErrorCode::kBusy);
  EXPECT_EQ(recorded.file, "");
}

// A caller's mistake is only what the caller did: a JVM that claims it makes no usage error.
TEST(Recorder, BelievesThatAWalkerIsRefusedOnlyWhereItAskedForOne) {
  RecorderOptions asgct = quick_options();
  asgct.walker = wire::Walker::kAsyncGetCallTrace;
  RecorderOptions allowed = asgct;
  allowed.may_leave_behind = true;
  for (const auto& [options, code] : {std::pair(quick_options(), base::ErrorCode::kProtocol),
                                      std::pair(asgct, base::ErrorCode::kUsage),
                                      std::pair(allowed, base::ErrorCode::kProtocol)}) {
    ScriptedAgent agent([](Agent& a) { a.send_failed(wire::AgentStatus::kLeavesBehind, ""); });

    const Recorded recorded = run(agent, options);

    ASSERT_FALSE(recorded.result);
    EXPECT_EQ(recorded.result.error().code, code) << recorded.result.error().text();
  }
}

// Whether that is seen when the start is sent or when its answer is awaited.
TEST(Recorder, SaysThatTheAgentHungUpBeforeTheStart) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
  const base::UniqueFd ours(ends[0]);
  ::close(ends[1]);
  RecorderInput input;
  input.socket = ours.get();

  const auto result = record(input, quick_options());

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::ErrorCode::kAgentFailed);
  EXPECT_THAT(result.error().message, HasSubstr("hung up"));
  EXPECT_FALSE(result.error().cure.empty());
}

TEST(Recorder, GivesUpOnAnAgentThatNeverStarts) {
  ScriptedAgent agent([](Agent& a) {
    while (!a.hung_up()) {
      a.hear(1000ms);
    }
  });
  RecorderOptions options = quick_options();
  options.start_timeout = 50ms;

  const Recorded recorded = run(agent, options);
  agent.close_sidecar_socket();

  ASSERT_FALSE(recorded.result);
  EXPECT_EQ(recorded.result.error().code, base::ErrorCode::kTimeout);
}

TEST(Recorder, EndsWithoutAnAgentThatIgnoresTheStop) {
  ScriptedAgent agent([](Agent& a) {
    const std::uint32_t stack = java_stack(a, "frozen"); // a stopped process
    a.send_started();
    a.region().add_sample({.stack = stack});
    while (!a.hung_up()) {
      a.hear(1000ms);
    }
  });
  RecorderOptions options = quick_options();
  options.duration = 1ms;

  const Recorded recorded = run(agent, options);
  agent.close_sidecar_socket();

  ASSERT_TRUE(recorded.result);
  EXPECT_EQ(recorded.result->samples, 1U);
  EXPECT_THAT(recorded.result->info.partial_reason, HasSubstr("did not answer the stop"));
  EXPECT_THAT(recorded.result->cure, HasSubstr("capture again"));
}

TEST(Recorder, NamesWhyTheAgentEndedEarly) {
  ScriptedAgent agent([](Agent& a) {
    a.send_started();
    a.send_stopped(wire::StopReason::kHandlerReplaced);
  });

  const Recorded recorded = run(agent);

  ASSERT_TRUE(recorded.result);
  EXPECT_THAT(recorded.result->info.partial_reason, HasSubstr("took over the sampling signal"));
  EXPECT_THAT(recorded.result->cure, HasSubstr("end the other profiler"));
}

TEST(Recorder, NamesACureForEachEarlyEndThatTheAgentTells) {
  using wire::StopReason;
  for (const StopReason reason :
       {StopReason::kPeerGone, StopReason::kOverhead, StopReason::kVmExit,
        StopReason::kHandlerReplaced, StopReason::kAgentError, static_cast<StopReason>(77)}) {
    ScriptedAgent agent([reason](Agent& a) {
      a.send_started();
      a.send_stopped(reason);
    });

    const Recorded recorded = run(agent);

    ASSERT_TRUE(recorded.result);
    EXPECT_FALSE(recorded.result->info.partial_reason.empty());
    EXPECT_FALSE(recorded.result->cure.empty()) << recorded.result->info.partial_reason;
  }
}

TEST(Recorder, EndsARecordingThatGrowsTooLarge) {
  ScriptedAgent agent([](Agent& a) {
    const std::uint32_t stack = java_stack(a, "x");
    a.send_started();
    for (int i = 0; i < 100; ++i) {
      a.region().add_sample({.stack = stack});
    }
    while (!a.stop_seen() && (a.hear(5000ms) || !a.hung_up())) {
    }
    a.send_stopped(wire::StopReason::kAsked);
  });
  RecorderOptions options = quick_options();
  options.limits.samples = 50;

  const Recorded recorded = run(agent, options);

  ASSERT_TRUE(recorded.result);
  EXPECT_THAT(recorded.result->info.partial_reason, HasSubstr("size limit"));
  EXPECT_THAT(recorded.result->cure, HasSubstr("--interval"));
}

TEST(Recorder, CutsDetailBeforeItRunsOutOfMemory) {
  ScriptedAgent agent([](Agent& a) {
    a.send_started();
    for (int i = 0; i < 40; ++i) {
      std::vector<wire::Frame> frames;
      for (int depth = 0; depth < 100; ++depth) {
        frames.push_back(wire::make_frame(wire::FrameKind::kNative,
                                          static_cast<std::uint64_t>(i * 1000 + depth)));
      }
      a.region().add_sample({.stack = a.region().add_stack(frames)});
      while (a.region().header().ring_tail < a.region().header().ring_head && a.hear(5000ms)) {
      }
    }
    a.send_stopped(wire::StopReason::kDeadline);
  });
  RecorderOptions options = quick_options();
  options.drain_period = 1ms;
  options.limits.dictionary_bytes = 400'000;

  const Recorded recorded = run(agent, options);

  ASSERT_TRUE(recorded.result);
  const profile::Profile profile = recorded.read().profile;
  const auto& samples = profile.event().samples;
  ASSERT_GE(samples.size(), 20U);
  EXPECT_EQ(profile.stack(samples.front().stack).size(), 100U);
  EXPECT_LE(profile.stack(samples.back().stack).size(), 33U);
  EXPECT_EQ(recorded.result->samples, samples.size());
}

} // namespace
} // namespace jprof::record

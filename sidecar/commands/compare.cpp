// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/commands/compare.h"

#include "lib/base/counted.h"
#include "lib/base/encoding.h"
#include "lib/base/json.h"
#include "sidecar/commands/capture_options.h"
#include "sidecar/commands/stop_on_signal.h"
#include "sidecar/record/round_process.h"
#include "sidecar/record/walker_comparison.h"
#include "sidecar/record/work_directory.h"
#include "sidecar/sandbox/sandbox.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace jprof::sidecar {
namespace {

using record::ComparedMethod;
using record::ComparedWalker;
using record::WalkerComparison;

constexpr double kMinShare = 0.01;       // of methods that are shown
constexpr std::size_t kNameColumns = 48; // longer names are cut from the left

struct CompareOptions {
  CaptureOptions capture{.duration = "24s"};
  std::vector<std::string> walkers = {"vmstructs", "asgct", "jvmti", "jmx"};
  unsigned rounds = 3;
  std::size_t top = 20;
};

std::string temporary_folder() {
  const char* named = std::getenv("TMPDIR"); // NOLINT(concurrency-mt-unsafe): nobody sets it
  return named != nullptr ? named : "/tmp";
}

struct Compared {
  std::int32_t pid = 0;
  std::string java_version;
  WalkerComparison comparison;
};

base::Status add_round(record::CaptureRequest& request, const std::string& walker,
                       const StopOnSignal& signals, std::size_t index, Compared& out) {
  request.walker = walker;
  base::Result<record::RecordedRound> recorded = record::record_round(request, signals.token());
  if (!recorded) {
    return base::fail(std::move(recorded).error().with_context("walker " + walker));
  }
  out.comparison.add(index, std::move(recorded->round));
  out.pid = recorded->pid;
  out.java_version = std::move(recorded->java_version);
  request.pid = recorded->pid; // the same JVM from now on
  return {};
}

bool opens_jvmti(const std::string& walker) {
  return walker != "vmstructs";
}

// In rounds, so that each walker sees all phases of the program. The first one is a walker that may
// be refused, before any time is spent on others.
base::Result<Compared> measure(const CompareOptions& options) {
  JPROF_TRY_ASSIGN(record::CaptureRequest request, request_of(options.capture));
  request.duration = request.duration / (options.rounds * options.walkers.size());
  JPROF_TRY_ASSIGN(const std::string path, record::WorkDirectory::name_in(temporary_folder()));
  JPROF_TRY_ASSIGN(const record::WorkDirectory work, record::WorkDirectory::make(path));
  request.directory = work.path();
  StopOnSignal signals("the comparison is being given up");
  Compared out{.pid = 0, .java_version = {}, .comparison = WalkerComparison(options.walkers)};
  const auto first = static_cast<std::size_t>(std::ranges::find_if(options.walkers, opens_jvmti) -
                                              options.walkers.begin());
  if (options.capture.leave_behind && first < options.walkers.size()) {
    tell_what_stays("asgct, jvmti and jmx");
  }
  for (unsigned round = 0; round < options.rounds; ++round) {
    for (std::size_t turn = 0; turn < options.walkers.size(); ++turn) {
      const std::size_t i = (first + turn) % options.walkers.size();
      JPROF_TRY(add_round(request, options.walkers[i], signals, i, out));
    }
  }
  return out;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100 * share);
  return text;
}

std::string column(const std::string& text) {
  return std::string(text.size() < 12 ? 12 - text.size() : 1, ' ') + text;
}

std::string name_column(const std::string& name) {
  std::string text = base::printable(name);
  if (text.size() > kNameColumns) {
    text = "..." + text.substr(text.size() - kNameColumns + 3);
  }
  return text + std::string(kNameColumns - text.size(), ' ');
}

void print_table(const std::vector<ComparedMethod>& methods,
                 const std::vector<ComparedWalker>& walkers) {
  std::string head = name_column("innermost Java method, share of the CPU time");
  for (const ComparedWalker& walker : walkers) {
    head += column(walker.name) + ' ';
  }
  std::printf("%s\n", head.c_str());
  for (const ComparedMethod& method : methods) {
    std::string line = name_column(method.name);
    for (const record::WalkerShare& share : method.shares) {
      line += column(percent(share.share)) + (share.differs ? '*' : ' ');
    }
    std::printf("%s\n", line.c_str());
  }
  std::printf("* differs from %s by more than chance\n\n", walkers.front().name.c_str());
}

void print_walkers(const std::vector<ComparedWalker>& walkers) {
  for (const ComparedWalker& walker : walkers) {
    std::string line =
        walker.name + std::string(10 - std::min<std::size_t>(walker.name.size(), 9), ' ');
    line +=
        std::to_string(walker.samples) + " samples, " + percent(walker.failed) + " without a stack";
    if (&walker != &walkers.front()) {
      line += ", " + percent(walker.misplaced) + " of the time at other methods than " +
              walkers.front().name;
    }
    std::printf("%s\n", line.c_str());
  }
  std::puts("\nvmstructs is jprof's own walker. asgct (AsyncGetCallTrace) sees Java frames only "
            "and gives up\n"
            "where HotSpot does: in stubs (array copies, hashes), at the first and last "
            "instructions of compiled\n"
            "methods and in native code without a frame pointer. In a service that may be every "
            "fifth sample.\n"
            "jvmti (GetStackTrace) and jmx (all threads at once, as ThreadMXBean does) see a "
            "thread only where\n"
            "the JVM can stop it, so the time of code without a safepoint poll goes to whatever "
            "polls next.");
}

base::Json to_json(const Compared& found, const CompareOptions& options,
                   const std::vector<ComparedMethod>& methods,
                   const std::vector<ComparedWalker>& walkers) {
  base::Json object = {{"ok", true},
                       {"pid", found.pid},
                       {"javaVersion", found.java_version},
                       {"interval", options.capture.interval},
                       {"rounds", options.rounds}};
  base::Json& list = object["walkers"] = base::Json::array();
  for (const ComparedWalker& walker : walkers) {
    list.push_back({{"name", walker.name},
                    {"samples", walker.samples},
                    {"failedShare", walker.failed},
                    {"misplacedShare", walker.misplaced}});
  }
  base::Json& rows = object["methods"] = base::Json::array();
  for (const ComparedMethod& method : methods) {
    base::Json row = {{"name", method.name}, {"difference", method.difference}};
    for (std::size_t i = 0; i < walkers.size(); ++i) {
      row["shares"][walkers[i].name] = {{"share", method.shares[i].share},
                                        {"standardError", method.shares[i].standard_error},
                                        {"differs", method.shares[i].differs}};
    }
    rows.push_back(std::move(row));
  }
  return object;
}

base::Status check(const CompareOptions& options) {
  if (options.walkers.size() < 2) {
    return base::make_failure(base::ErrorCode::kUsage, "one walker cannot be compared",
                              "name at least two: --walker vmstructs --walker jvmti");
  }
  if (options.rounds < 1 || options.rounds > 100) {
    return base::make_failure(base::ErrorCode::kUsage, "there can be 1 to 100 rounds",
                              "set their number with --rounds");
  }
  return {};
}

base::Result<int> compare(const CompareOptions& options, bool json) {
  JPROF_TRY(check(options));
  JPROF_TRY(need_open_files());
  JPROF_TRY(limit_memory());
  sandbox::fence_in(sandbox::Network::kNone); // each round enters the sandbox as well
  tell_of_abandoned(temporary_folder());
  JPROF_TRY_ASSIGN(const Compared found, measure(options));
  std::vector<ComparedMethod> methods = found.comparison.methods(kMinShare);
  methods.resize(std::min(methods.size(), options.top));
  const std::vector<ComparedWalker> walkers = found.comparison.walkers();
  if (json) {
    std::printf("%s\n", base::dump_json(to_json(found, options, methods, walkers)).c_str());
    return 0;
  }
  std::printf("JVM %d, %s, %s of each walker, cpu every %s\n\n", found.pid,
              base::printable(found.java_version).c_str(),
              base::counted(options.rounds, "round").c_str(), options.capture.interval.c_str());
  print_table(methods, walkers);
  print_walkers(walkers);
  return 0;
}

} // namespace

void add_compare(cli::Program& program) {
  auto options = std::make_shared<CompareOptions>();
  cli::Command command =
      program.add({.name = "compare",
                   .summary = "Show how the stack walkers differ on a JVM, method by method",
                   .examples = "  jprof compare\n"
                               "  jprof compare 4711 --duration 1m --interval 1ms\n"
                               "  jprof compare 4711 --walker vmstructs --walker jvmti\n"
                               "  jprof compare 4711 --leave-behind    # JDK 21 and later\n"},
                  [&program, options] { return compare(*options, program.json()); });
  add_target_options(command, options->capture, "How long for all walkers together");
  command.option("--rounds", options->rounds, "How often the walkers take turns").show_default();
  command
      .option("--walker", options->walkers,
              "Repeatable: vmstructs, asgct, jvmti, jmx; the others are compared with the first")
      .repeated()
      .show_default();
  add_leave_behind(command, options->capture);
  command.option("--top", options->top, "Maximum number of methods to show").show_default();
  add_agent_options(command, options->capture);
}

} // namespace jprof::sidecar

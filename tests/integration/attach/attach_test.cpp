// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Attaching to real JVMs of every release in scripts/parts, by our own client.
#include "sidecar/inject/agent_link.h"
#include "sidecar/jvm/attach_client.h"
#include "sidecar/jvm/discovery.h"
#include "tests/support/jvm_process.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <set>
#include <string>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

namespace jprof {
namespace {

using base::Deadline;
using base::ErrorCode;
using std::chrono::seconds;

constexpr const char* kRunAs = "65534:65534";

// A /tmp for this test and its JVMs: others on the machine have files of ours in the common one.
class PrivateTmp : public ::testing::Environment {
 public:
  void SetUp() override {
    if (::geteuid() == 0) {
      made_ = ::unshare(CLONE_NEWNS) == 0 &&
              ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
              ::mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") == 0;
    }
  }
  static bool made() { return made_; }

 private:
  static inline bool made_ = false;
};

const ::testing::Environment* const kPrivateTmp =
    ::testing::AddGlobalTestEnvironment(new PrivateTmp);

std::vector<std::string> leftovers() {
  std::vector<std::string> names;
  if (PrivateTmp::made()) {
    for (const auto& entry : std::filesystem::directory_iterator("/tmp")) {
      const std::string name = entry.path().filename();
      if (name.starts_with(".attach_pid") || name.starts_with(".jprof-")) {
        names.push_back(name);
      }
    }
  }
  return names;
}

class RealJvm : public ::testing::TestWithParam<const char*> {
 protected:
  // A killed JVM leaves its socket, which would stand in the way of another user's JVM that gets
  // the same number.
  ~RealJvm() override {
    if (process_ != nullptr) {
      std::error_code ignored;
      std::filesystem::remove("/tmp/.java_pid" + std::to_string(process_->pid()), ignored);
      for (const std::string& name : leftovers()) {
        std::filesystem::remove("/tmp/" + name, ignored);
      }
    }
  }

  // Starts the JVM and finds it; false where the part is missing.
  bool start(std::vector<std::string> options = {}, std::string run_as = {}) {
    testing::JvmOptions jvm;
    jvm.part = GetParam();
    jvm.options = std::move(options);
    jvm.run_as = std::move(run_as);
    process_ = testing::start_ready_jvm(jvm);
    return process_ != nullptr;
  }
  // musl knows a loaded library again by its file alone, so that stays.
  static bool is_musl() { return std::string(GetParam()) == "jdk-17-musl"; }
  base::Result<jvm::Target> find() { return jvm::find_one_jvm(process_->pid()); }

  std::unique_ptr<testing::ChildProcess> process_;
};

#define START_OR_SKIP(...)                                                                         \
  if (!start(__VA_ARGS__)) {                                                                       \
    GTEST_SKIP() << "scripts/parts " << GetParam() << " has not been run";                         \
  }

TEST_P(RealJvm, AnswersACommandByTheProtocol) {
  START_OR_SKIP();
  const auto target = find();
  ASSERT_TRUE(target) << target.error().text();

  const auto reply = jvm::run_command(*target, {"properties", {}}, Deadline::after(seconds(20)));

  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->code, 0);
  EXPECT_NE(reply->text.find("java.version="), std::string::npos);
  EXPECT_EQ(leftovers(), std::vector<std::string>());
}

TEST_P(RealJvm, OfAnotherUserAnswersRoot) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "needs root";
  }
  START_OR_SKIP({}, kRunAs);
  const auto target = find();
  ASSERT_TRUE(target) << target.error().text();

  const auto reply = jvm::run_command(*target, {"threaddump", {}}, Deadline::after(seconds(20)));

  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_NE(reply->text.find("\"main\""), std::string::npos);
  EXPECT_EQ(::geteuid(), 0U);
}

TEST_P(RealJvm, LoadsTheAgentAndIsConnected) {
  START_OR_SKIP();
  const auto target = find();
  ASSERT_TRUE(target) << target.error().text();

  auto link = inject::connect_agent(*target, {.agent_file = JPROF_PROBE_AGENT});

  ASSERT_TRUE(link) << link.error().text();
  link->leftovers.reset();
  EXPECT_STREQ(link->hello.agent_version, "probe");
  EXPECT_EQ(link->hello.pid, static_cast<std::uint32_t>(target->innermost_pid()));
  EXPECT_EQ(link->source, inject::AgentSource::kCopy);
  std::vector<std::string> kept;
  if (is_musl()) {
    kept.push_back(std::filesystem::path(link->library).filename());
  }
  if (PrivateTmp::made()) {
    EXPECT_EQ(leftovers(), kept);
  }
}

// Copies of libjprof.so that the JVM has mapped, by what /proc says.
std::size_t copies_in(const jvm::Target& target) {
  const auto maps = target.process.open_file("maps");
  std::set<std::uint64_t> inodes;
  EXPECT_TRUE(maps);
  EXPECT_TRUE(container::read_mappings(maps->get(), 64U << 20U, [&](const auto& mapping) {
    if (mapping.path.find(".jprof-") != std::string_view::npos) {
      inodes.insert(mapping.inode);
    }
    return true;
  }));
  return inodes.size();
}

// The number of open descriptors once it stops falling to `least`: the agent closes its own a
// moment after the hang-up.
std::size_t settled_descriptors(const jvm::Target& target, std::size_t least) {
  std::size_t count = 0;
  for (int i = 0; i < 200; ++i) {
    count = target.process.list("fd", 1000).value_or(std::vector<std::string>()).size();
    if (count <= least) {
      break;
    }
    ::usleep(10000);
  }
  return count;
}

TEST_P(RealJvm, KeepsOneCopyOfOurAgentHoweverOftenItIsDelivered) {
  START_OR_SKIP();
  constexpr int kTimes = 5;
  std::size_t copies = 0;
  ASSERT_TRUE(jvm::run_command(*find(), {"properties", {}}, Deadline::after(seconds(20))));
  const std::size_t descriptors =
      find()->process.list("fd", 1000)->size(); // with its attach socket

  for (int i = 0; i < kTimes; ++i) {
    const auto target = find(); // a new sidecar each time: it knows nothing of the one before
    ASSERT_TRUE(target) << target.error().text();
    auto link = inject::connect_agent(*target, {.agent_file = JPROF_AGENT});

    ASSERT_TRUE(link) << link.error().text();
    link->leftovers.reset();
    EXPECT_EQ(link->hello.pid, static_cast<std::uint32_t>(target->innermost_pid()));
    EXPECT_EQ(std::filesystem::exists(link->library), is_musl());
    copies = copies_in(*target);
  }

  EXPECT_EQ(copies, 1U);
  EXPECT_LE(settled_descriptors(*find(), descriptors), descriptors);
}

TEST_P(RealJvm, TellsWhatTheAgentReturned) {
  START_OR_SKIP();
  const auto target = find();
  ASSERT_TRUE(target) << target.error().text();

  const auto load = [&target](const char* path, const char* options) -> base::Result<int> {
    JPROF_TRY_ASSIGN(const auto reply, jvm::run_command(*target, {"load", {path, "true", options}},
                                                        Deadline::after(seconds(20))));
    return jvm::interpret_load(reply);
  };
  const auto code = load(JPROF_PROBE_AGENT, "return=110");
  const auto missing = load("/nope.so", "");

  ASSERT_TRUE(code) << code.error().text();
  EXPECT_EQ(*code, 110);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kAgentFailed);
}

TEST_P(RealJvm, ThatForbidsAttachingIsNotSignalled) {
  START_OR_SKIP({"-XX:+DisableAttachMechanism"});
  const auto target = find();
  ASSERT_TRUE(target) << target.error().text();

  const auto reply = jvm::run_command(*target, {"properties", {}}, Deadline::after(seconds(2)));

  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kAttachDisabled);
  EXPECT_FALSE(process_->read_line(std::chrono::milliseconds(300))); // no thread dump
  EXPECT_TRUE(target->process.running());
}

TEST_P(RealJvm, WithReducedSignalsAnswersWithoutASignal) {
  START_OR_SKIP({"-Xrs"});
  const auto target = find();
  ASSERT_TRUE(target) << target.error().text();
  ASSERT_FALSE(target->process.status()->catches(SIGQUIT)); // it would die of one

  const auto reply = jvm::run_command(*target, {"properties", {}}, Deadline::after(seconds(20)));

  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_TRUE(target->process.running());
}

TEST_P(RealJvm, WithReducedSignalsAndNoSocketSurvives) {
  START_OR_SKIP({"-Xrs"});
  const auto target = find();
  ASSERT_TRUE(target) << target.error().text();
  ASSERT_TRUE(jvm::run_command(*target, {"properties", {}}, Deadline::after(seconds(20))));
  std::filesystem::remove("/tmp/.java_pid" + std::to_string(process_->pid()));

  const auto reply = jvm::run_command(*target, {"properties", {}}, Deadline::after(seconds(2)));

  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kAttachFailed);
  EXPECT_TRUE(target->process.running());
}

TEST_P(RealJvm, ThatIsStoppedIsToldAtOnce) {
  START_OR_SKIP();
  const auto target = find();
  ASSERT_TRUE(target) << target.error().text();
  ASSERT_EQ(::kill(process_->pid(), SIGSTOP), 0);
  while (target->process.status()->state != 'T') {
    ::usleep(1000);
  }

  const auto reply = jvm::run_command(*target, {"properties", {}}, Deadline::after(seconds(5)));

  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kAttachFailed);
  EXPECT_NE(reply.error().message.find("stopped"), std::string::npos);
}

TEST_P(RealJvm, TakesLongArgumentsWhereItSpeaksVersion2) {
  START_OR_SKIP();
  const auto target = find();
  ASSERT_TRUE(target) << target.error().text();
  const std::string release = GetParam();
  const std::string line = "help " + std::string(5000, 'x');

  const auto reply = jvm::run_command(*target, {"jcmd", {line}}, Deadline::after(seconds(20)));

  if (release == "jdk-25") {
    ASSERT_TRUE(reply) << reply.error().text();
    EXPECT_TRUE(reply->text.starts_with("Help unavailable")) << reply->text.substr(0, 200);
  } else {
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::kLimit);
    EXPECT_NE(reply.error().cure.find("JDK 24"), std::string::npos);
  }
}

// A listener of ours that a hostile target would have us connect to.
class Bait {
 public:
  Bait() : path_(folder_.path() + "/bait") {
    socket_.reset(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.c_str(), path_.size() + 1);
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
    EXPECT_EQ(::listen(socket_.get(), 0), 0); // full after one of our attempts
  }
  const std::string& path() const { return path_; }
  bool taken() const { return ::accept(socket_.get(), nullptr, nullptr) >= 0; }

 private:
  testing::TempDir folder_;
  std::string path_;
  base::UniqueFd socket_;
};

// What a hostile process of the JVM's uid can put where the attach socket will be. The JVM replaces
// it when it opens its own.
TEST_P(RealJvm, AnswersThroughAnythingPlantedAsItsSocket) {
  for (const char* plant : {"link to a socket", "link to nothing", "fifo", "file", "socket"}) {
    START_OR_SKIP();
    const auto target = find();
    ASSERT_TRUE(target) << target.error().text();
    const std::string path = "/tmp/.java_pid" + std::to_string(process_->pid());
    const Bait bait;
    const std::string what = plant;
    if (what == "link to a socket") {
      std::filesystem::create_symlink(bait.path(), path);
    } else if (what == "link to nothing") {
      std::filesystem::create_symlink("/tmp/.jprof-test-nothing", path);
    } else if (what == "fifo") {
      ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    } else if (what == "file") {
      std::ofstream(path) << "planted";
    } else {
      std::filesystem::create_hard_link(bait.path(), path);
    }

    const auto reply = jvm::run_command(*target, {"properties", {}}, Deadline::after(seconds(20)));

    ASSERT_TRUE(reply) << plant << ": " << reply.error().text();
    EXPECT_NE(reply->text.find("java.version="), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists("/tmp/.jprof-test-nothing"));
    if (what == "link to a socket") {
      EXPECT_FALSE(bait.taken());
    }
  }
}

TEST_P(RealJvm, IsNotAskedThroughAPlantedTrigger) {
  START_OR_SKIP();
  const auto target = find();
  ASSERT_TRUE(target) << target.error().text();
  testing::TempDir folder;
  const std::string victim = folder.path() + "/created";
  const std::string trigger = "/tmp/.attach_pid" + std::to_string(process_->pid());
  std::filesystem::create_symlink(victim, trigger);

  const auto reply = jvm::run_command(*target, {"properties", {}}, Deadline::after(seconds(20)));

  EXPECT_FALSE(std::filesystem::exists(victim));     // nothing was made through the link
  EXPECT_TRUE(std::filesystem::is_symlink(trigger)); // nor was another's file removed
  EXPECT_TRUE(reply) << reply.error().text();        // its working directory did
  EXPECT_FALSE(std::filesystem::exists(".attach_pid" + std::to_string(process_->pid())));
  std::filesystem::remove(trigger);
}

// A JVM that is 0 to 200 ms old: it has no handler for SIGQUIT at first, and then no attach
// listener.
TEST_P(RealJvm, IsNeverKilledWhileItStarts) {
  constexpr int kTimes = 12; // a thousand in scripts/test --full
  const char* const asked = std::getenv("JPROF_START_ATTEMPTS");
  const int times = asked != nullptr ? std::atoi(asked) : kTimes;
  int answered = 0;
  for (int i = 0; i < times; ++i) {
    testing::JvmOptions options;
    options.part = GetParam();
    if (i % 4 == 3) {
      options.options = {"-Xrs"};
    }
    process_ = testing::start_jvm(options);
    if (process_ == nullptr) {
      GTEST_SKIP() << "scripts/parts " << GetParam() << " has not been run";
    }
    ::usleep(static_cast<useconds_t>(i % 12 * 17000));

    const auto target = find();
    if (target) {
      const auto reply =
          jvm::run_command(*target, {"properties", {}}, Deadline::after(seconds(20)));
      answered += reply ? 1 : 0;
      EXPECT_TRUE(reply || reply.error().code == ErrorCode::kAttachFailed) << reply.error().text();
    } else {
      EXPECT_EQ(target.error().code, ErrorCode::kNotAJvm) << target.error().text();
    }
    const auto line = process_->read_line(seconds(60));
    EXPECT_TRUE(line && *line == "ready")
        << "the JVM died, or printed its threads: " << line.value_or("");
  }
  EXPECT_GT(answered, 0);
}

INSTANTIATE_TEST_SUITE_P(Release, RealJvm,
                         ::testing::Values("jdk-8", "jdk-11", "jdk-17", "jdk-21", "jdk-25",
                                           "jdk-17-musl"),
                         [](const auto& release) {
                           std::string name = release.param;
                           std::erase(name, '-');
                           return name;
                         });

} // namespace
} // namespace jprof

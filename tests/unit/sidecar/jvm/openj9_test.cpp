// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
// A scripted JVM that keeps OpenJ9's side of the rendezvous: directory, semaphore, port, words.
#include "sidecar/jvm/attach_client.h"
#include "sidecar/jvm/openj9_attach.h"
#include "sidecar/jvm/openj9_protocol.h"
#include "tests/support/temp_dir.h"
#include "tests/support/this_process.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sstream>
#include <string>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace jprof::jvm {
namespace {

using base::Deadline;
using base::ErrorCode;
using base::UniqueFd;
using std::chrono::seconds;
using namespace std::string_literals;

// The process is this one; the file system is a folder of the test.
Target this_process() {
  container::LoadedVm vm;
  vm.vm = container::Vm::kOpenJ9;
  return testing::this_process(std::move(vm));
}

class OpenJ9Attach : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(jvm_folder());
    std::ofstream(jvm_folder() + "/attachInfo") << "processId=" << ::getpid() << "\n";
    std::ofstream(folder() + "/_notifier") << "";
    semaphore_ = ::semget(::ftok((folder() + "/_notifier").c_str(), 0xa1), 1, IPC_CREAT | 0600);
    ASSERT_GE(semaphore_, 0);
  }
  void TearDown() override { ::semctl(semaphore_, 0, IPC_RMID); }

  std::string folder() const { return root_.path() + "/tmp/.com_ibm_tools_attach"; }
  std::string jvm_folder() const { return folder() + "/" + std::to_string(::getpid()); }
  container::TargetRoot root() const {
    return container::TargetRoot::from(
        UniqueFd(::open(root_.path().c_str(), O_PATH | O_DIRECTORY)));
  }
  int posts() const { return ::semctl(semaphore_, 0, GETVAL); }

  // What the JVM's thread does when it is woken; the rest is the test's script.
  UniqueFd answer_the_call(std::string* key = nullptr) const {
    sembuf wait{0, -1, 0};
    EXPECT_EQ(::semop(semaphore_, &wait, 1), 0);
    struct stat entry {};
    EXPECT_EQ(::stat((jvm_folder() + "/replyInfo").c_str(), &entry), 0);
    EXPECT_EQ(entry.st_mode & 0777U, 0600U);
    std::ifstream info(jvm_folder() + "/replyInfo");
    std::string line;
    std::getline(info, line);
    EXPECT_EQ(line.size(), 16U);
    int port = 0;
    info >> port;
    if (key != nullptr) {
      *key = line;
    }
    UniqueFd socket = connect_to(port);
    say(socket.get(), "ATTACH_CONNECTED " + line + " \0"s);
    return socket;
  }
  static UniqueFd connect_to(int port) {
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return socket;
  }
  static void say(int socket, const std::string& text) {
    for (const char byte : text) { // short writes
      EXPECT_EQ(::send(socket, &byte, 1, MSG_NOSIGNAL), 1);
    }
  }
  static std::string hear(int socket) {
    std::string heard;
    char byte = 0;
    while (::recv(socket, &byte, 1, 0) == 1 && byte != '\0') {
      heard += byte;
    }
    return heard;
  }

  testing::TempDir root_;
  int semaphore_ = -1;
};

TEST_F(OpenJ9Attach, TalksByteForByte) {
  std::string command;
  std::string farewell;
  std::jthread jvm([&] {
    const UniqueFd socket = answer_the_call();
    command = hear(socket.get());
    say(socket.get(),
        "#comment\nopenj9_diagnostics.string_result=Line\\ 1\\n\\tLine\\: 2 \\u00e9\\\\\n\0"s);
    farewell = hear(socket.get());
    say(socket.get(), "ATTACH_DETACHED\0"s);
  });
  const Target target = this_process();
  const auto deadline = Deadline::after(seconds(10));

  const auto connection = call_openj9(root(), target, deadline);
  ASSERT_TRUE(connection) << connection.error().text();
  const auto reply =
      exchange_openj9(connection->get(), {"jcmd", {"Thread.print -l"}}, deadline, {});
  jvm.join();

  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(command, "ATTACH_DIAGNOSTICS:Thread.print,-l");
  EXPECT_EQ(farewell, "ATTACH_DETACHED");
  EXPECT_EQ(reply->code, 0);
  EXPECT_EQ(reply->text, "Line 1\n\tLine: 2 \u00e9\\");
  EXPECT_FALSE(std::filesystem::exists(jvm_folder() + "/replyInfo"));
  EXPECT_EQ(posts(), 0);
}

TEST_F(OpenJ9Attach, WakesEveryJvmOnceAndTakesBackWhatNobodyTook) {
  for (const char* other : {"1000001", "1000002"}) {
    std::filesystem::create_directories(folder() + "/" + other);
  }
  std::jthread jvm([&] {
    const UniqueFd socket = answer_the_call();
    // Ours took one of three posts; the others are held by the locks until we are connected.
    const UniqueFd lock(::open((folder() + "/1000001/attachNotificationSync").c_str(), O_RDWR));
    EXPECT_TRUE(lock);
  });

  const auto connection = call_openj9(root(), this_process(), Deadline::after(seconds(10)));
  jvm.join();

  ASSERT_TRUE(connection) << connection.error().text();
  EXPECT_EQ(posts(), 0);
}

TEST_F(OpenJ9Attach, IsNotFooledByWhoeverElseConnects) {
  std::string key;
  std::jthread jvm([&] {
    sembuf wait{0, -1, 0};
    ASSERT_EQ(::semop(semaphore_, &wait, 1), 0);
    std::ifstream info(jvm_folder() + "/replyInfo");
    int port = 0;
    info >> key >> port;
    const UniqueFd garbage = connect_to(port);
    say(garbage.get(), "ATTACH_CONNECTED 0000000000000000 \0"s);
    const UniqueFd silent = connect_to(port);
    ::shutdown(silent.get(), SHUT_WR);
    const UniqueFd real = connect_to(port);
    say(real.get(), "ATTACH_CONNECTED " + key + " \0"s);
    EXPECT_EQ(hear(real.get()), "ATTACH_GETSYSTEMPROPERTIES");
    say(real.get(), "a=b\n\0"s);
  });
  const auto deadline = Deadline::after(seconds(10));

  const auto connection = call_openj9(root(), this_process(), deadline);
  ASSERT_TRUE(connection) << connection.error().text();
  const auto reply = exchange_openj9(connection->get(), {"properties", {}}, deadline, {});

  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->text, "a=b\n");
}

TEST_F(OpenJ9Attach, OfAJvmThatDoesNotListenIsToldAndLeavesNothing) {
  const auto late =
      call_openj9(root(), this_process(), Deadline::after(std::chrono::milliseconds(200)));
  EXPECT_EQ(late.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(posts(), 0);
  EXPECT_FALSE(std::filesystem::exists(jvm_folder() + "/replyInfo"));

  std::filesystem::remove(jvm_folder() + "/attachInfo");
  const auto off = call_openj9(root(), this_process(), Deadline::after(seconds(5)));
  EXPECT_EQ(off.error().code, ErrorCode::kAttachDisabled);
  EXPECT_NE(off.error().cure.find("attach.enable"), std::string::npos);
}

TEST_F(OpenJ9Attach, NeverWritesThroughWhatWasPlanted) {
  const std::string precious = root_.path() + "/precious";
  std::ofstream(precious) << "mine";
  ASSERT_EQ(::symlink(precious.c_str(), (jvm_folder() + "/replyInfo").c_str()), 0);
  ASSERT_EQ(::mkfifo((jvm_folder() + "/attachNotificationSync").c_str(), 0666), 0);
  std::jthread jvm([&] { const UniqueFd socket = answer_the_call(); });

  const auto connection = call_openj9(root(), this_process(), Deadline::after(seconds(10)));
  jvm.join();

  EXPECT_TRUE(connection) << connection.error().text();
  std::stringstream kept;
  kept << std::ifstream(precious).rdbuf();
  EXPECT_EQ(kept.str(), "mine");
}

// In a network of its own with 64 ports, half of which are somebody's at 127.0.0.1 only.
TEST_F(OpenJ9Attach, TakesAPortThatIsItsOwnAtBothLoopbackAddresses) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "a network namespace needs root";
  }
  std::thread([&] { // the namespace is this thread's and its children's
    ASSERT_EQ(::unshare(CLONE_NEWNET), 0);
    const UniqueFd control(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq loopback{};
    std::strcpy(loopback.ifr_name, "lo");
    loopback.ifr_flags = IFF_UP | IFF_RUNNING;
    ASSERT_EQ(::ioctl(control.get(), SIOCSIFFLAGS, &loopback), 0);
    const char range[] = "/proc/sys/net/ipv4/ip_local_port_range";
    std::ofstream(range) << "40000 40063\n";
    std::string first;
    std::getline(std::ifstream(range), first);
    ASSERT_EQ(first, "40000\t40063");
    std::vector<UniqueFd> somebodys;
    for (std::uint16_t port = 40000; port < 40032; ++port) {
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_port = htons(port);
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      somebodys.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
      ASSERT_EQ(
          ::bind(somebodys.back().get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    }
    for (int i = 0; i < 8; ++i) {
      std::jthread jvm([&] { const UniqueFd socket = answer_the_call(); });
      const auto connection = call_openj9(root(), this_process(), Deadline::after(seconds(10)));
      EXPECT_TRUE(connection) << connection.error().text();
    }
  })
      .join();
}

TEST_F(OpenJ9Attach, WaitsForAnotherAttacherNoLongerThanAllowed) {
  const UniqueFd other(::open((folder() + "/_attachlock").c_str(), O_RDWR | O_CREAT, 0666));
  ASSERT_EQ(::flock(other.get(), LOCK_EX), 0);

  const auto connection =
      call_openj9(root(), this_process(), Deadline::after(std::chrono::milliseconds(100)));

  EXPECT_EQ(connection.error().code, ErrorCode::kBusy);
}

TEST(OpenJ9Protocol, SaysCommandsInItsOwnWords) {
  EXPECT_EQ(*encode_openj9({"load", {"/a.so", "true", "x=1"}}), "ATTACH_LOADAGENTPATH(/a.so,x=1)");
  EXPECT_EQ(*encode_openj9({"load", {"instrument", "false", "a.jar"}}),
            "ATTACH_LOADAGENT(instrument,a.jar)");
  EXPECT_EQ(*encode_openj9({"threaddump", {}}), "ATTACH_DIAGNOSTICS:Thread.print");
  EXPECT_EQ(*encode_openj9({"dumpheap", {"/tmp/x"}}), "ATTACH_DIAGNOSTICS:Dump.heap,/tmp/x");
  EXPECT_EQ(*encode_openj9({"jcmd", {"help"}}), "ATTACH_DIAGNOSTICS:help");
  EXPECT_EQ(encode_openj9({"setflag", {"A", "1"}}).error().code, ErrorCode::kUsage);
  EXPECT_EQ(encode_openj9({"jcmd", {"a\0b"s}}).error().code, ErrorCode::kUsage);
}

TEST(OpenJ9Protocol, TellsWhatLoadingCameTo) {
  const AttachCommand load{"load", {"/a.so", "true", ""}};
  EXPECT_EQ(*interpret_load(parse_openj9(load, "ATTACH_ACK")), 0);
  EXPECT_EQ(*interpret_load(parse_openj9(load, "ATTACH_ERR AgentInitializationException 102")),
            102);
  EXPECT_EQ(parse_openj9(load, "ATTACH_ERR AgentLoadException not found").code, -1);
  EXPECT_EQ(parse_openj9({"jcmd", {}}, "ATTACH_ERR unknown command").text, "unknown command");
}

TEST(OpenJ9Protocol, TakesMalformedEscapesAsTheyAre) {
  const auto text = [](const std::string& value) {
    return parse_openj9({"jcmd", {}}, "openj9_diagnostics.string_result=" + value).text;
  };
  EXPECT_EQ(text("\\u12"), "u12");
  EXPECT_EQ(text("a\\"), "a");
  EXPECT_EQ(text("\\uzzzz"), "uzzzz");
  EXPECT_EQ(text(""), "");
}

} // namespace
} // namespace jprof::jvm

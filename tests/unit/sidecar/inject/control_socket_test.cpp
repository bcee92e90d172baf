// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/encoding.h"
#include "sidecar/inject/control_socket.h"
#include "tests/support/this_process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace jprof::inject {
namespace {

using base::Deadline;
using base::ErrorCode;
using base::UniqueFd;
using std::chrono::milliseconds;
using std::chrono::seconds;

UniqueFd connect_to(const std::string& path) {
  UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0)
      << std::strerror(errno);
  return fd;
}

std::string option(const std::string& options, const std::string& key) {
  const auto at = options.find(key + "=");
  const auto begin = at + key.size() + 1;
  return options.substr(begin, options.find(',', begin) - begin);
}

wire::HelloMessage hello_for(const ControlSocket& control) {
  wire::HelloMessage hello{};
  hello.header = {static_cast<std::uint32_t>(wire::ControlType::kHello), sizeof hello};
  hello.version = wire::kControlVersion;
  hello.min_version = wire::kMinControlVersion;
  const std::string nonce = option(control.agent_options(), "nonce");
  for (std::size_t i = 0; i < wire::kNonceBytes; ++i) {
    hello.nonce[i] = static_cast<std::uint8_t>(std::stoi(nonce.substr(2 * i, 2), nullptr, 16));
  }
  std::memset(hello.agent_version, 'v', sizeof hello.agent_version); // without its NUL
  return hello;
}

void send_bytes(const UniqueFd& fd, const void* bytes, std::size_t count) {
  EXPECT_EQ(::send(fd.get(), bytes, count, MSG_NOSIGNAL), static_cast<ssize_t>(count));
}

class ControlSocketTest : public ::testing::Test {
 protected:
  ControlSocketTest() : target_(testing::this_process()) {
    auto made = ControlSocket::create(target_, Deadline::after(seconds(5)));
    EXPECT_TRUE(made) << made.error().text();
    control_.emplace(std::move(*made));
  }
  jvm::Target target_;
  std::optional<ControlSocket> control_;
};

TEST_F(ControlSocketTest, AcceptsTheTargetThatKnowsTheNonce) {
  const UniqueFd agent = connect_to(option(control_->agent_options(), "socket"));
  const wire::HelloMessage hello = hello_for(*control_);
  send_bytes(agent, &hello, sizeof hello);

  const auto accepted = control_->accept(Deadline::after(seconds(5)));

  ASSERT_TRUE(accepted) << accepted.error().text();
  EXPECT_EQ(accepted->hello.agent_version[sizeof accepted->hello.agent_version - 1], '\0');
}

TEST_F(ControlSocketTest, HasANameNobodyGuessesAndIsClosedToOthers) {
  struct stat entry {};
  ASSERT_EQ(::stat(control_->path().c_str(), &entry), 0);
  EXPECT_EQ(entry.st_mode & 0777U, 0600U);
  EXPECT_GE(control_->path().size(), std::strlen("/tmp/.jprof-.sock") + 24);

  control_->close();

  EXPECT_NE(::stat(control_->path().c_str(), &entry), 0);
}

TEST_F(ControlSocketTest, LeavesNoFileBehind) {
  const std::string path = control_->path();
  control_.reset();

  EXPECT_FALSE(std::filesystem::exists(path));
}

// What a killed session left: ours by name, kind and owner, old, and nobody listens.
TEST_F(ControlSocketTest, SweepsOldSocketsThatNobodyListensTo) {
  const auto at = [](char mark) { return "/tmp/.jprof-" + std::string(24, mark) + ".sock"; };
  const auto bound = [](const std::string& path, int listening) {
    UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    ::unlink(path.c_str());
    EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_TRUE(listening == 0 || ::listen(fd.get(), 4) == 0);
    return fd;
  };
  const auto age = [](const std::string& path) {
    const timespec times[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
    EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
  };
  const std::string left = at('7'), live = at('6'), young = at('5'), link = at('4'), file = at('3');
  bound(left, 0).reset();
  const UniqueFd listener = bound(live, 1);
  bound(young, 0).reset();
  std::filesystem::remove(link);
  std::filesystem::create_symlink(left, link);
  UniqueFd(::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)).reset();
  for (const std::string& path : {left, live, link, file}) {
    age(path);
  }

  const auto next = ControlSocket::create(target_, Deadline::after(seconds(5)));

  ASSERT_TRUE(next);
  EXPECT_FALSE(std::filesystem::exists(left));
  for (const std::string& path : {live, young, file}) {
    EXPECT_TRUE(std::filesystem::exists(path)) << path;
  }
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  for (const std::string& path : {live, young, link, file}) {
    std::filesystem::remove(path);
  }
}

TEST_F(ControlSocketTest, TurnsStrangersAwayAndKeepsWaiting) {
  const UniqueFd silent = connect_to(control_->path());
  const UniqueFd garbage = connect_to(control_->path());
  send_bytes(garbage, "garbage", 7);
  const UniqueFd wrong = connect_to(control_->path());
  wire::HelloMessage hello = hello_for(*control_);
  hello.nonce[15] ^= 1U;
  send_bytes(wrong, &hello, sizeof hello);
  const UniqueFd cut = connect_to(control_->path());
  hello = hello_for(*control_);
  send_bytes(cut, &hello, sizeof hello - 1);
  const UniqueFd agent = connect_to(control_->path());
  send_bytes(agent, &hello, sizeof hello);
  std::jthread closer([&silent] {
    std::this_thread::sleep_for(milliseconds(50));
    ::shutdown(silent.get(), SHUT_RDWR);
  });

  const auto accepted = control_->accept(Deadline::after(seconds(10)));

  EXPECT_TRUE(accepted) << accepted.error().text();
}

TEST_F(ControlSocketTest, TurnsAnotherProcessAwayThoughItKnowsTheNonce) {
  const wire::HelloMessage hello = hello_for(*control_);
  const pid_t child = ::fork();
  if (child == 0) {
    const UniqueFd fd = connect_to(control_->path());
    (void)::send(fd.get(), &hello, sizeof hello, MSG_NOSIGNAL);
    char byte = 0;
    (void)::recv(fd.get(), &byte, 1, 0); // until it is hung up on
    ::_exit(0);
  }

  const auto accepted = control_->accept(Deadline::after(milliseconds(300)));

  ASSERT_FALSE(accepted);
  EXPECT_EQ(accepted.error().code, ErrorCode::kTimeout);
  ::waitpid(child, nullptr, 0);
}

TEST_F(ControlSocketTest, NamesAnAgentOfAnotherVersion) {
  const UniqueFd agent = connect_to(control_->path());
  wire::HelloMessage hello = hello_for(*control_);
  hello.version = hello.min_version = wire::kControlVersion + 1;
  send_bytes(agent, &hello, sizeof hello);

  const auto accepted = control_->accept(Deadline::after(seconds(5)));

  ASSERT_FALSE(accepted);
  EXPECT_EQ(accepted.error().code, ErrorCode::kAgentFailed);
  EXPECT_FALSE(accepted.error().cure.empty());
}

} // namespace
} // namespace jprof::inject

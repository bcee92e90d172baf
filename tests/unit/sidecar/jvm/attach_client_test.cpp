// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/jvm/attach_client.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <functional>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace jprof::jvm {
namespace {

using base::Deadline;
using base::ErrorCode;
using base::UniqueFd;
using std::chrono::milliseconds;
using std::chrono::seconds;
using namespace std::string_literals;

// A scripted JVM at the other end of a connection.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::function<void(int)> script) {
    std::array<int, 2> pair{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
    client_.reset(pair[0]);
    server_.reset(pair[1]);
    thread_ = std::jthread([this, script = std::move(script)] {
      script(server_.get());
      server_.reset();
    });
  }
  ~ScriptedServer() { client_.reset(); }

  int client() const { return client_.get(); }

 private:
  UniqueFd client_;
  UniqueFd server_;
  std::jthread thread_;
};

std::string read_bytes(int fd, std::size_t count) {
  std::string bytes(count, '\0');
  std::size_t got = 0;
  while (got < count) {
    const ssize_t n = ::read(fd, bytes.data() + got, count - got);
    if (n <= 0) {
      break;
    }
    got += static_cast<std::size_t>(n);
  }
  bytes.resize(got);
  return bytes;
}

bool say(int fd, std::string_view text) {
  return ::send(fd, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

const std::string kRequest = "1\0threaddump\0\0\0\0"s;

TEST(AttachExchange, SendsTheRequestByteForByte) {
  std::string heard;
  base::Result<AttachReply> reply = base::make_failure(ErrorCode::kInternal, "");
  {
    ScriptedServer jvm([&heard](int fd) {
      heard = read_bytes(fd, kRequest.size());
      say(fd, "0\ntext\n");
    });
    reply = exchange(jvm.client(), kRequest, Deadline::after(seconds(5)), {});
  }

  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(heard, kRequest);
  EXPECT_EQ(reply->text, "text\n");
}

TEST(AttachExchange, PutsAnAnswerTogetherFromSingleBytes) {
  ScriptedServer jvm([](int fd) {
    read_bytes(fd, kRequest.size());
    for (const char c : "-1\nHello\n"s) {
      say(fd, std::string(1, c));
      std::this_thread::sleep_for(milliseconds(1));
    }
  });

  const auto reply = exchange(jvm.client(), kRequest, Deadline::after(seconds(5)), {});

  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->code, -1);
  EXPECT_EQ(reply->text, "Hello\n");
}

TEST(AttachExchange, SendsARequestLargerThanTheSocketHolds) {
  const std::string request(8U << 20U, 'r');
  std::size_t heard = 0;
  {
    ScriptedServer jvm([&](int fd) {
      std::this_thread::sleep_for(milliseconds(50)); // the buffer fills first
      heard = read_bytes(fd, request.size()).size();
      say(fd, "0\n");
    });
    EXPECT_TRUE(exchange(jvm.client(), request, Deadline::after(seconds(10)), {}));
  }

  EXPECT_EQ(heard, request.size());
}

TEST(AttachExchange, TakesTheAnswerOfAServerThatStoppedReading) {
  ScriptedServer jvm([](int fd) {
    read_bytes(fd, 2);
    say(fd, "101\n");
    ::shutdown(fd, SHUT_RDWR);
  });

  const auto reply =
      exchange(jvm.client(), std::string(4U << 20U, 'x'), Deadline::after(seconds(5)), {});

  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->code, 101);
}

TEST(AttachExchange, NamesAnEmptyAnswer) {
  ScriptedServer jvm([](int fd) { read_bytes(fd, kRequest.size()); });

  const auto reply = exchange(jvm.client(), kRequest, Deadline::after(seconds(5)), {});

  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kAttachFailed);
}

TEST(AttachExchange, SurvivesAReset) {
  // Closing with unread bytes resets a Unix stream.
  ScriptedServer jvm([](int fd) { read_bytes(fd, 1); });

  const auto reply = exchange(jvm.client(), kRequest, Deadline::after(seconds(5)), {});

  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kAttachFailed);
}

TEST(AttachExchange, EndsAtItsDeadlineWhenTheServerStalls) {
  for (const char* begin : {"", "0", "0\npart of an answer"}) {
    ScriptedServer jvm([begin](int fd) {
      read_bytes(fd, kRequest.size());
      say(fd, begin);
      read_bytes(fd, 1); // until the client hangs up
    });

    const auto reply = exchange(jvm.client(), kRequest, Deadline::after(milliseconds(100)), {});

    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::kTimeout);
  }
}

TEST(AttachExchange, EndsAtItsDeadlineWhenTheServerNeverReads) {
  ScriptedServer jvm([](int fd) {
    pollfd until_hangup{fd, 0, 0};
    ::poll(&until_hangup, 1, -1);
  });

  const auto reply =
      exchange(jvm.client(), std::string(64U << 20U, 'x'), Deadline::after(milliseconds(100)), {});

  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kTimeout);
}

// A JVM does nothing of a request that ends too soon; a whole one it would do after we have gone.
TEST(AttachExchange, WithdrawsARequestThatIsNotRead) {
  UniqueFd jvm;
  bool handed_over = false;
  AttachLimits limits;
  limits.on_handed_over = [&handed_over] { handed_over = true; };
  {
    std::array<int, 2> pair{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()), 0);
    const UniqueFd client(pair[0]);
    jvm.reset(pair[1]);
    const auto reply = exchange(client.get(), kRequest, Deadline::after(milliseconds(100)), limits);

    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, ErrorCode::kTimeout);
    EXPECT_FALSE(reply.error().cure.empty());
  }

  EXPECT_FALSE(handed_over);
  EXPECT_EQ(read_bytes(jvm.get(), kRequest.size()), kRequest.substr(0, kRequest.size() - 1));
}

TEST(AttachExchange, StopsWaitingForAReader) {
  ScriptedServer jvm([](int fd) {
    pollfd until_hangup{fd, 0, 0};
    ::poll(&until_hangup, 1, -1);
  });
  AttachLimits limits;
  limits.stopped = [] { return true; };

  const auto reply = exchange(jvm.client(), kRequest, Deadline::after(seconds(60)), limits);

  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kInterrupted);
}

TEST(AttachExchange, SaysWhenTheJvmHasTheRequest) {
  bool handed_over = false;
  AttachLimits limits;
  limits.on_handed_over = [&handed_over] { handed_over = true; };
  ScriptedServer jvm([](int fd) { read_bytes(fd, kRequest.size()); });

  const auto reply = exchange(jvm.client(), kRequest, Deadline::after(seconds(5)), limits);

  EXPECT_FALSE(reply);
  EXPECT_TRUE(handed_over);
}

TEST(AttachExchange, CutsGigabytesOff) {
  ScriptedServer jvm([](int fd) {
    const std::string piece(1U << 16U, 'y');
    while (say(fd, piece)) {
    }
  });

  const auto reply = exchange(jvm.client(), kRequest, Deadline::after(seconds(20)),
                              {.answer_bytes = 1U << 20U, .on_text = {}});

  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kLimit);
}

TEST(AttachExchange, EndsAStreamWithoutEndAtTheDeadline) {
  ScriptedServer jvm([](int fd) {
    say(fd, "0\n");
    while (say(fd, "drip")) {
      std::this_thread::sleep_for(milliseconds(1));
    }
  });

  const auto reply = exchange(jvm.client(), kRequest, Deadline::after(milliseconds(200)), {});

  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kTimeout);
}

TEST(AttachExchange, RefusesGarbage) {
  ScriptedServer jvm([](int fd) { say(fd, "SSH-2.0-OpenSSH_9.2\r\n"); });

  const auto reply = exchange(jvm.client(), kRequest, Deadline::after(seconds(5)), {});

  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().code, ErrorCode::kProtocol);
}

TEST(AttachExchange, PassesTheTextOnceAndWithoutTheResultLine) {
  std::string expected;
  for (int i = 0; i < 100000; ++i) {
    expected += std::to_string(i) + "\n";
  }
  ScriptedServer jvm([&expected](int fd) {
    say(fd, "-1");
    say(fd, "2");
    say(fd, "\n");
    for (std::size_t at = 0; at < expected.size(); at += 7777) {
      say(fd, std::string_view(expected).substr(at, 7777));
    }
  });
  std::string heard;

  const auto reply = exchange(
      jvm.client(), kRequest, Deadline::after(seconds(20)),
      {.answer_bytes = 1U << 24U, .on_text = [&heard](std::string_view text) { heard += text; }});

  ASSERT_TRUE(reply) << reply.error().text();
  EXPECT_EQ(reply->code, -12);
  EXPECT_EQ(heard, expected);
  EXPECT_LE(reply->text.size(), 64U * 1024);
}

} // namespace
} // namespace jprof::jvm

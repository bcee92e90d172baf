// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/protocol/hello.h"
#include "plugin/capture/capture_run.h"

#include <gtest/gtest.h>

namespace jprof::plugin {
namespace {

using base::ErrorCode;
using protocol::FrameType;

// A sidecar that greets, says how the capture goes, and breaks off.
class BrokenChannel final : public ByteChannel {
 public:
  base::Status write(std::string_view) override { return {}; }
  base::Result<Event> read(std::chrono::milliseconds, int) override {
    switch (step_++) {
    case 0:
      return Event{Event::Kind::kBytes,
                   protocol::encode_frame(FrameType::kHello,
                                          protocol::encode_hello(protocol::our_hello({"record"}))),
                   0};
    case 1:
      return Event{Event::Kind::kBytes,
                   protocol::encode_frame(FrameType::kProgress, protocol::encode_progress({})), 0};
    default:
      return base::make_failure(ErrorCode::kUnavailable, "connection reset");
    }
  }
  const std::string& error_output() const override { return error_output_; }

 private:
  int step_ = 0;
  std::string error_output_;
};

class CaptureRunTest : public ::testing::Test {
 protected:
  base::Result<protocol::ResultMessage> run(std::chrono::milliseconds patience) {
    const auto interrupt = std::move(*Interrupt::create());
    CaptureRun::Options options;
    options.first_delay = std::chrono::milliseconds(0);
    options.patience = patience;
    options.fetch_hint = "kubectl jprof fetch pod/x";
    CaptureRun run(
        [this](int) -> base::Result<std::unique_ptr<ByteChannel>> {
          ++opened_;
          return std::make_unique<BrokenChannel>();
        },
        *interrupt, [this](const protocol::Progress&) { ++told_; }, options);
    protocol::Request request;
    request.record.id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    ReceivedFiles files([](const std::string&) { return std::string(); });
    return run.run(request, files);
  }

  int opened_ = 0;
  int told_ = 0;
};

TEST_F(CaptureRunTest, ConnectsAgainWhileThereIsPatience) {
  const auto result = run(std::chrono::milliseconds(200));

  ASSERT_FALSE(result.has_value()); // in the end: the pod says nothing else
  EXPECT_EQ(result.error().code, ErrorCode::kUnavailable);
  EXPECT_GT(opened_, 1);
  EXPECT_EQ(told_, opened_);
}

TEST_F(CaptureRunTest, GivesUpOnAPodThatOnlySaysHowItGoes) {
  const auto result = run(std::chrono::milliseconds(0));

  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(opened_, 1);
  EXPECT_EQ(result.error().cure,
            "the capture is kept in the pod: kubectl jprof fetch pod/x 01ARZ3NDEKTSV4RRFFQ69G5FAV");
}

} // namespace
} // namespace jprof::plugin

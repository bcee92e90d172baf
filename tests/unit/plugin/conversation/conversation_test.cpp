// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/conversation/conversation.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>

namespace jprof::plugin {
namespace {

using base::ErrorCode;
using protocol::FrameType;
using std::chrono::milliseconds;

// A sidecar whose words are written beforehand; remembers what it was told.
class ScriptedChannel final : public ByteChannel {
 public:
  explicit ScriptedChannel(std::shared_ptr<std::deque<Event>> script)
      : script_(std::move(script)) {}

  base::Status write(std::string_view bytes) override {
    decoder_.feed(bytes);
    for (auto frame = decoder_.take(); frame && *frame; frame = decoder_.take()) {
      told_->push_back(std::move(**frame));
    }
    return {};
  }
  base::Result<Event> read(milliseconds timeout, int) override {
    if (script_->empty() && !for_ever_.empty()) {
      ::usleep(1000);
      return Event{Event::Kind::kBytes, for_ever_, 0};
    }
    if (script_->empty()) {
      // Silence: time passes, quickly.
      ::usleep(static_cast<useconds_t>(std::min<long>(timeout.count(), 5)) * 1000);
      return Event{};
    }
    Event event = std::move(script_->front());
    script_->pop_front();
    return event;
  }
  const std::string& error_output() const override { return error_output_; }

  std::shared_ptr<std::vector<protocol::Frame>> told_ =
      std::make_shared<std::vector<protocol::Frame>>();
  std::string error_output_ = "cannot reach serve\x1b[2J";
  std::string for_ever_; // said again and again once the script is at its end

 private:
  std::shared_ptr<std::deque<Event>> script_;
  protocol::FrameDecoder decoder_;
};

class Quiet final : public ConversationHandler {
 public:
  void on_progress(const protocol::Progress&) override { ++progress; }
  base::Status on_result(const protocol::ResultMessage&) override {
    at_result();
    return {};
  }
  base::Status on_chunk(const protocol::Chunk& chunk) override {
    bytes += chunk.data;
    return {};
  }
  base::Status on_end() override { return {}; }

  int progress = 0;
  std::string bytes;
  std::function<void()> at_result = [] {};
};

class ConversationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    interrupt_ = std::move(*Interrupt::create());
    auto channel = std::make_unique<ScriptedChannel>(script_);
    told_ = channel->told_;
    channel_ = channel.get();
    conversation_ =
        std::make_unique<Conversation>(std::move(channel), *interrupt_, 0,
                                       Conversation::Timing{milliseconds(50), milliseconds(20),
                                                            milliseconds(100), milliseconds(200)});
  }
  void says(FrameType type, const std::string& payload) {
    says_bytes(protocol::encode_frame(type, payload));
  }
  void says_bytes(const std::string& bytes) {
    script_->push_back({ByteChannel::Event::Kind::kBytes, bytes, 0});
  }
  void ends(int code) { script_->push_back({ByteChannel::Event::Kind::kEnded, {}, code}); }
  // Another session, whose sidecar announces a file.
  void begin_anew_with_a_file() {
    script_->clear();
    SetUp();
    says_hello();
    protocol::ResultMessage result;
    result.files = {{"a.html", 2, 0, std::string(64, '0')}};
    says(FrameType::kResult, protocol::encode_result(result));
  }
  void says_hello() {
    says(FrameType::kHello, protocol::encode_hello(protocol::our_hello({"record", "release"})));
  }
  bool was_told(FrameType type) const {
    return std::any_of(told_->begin(), told_->end(),
                       [type](const protocol::Frame& frame) { return frame.type == type; });
  }
  base::Result<protocol::ResultMessage> record() {
    protocol::Request request;
    request.record.id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    return conversation_->run(request, handler_);
  }

  std::shared_ptr<std::deque<ByteChannel::Event>> script_ =
      std::make_shared<std::deque<ByteChannel::Event>>();
  std::shared_ptr<std::vector<protocol::Frame>> told_;
  std::unique_ptr<Interrupt> interrupt_;
  ScriptedChannel* channel_ = nullptr; // the conversation's
  std::unique_ptr<Conversation> conversation_;
  Quiet handler_;
};

TEST_F(ConversationTest, BringsAResultThatComesInPieces) {
  says_hello();
  std::string all = protocol::encode_frame(FrameType::kProgress, protocol::encode_progress({}));
  protocol::ResultMessage result;
  result.files = {{"a.html", 2, 0, std::string(64, '0')}};
  all += protocol::encode_frame(FrameType::kResult, protocol::encode_result(result));
  all += protocol::encode_chunk_frame({0, 0, "hi"});
  all += protocol::encode_frame(FrameType::kEnd, "{}");
  for (const char c : all) {
    says_bytes(std::string(1, c));
  }

  ASSERT_TRUE(conversation_->open().has_value());
  const auto answer = record();

  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(handler_.progress, 1);
  EXPECT_EQ(handler_.bytes, "hi");
}

TEST_F(ConversationTest, RefusesFramesOutOfPlace) {
  for (const FrameType type : {FrameType::kHello, FrameType::kEnd, FrameType::kRequest}) {
    script_->clear();
    SetUp();
    says_hello();
    says(type, "{}");
    ASSERT_TRUE(conversation_->open().has_value());
    EXPECT_EQ(record().error().code, ErrorCode::kProtocol);
    EXPECT_FALSE(conversation_->lost());
  }
}

TEST_F(ConversationTest, PassesARefusalOnWithItsCode) {
  says_hello();
  protocol::ErrorMessage busy;
  busy.error = base::make_error(ErrorCode::kBusy, "busy");
  busy.busy_id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
  busy.busy_until = "2026-01-01T00:00:00Z";
  says(FrameType::kError, protocol::encode_error(busy));
  ASSERT_TRUE(conversation_->open().has_value());

  const auto answer = record();

  EXPECT_EQ(answer.error().code, ErrorCode::kBusy);
  EXPECT_NE(answer.error().cure.find("--join"), std::string::npos);
  EXPECT_FALSE(conversation_->lost());
}

TEST_F(ConversationTest, SaysWhatTheSessionComplainedOfWhenItEnds) {
  ends(8);

  const auto opened = conversation_->open();

  EXPECT_EQ(opened.error().code, ErrorCode::kNoSidecar);
  EXPECT_NE(opened.error().message.find("cannot reach serve\\x1b[2J"), std::string::npos);
}

TEST_F(ConversationTest, TakesAnEndInTheMiddleForALostConnection) {
  says_hello();
  ends(0);
  ASSERT_TRUE(conversation_->open().has_value());

  EXPECT_EQ(record().error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(conversation_->lost());
}

TEST_F(ConversationTest, AsksAndThenGivesUpOnASilentSidecar) {
  EXPECT_EQ(conversation_->open().error().code, ErrorCode::kTimeout);

  SetUp();
  says_hello();
  ASSERT_TRUE(conversation_->open().has_value());
  EXPECT_EQ(record().error().code, ErrorCode::kTimeout);
  EXPECT_TRUE(was_told(FrameType::kPing));
  EXPECT_TRUE(conversation_->lost());
}

TEST_F(ConversationTest, AnswersAPing) {
  says_hello();
  says(FrameType::kPing, "{\"n\":1}");
  ASSERT_TRUE(conversation_->open().has_value());
  static_cast<void>(record());

  EXPECT_TRUE(was_told(FrameType::kPong));
}

TEST_F(ConversationTest, StopsAndKeepsAtTheFirstInterruptAndGivesUpAtTheSecond) {
  says_hello();
  ASSERT_TRUE(conversation_->open().has_value());
  interrupt_->raise();
  static_cast<void>(record());
  ASSERT_TRUE(was_told(FrameType::kCancel));
  EXPECT_EQ(*protocol::parse_cancel(told_->back().type == FrameType::kCancel ? told_->back().payload
                                                                             : (*told_)[2].payload),
            protocol::CancelMode::kKeep);

  interrupt_->raise();
  EXPECT_EQ(record().error().code, ErrorCode::kInterrupted);
}

TEST_F(ConversationTest, SaysWhatBecameOfACaptureThatWasToBeThrownAway) {
  protocol::ErrorMessage discarded;
  discarded.error = base::make_error(ErrorCode::kInterrupted, "the capture was discarded");
  protocol::ErrorMessage unsealed;
  unsealed.error = base::make_error(ErrorCode::kNotStored, "recorded, but cannot be sealed");
  struct Case {
    FrameType type;
    std::string payload;
    ErrorCode code;
    std::string words;
    bool gone;
  };
  for (const Case& one : std::vector<Case>{
           {FrameType::kError, protocol::encode_error(discarded), ErrorCode::kInterrupted,
            "interrupted, nothing kept", true},
           {FrameType::kError, protocol::encode_error(unsealed), ErrorCode::kNotStored,
            "cannot be sealed", false},
           {FrameType::kResult, protocol::encode_result({}), ErrorCode::kInterrupted,
            "was sealed before that", false},
           {FrameType::kProgress, protocol::encode_progress({}), ErrorCode::kInterrupted,
            "has not said that it threw the capture away", false},
       }) {
    script_->clear();
    SetUp();
    says_hello();
    ASSERT_TRUE(conversation_->open().has_value());
    says(one.type, one.payload);
    interrupt_->raise();
    interrupt_->raise();

    const auto result = record();

    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, one.code) << one.words;
    EXPECT_NE(result.error().message.find(one.words), std::string::npos) << result.error().message;
    EXPECT_EQ(conversation_->discarded(), one.gone) << one.words;
  }
}

TEST_F(ConversationTest, WaitsForNoWordWhereNoCaptureCanBeThrownAway) {
  says(FrameType::kHello, protocol::encode_hello(protocol::our_hello({"fetch"})));
  ASSERT_TRUE(conversation_->open().has_value());
  interrupt_->raise();
  interrupt_->raise();
  protocol::Request request;
  request.kind = protocol::RequestKind::kFetch;
  request.fetch.id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

  const auto result = conversation_->run(request, handler_);

  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::kInterrupted);
  EXPECT_EQ(result.error().message, "interrupted, nothing kept here");
}

TEST_F(ConversationTest, BringsFilesThatAreOnTheirWayInSpiteOfAFirstInterrupt) {
  for (const int times : {1, 2}) {
    begin_anew_with_a_file();
    says_bytes(protocol::encode_chunk_frame({0, 0, "hi"}));
    says(FrameType::kEnd, "{}");
    ASSERT_TRUE(conversation_->open().has_value());
    handler_.at_result = [this, times] {
      for (int i = 0; i < times; ++i) {
        interrupt_->raise();
      }
    };

    const auto answer = record();

    EXPECT_EQ(answer.has_value(), times == 1);
    EXPECT_FALSE(was_told(FrameType::kCancel));
  }
}

TEST_F(ConversationTest, ReleasesOnlyWhereTheSidecarKnowsOfIt) {
  says_hello();
  says(FrameType::kEnd, "{}");
  ASSERT_TRUE(conversation_->open().has_value());
  conversation_->release("01ARZ3NDEKTSV4RRFFQ69G5FAV", milliseconds(100));
  EXPECT_TRUE(was_told(FrameType::kRequest));

  SetUp();
  says(FrameType::kHello, protocol::encode_hello(protocol::our_hello({"record"})));
  ASSERT_TRUE(conversation_->open().has_value());
  conversation_->release("01ARZ3NDEKTSV4RRFFQ69G5FAV", milliseconds(100));
  EXPECT_FALSE(was_told(FrameType::kRequest));
}

TEST_F(ConversationTest, GivesUpOnASidecarThatOnlySaysHowItGoes) {
  says_hello();
  channel_->for_ever_ = protocol::encode_frame(FrameType::kProgress, protocol::encode_progress({}));

  ASSERT_TRUE(conversation_->open().has_value());
  const auto answer = record();

  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::kTimeout);
  EXPECT_TRUE(conversation_->lost()); // the capture may be there
  EXPECT_GT(handler_.progress, 1);
}

TEST_F(ConversationTest, GivesUpOnASidecarThatSendsNoFileButIsThere) {
  for (const std::string& word :
       {protocol::encode_frame(FrameType::kPong, "{}"), protocol::encode_chunk_frame({0, 0, ""})}) {
    begin_anew_with_a_file();
    channel_->for_ever_ = word;

    ASSERT_TRUE(conversation_->open().has_value());
    const auto answer = record();

    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().code, ErrorCode::kTimeout);
    EXPECT_TRUE(handler_.bytes.empty());
  }
}

TEST_F(ConversationTest, RefusesToHearHowItGoesOnceThereIsAResult) {
  says_hello();
  says(FrameType::kResult, protocol::encode_result({}));
  says(FrameType::kProgress, protocol::encode_progress({}));

  ASSERT_TRUE(conversation_->open().has_value());
  const auto answer = record();

  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::kProtocol);
}

} // namespace
} // namespace jprof::plugin

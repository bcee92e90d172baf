// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/file.h"
#include "lib/store/file_store.h"
#include "tests/support/object_store_conformance.h"
#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <functional>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace jprof::testing {

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ObjectStoreConformance);

INSTANTIATE_TEST_SUITE_P(Directory, ObjectStoreConformance,
                         ::testing::Values(StoreUnderTest{"FileStore",
                                                          [](const std::string& place) {
                                                            static const TempDir kRoot;
                                                            return store::make_file_store(
                                                                kRoot.path() + "/" + place);
                                                          }}),
                         store_name);

} // namespace jprof::testing

namespace jprof::store {
namespace {

using base::ErrorCode;

ObjectKey key(const std::string& text) {
  return ObjectKey::parse(text).value();
}

std::vector<std::string> names_below(const std::string& directory) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    out.push_back(entry.path().lexically_relative(directory));
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(FileStore, IsCheckedWithoutMakingAnything) {
  const testing::TempDir directory;
  ASSERT_TRUE(base::write_file_atomically(directory.path() + "/file", "x", 0600).has_value());

  EXPECT_TRUE(make_file_store(directory.path() + "/deep/root")->check().has_value());
  const Status in_file = make_file_store(directory.path() + "/file/root")->check();
  const Status at_file = make_file_store(directory.path() + "/file")->check();

  EXPECT_EQ(names_below(directory.path()), std::vector<std::string>{"file"});
  EXPECT_FALSE(in_file.has_value());
  ASSERT_FALSE(at_file.has_value());
  EXPECT_EQ(at_file.error().code, ErrorCode::kUsage);
}

TEST(FileStore, LeavesNothingBesideTheObject) {
  const testing::TempDir directory;
  const auto store = make_file_store(directory.path() + "/deep/root");

  ASSERT_TRUE(put_text(*store, key("a/b"), "x", {}).has_value());
  ASSERT_TRUE(put_text(*store, key("a/b"), "x", {}).has_value());
  ASSERT_FALSE(put_text(*store, key("a/b"), "y", {}).has_value());

  EXPECT_EQ(names_below(directory.path() + "/deep/root"), (std::vector<std::string>{"a", "a/b"}));
  struct stat info {};
  ASSERT_EQ(::stat((directory.path() + "/deep/root/a/b").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0640U);
}

// A body during whose reading something else happens.
class Interrupted final : public http::BodySource {
 public:
  explicit Interrupted(std::function<void()> what) : what_(std::move(what)) {}
  std::uint64_t size_bytes() const override { return 1; }
  Result<std::size_t> read(std::uint64_t, std::span<std::byte> out) const override {
    what_();
    out[0] = std::byte{'x'};
    return 1;
  }

 private:
  std::function<void()> what_;
};

TEST(FileStore, ClearsAwayWhatAKilledWriterLeft) {
  const testing::TempDir directory;
  const auto store = make_file_store(directory.path());
  const pid_t child = ::fork();
  if (child == 0) {
    const Interrupted body([] { ::kill(::getpid(), SIGKILL); });
    static_cast<void>(store->put(key("a/b"), {body, base::sha256("x")}, {}));
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_EQ(names_below(directory.path()).size(), 2U); // "a" and what was left

  ASSERT_TRUE(put_text(*store, key("a/b"), "x", {}).has_value());

  EXPECT_EQ(names_below(directory.path()), (std::vector<std::string>{"a", "a/b"}));
}

TEST(FileStore, LeavesWhatIsBeingWrittenAlone) {
  const testing::TempDir directory;
  const auto store = make_file_store(directory.path());
  const Interrupted body([&] { ASSERT_TRUE(put_text(*store, key("a/c"), "y", {}).has_value()); });

  const auto put = store->put(key("a/b"), {body, base::sha256("x")}, {});

  ASSERT_TRUE(put.has_value()) << put.error().message;
  EXPECT_EQ(names_below(directory.path()), (std::vector<std::string>{"a", "a/b", "a/c"}));
}

TEST(FileStore, WritesBesideManyOthers) {
  const testing::TempDir directory;
  std::vector<std::jthread> writers;
  std::atomic<int> stored = 0;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      const auto store = make_file_store(directory.path());
      for (int i = 0; i < 100; ++i) {
        const std::string name = "a/" + std::to_string(writer) + "-" + std::to_string(i);
        stored += put_text(*store, key(name), name, {}) ? 1 : 0;
      }
    });
  }
  writers.clear();
  EXPECT_EQ(stored, 400);
  EXPECT_EQ(names_below(directory.path()).size(), 401U);
}

TEST(FileStore, DoesNotFollowALinkOutOfItsRoot) {
  const testing::TempDir directory;
  std::filesystem::create_directories(directory.path() + "/root/real");
  std::filesystem::create_directories(directory.path() + "/outside");
  std::filesystem::create_directory_symlink(directory.path() + "/outside",
                                            directory.path() + "/root/link");
  std::filesystem::create_symlink(directory.path() + "/outside/secret",
                                  directory.path() + "/root/real/object");
  ASSERT_TRUE(
      base::write_file_atomically(directory.path() + "/outside/secret", "s", 0600).has_value());
  const auto store = make_file_store(directory.path() + "/root");

  EXPECT_FALSE(put_text(*store, key("link/x"), "x", {}).has_value());
  EXPECT_FALSE(get_text(*store, key("link/secret"), 10).has_value());
  EXPECT_FALSE(get_text(*store, key("real/object"), 10).has_value());
  EXPECT_FALSE(put_text(*store, key("real/object"), "s", {}).has_value());
  EXPECT_EQ(names_below(directory.path() + "/outside"), std::vector<std::string>{"secret"});
}

TEST(FileStore, IsNotHungByAFifo) {
  const testing::TempDir directory;
  ASSERT_EQ(::mkfifo((directory.path() + "/object").c_str(), 0600), 0);
  const auto store = make_file_store(directory.path());

  const auto text = get_text(*store, key("object"), 10);

  ASSERT_FALSE(text.has_value());
  EXPECT_EQ(text.error().code, ErrorCode::kIo);
}

TEST(FileStore, PassesOverFilesThatAreNoObjects) {
  const testing::TempDir directory;
  const auto store = make_file_store(directory.path());
  ASSERT_TRUE(put_text(*store, key("a"), "1", {}).has_value());
  for (const char* name : {"~jprof-left-over", "with space", "b\n"}) {
    ASSERT_TRUE(base::write_file_atomically(directory.path() + "/" + name, "x", 0600).has_value());
  }
  std::vector<std::string> seen;

  ASSERT_TRUE(store
                  ->list("",
                         [&](const ObjectKey& at, std::uint64_t) -> Status {
                           seen.push_back(at.text());
                           return {};
                         })
                  .has_value());

  EXPECT_EQ(seen, std::vector<std::string>{"a"});
}

TEST(FileStore, NamesTheFileItCannotWrite) {
  const auto store = make_file_store("/proc/jprof-cannot-be-made");

  const auto receipt = put_text(*store, key("a"), "1", {});

  ASSERT_FALSE(receipt.has_value());
  EXPECT_NE(receipt.error().message.find("/proc/jprof-cannot-be-made"), std::string::npos);
}

TEST(FileStore, FailsWhenTheBytesEndTooEarly) {
  class Shrinking final : public http::BodySource {
   public:
    std::uint64_t size_bytes() const override { return 100; }
    Result<std::size_t> read(std::uint64_t, std::span<std::byte>) const override {
      return std::size_t{0};
    }
  } const body;
  const testing::TempDir directory;

  const auto receipt =
      make_file_store(directory.path())->put(key("a"), {body, base::sha256("")}, {});

  ASSERT_FALSE(receipt.has_value());
  EXPECT_EQ(receipt.error().code, ErrorCode::kIo);
  EXPECT_TRUE(names_below(directory.path()).empty());
}

} // namespace
} // namespace jprof::store

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/unique_fd.h"
#include "sidecar/jvm/jvm_release.h"

#include <gtest/gtest.h>

#include <string>
#include <sys/mman.h>
#include <unistd.h>

namespace jprof::jvm {
namespace {

using namespace std::string_literals;

TEST(JvmRelease, CallsJava8AsPeopleDo) {
  EXPECT_EQ(known_version("25.412-b08"), "8u412-b08");
  EXPECT_EQ(known_version("1.8.0_412-b08"), "8u412-b08");
  EXPECT_EQ(known_version("1.8.0_412"), "8u412");
  EXPECT_EQ(known_version("1.8.0_504-8u504-ga-1-b01"), "8u504-b01"); // Debian's
  EXPECT_EQ(known_version("1.8.0_504-8u504-ga"), "8u504");
  EXPECT_EQ(known_version("1.8.0_412-internal-b00"), "8u412-internal-b00");
  EXPECT_EQ(feature_version(known_version("25.412-b08")), 8);
  for (const char* other : {"25+36", "25.0.1+8-LTS", "25.0.1-b08", "25-ea+1-b2", "25.412",
                            "25.-b08", "17.0.15+6", "1.8.0", "1.8.0_", "11.0.2-b5", ""}) {
    EXPECT_EQ(known_version(other), other);
  }
}

TEST(FeatureVersion, IsTheNumberPeopleSay) {
  EXPECT_EQ(feature_version("1.8.0_504-b01"), 8);
  EXPECT_EQ(feature_version("11.0.24+8"), 11);
  EXPECT_EQ(feature_version("25"), 25);
  EXPECT_EQ(feature_version("25-ea"), 25);
  EXPECT_EQ(feature_version(""), 0);
  EXPECT_EQ(feature_version("x"), 0);
  EXPECT_EQ(feature_version("999999999999"), 0);
}

TEST(LibraryScan, FindsTheVersionAndTheVendor) {
  LibraryScan scan;
  scan.add("\0\0 JRE (not a version) \0OpenJDK 64-Bit Server VM (25.504-b01) for linux-amd64 JRE "
           "(1.8.0_504-b01), built on\0Azul Systems, Inc.\0"s);

  EXPECT_TRUE(scan.complete());
  EXPECT_EQ(scan.found().version, "8u504-b01");
  EXPECT_EQ(scan.found().feature, 8);
  EXPECT_EQ(scan.found().vendor, "Azul Systems, Inc.");
}

TEST(LibraryScan, TakesAVendorOnlyAsAWholeString) {
  LibraryScan scan;
  scan.add("\0see SAP SE for more\0xEclipse Adoptium\0"s);

  EXPECT_EQ(scan.found().vendor, "");
}

TEST(Library, IsReadAcrossPieces) {
  // The text lies where two pieces meet.
  std::string bytes = "\177ELF"s + std::string(14, '\0') + "\x3e\0"s;
  bytes.resize((1U << 20U) - 20, 'x');
  bytes += "\0VM (17) for linux-amd64 JRE (17.0.15+6), built\0Eclipse Adoptium\0"s;
  bytes.resize(3U << 20U, 'y');
  const base::UniqueFd file(::memfd_create("libjvm", MFD_CLOEXEC));
  ASSERT_EQ(::write(file.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));

  const auto release = read_library(file.get());

  ASSERT_TRUE(release);
  EXPECT_EQ(release->version, "17.0.15+6");
  EXPECT_EQ(release->vendor, "Eclipse Adoptium");
  EXPECT_EQ(release->arch, "x86_64");
}

TEST(ReleaseFile, HasQuotedValues) {
  const JvmRelease release =
      parse_release_file("IMPLEMENTOR=\"Azul Systems, "
                         "Inc.\"\nJAVA_VERSION=\"17.0.20\"\nJAVA_RUNTIME_VERSION=\"17.0.20+1\"\n");

  EXPECT_EQ(release.version, "17.0.20+1");
  EXPECT_EQ(release.vendor, "Azul Systems, Inc.");
  EXPECT_EQ(release.feature, 17);
  EXPECT_EQ(parse_release_file("JAVA_VERSION=\"17\"").version, "17");
  EXPECT_EQ(parse_release_file("JAVA_VERSION").version, "");
}

TEST(Machine, IsNamedFromTheHeader) {
  EXPECT_EQ(machine_name("\177ELF"s + std::string(14, '\0') + "\xb7\0"s), "aarch64");
  EXPECT_EQ(machine_name("\177ELF"), "");
  EXPECT_EQ(machine_name(std::string(64, 'x')), "");
}

TEST(Machine, OfAnotherKindIsRefusedWithACure) {
  const base::Status refused = check_machine("s390x");

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::ErrorCode::kJvmUnsupported);
  EXPECT_NE(refused.error().message.find("s390x"), std::string::npos);
  EXPECT_FALSE(refused.error().cure.empty());
  EXPECT_TRUE(check_machine("")); // not known: the JVM will say
}

} // namespace
} // namespace jprof::jvm

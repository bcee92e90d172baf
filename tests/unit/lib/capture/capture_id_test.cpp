// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/capture/capture_id.h"

#include <gtest/gtest.h>

namespace jprof::capture {
namespace {

TEST(CaptureId, IsAUlidOrADigest) {
  EXPECT_TRUE(is_capture_id("01ARZ3NDEKTSV4RRFFQ69G5FAV"));
  EXPECT_TRUE(is_capture_id(std::string(64, 'a')));
  for (const std::string& no : {std::string(), std::string("../../../etc/passwd/xxxxxx"),
                                std::string(64, 'A'), std::string(63, 'a'), std::string(26, '/')}) {
    EXPECT_FALSE(is_capture_id(no)) << no;
  }
}

TEST(CaptureId, OfARepeatedAlertIsTheSame) {
  const std::string first = incident_id("f1", "2026-11-21T10:00:00Z", "uid");

  EXPECT_TRUE(is_capture_id(first));
  EXPECT_EQ(first, incident_id("f1", "2026-11-21T10:00:00Z", "uid"));
  EXPECT_NE(first, incident_id("f2", "2026-11-21T10:00:00Z", "uid"));
  EXPECT_NE(first, schedule_id("f1", "2026-11-21T10:00:00Z", "uid"));
}

TEST(CaptureId, KeepsPartsApart) {
  EXPECT_NE(incident_id("ab", "c", "d"), incident_id("a", "bc", "d"));
  EXPECT_NE(incident_id("a\n1:b", "c", "d"), incident_id("a", "b\n1:c", "d"));
}

} // namespace
} // namespace jprof::capture

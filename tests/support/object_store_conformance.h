// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/store/object_store.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>

// What every object store must do, whatever is behind it. A test file of a store instantiates the
// suite: INSTANTIATE_TEST_SUITE_P(Where, ObjectStoreConformance, Values(StoreUnderTest{...})).
namespace jprof::testing {

struct StoreUnderTest {
  std::string name;
  // The store at a place of this name; the same name is the same place, which starts empty.
  std::function<std::unique_ptr<store::ObjectStore>(const std::string& place)> make;
};

class ObjectStoreConformance : public ::testing::TestWithParam<StoreUnderTest> {
 protected:
  ObjectStoreConformance() : store_(reopen()) {}

  std::unique_ptr<store::ObjectStore> reopen() const { return GetParam().make(place_); }

 private:
  std::string place_ =
      "case-" + std::to_string(::testing::UnitTest::GetInstance()->current_test_info()->line());

 protected:
  std::unique_ptr<store::ObjectStore> store_;
};

inline void PrintTo(const StoreUnderTest& under_test, std::ostream* out) {
  *out << under_test.name;
}

inline std::string store_name(const ::testing::TestParamInfo<StoreUnderTest>& info) {
  return info.param.name;
}

} // namespace jprof::testing

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "plugin/terminal/table.h"

#include <gtest/gtest.h>

namespace jprof::plugin {
namespace {

TEST(Table, AlignsColumnsAndMakesCellsHarmless) {
  EXPECT_EQ(table_text({{"A", "LONG"}, {"evil\x1b[2J", ""}}),
            "A            LONG\nevil\\x1b[2J  -\n");
}

} // namespace
} // namespace jprof::plugin

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/markup.h"

#include <gtest/gtest.h>

namespace jprof::base {
namespace {

TEST(Markup, EscapesWhatEndsTextOrAQuotedAttribute) {
  EXPECT_EQ(escape_markup("<&\">x'"), "&lt;&amp;&quot;&gt;x&#39;");
  EXPECT_EQ(escape_markup("&lt;"), "&amp;lt;");
  EXPECT_EQ(escape_markup("é\n"), "é\n");
  EXPECT_EQ(escape_markup(""), "");
}

} // namespace
} // namespace jprof::base

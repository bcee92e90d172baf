// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/page/columns.h"
#include "lib/profile/profile.h"
#include "lib/render/call_tree.h"

#include <string_view>
#include <vector>

namespace jprof::page {

struct TreeSizes {
  std::size_t frames = 0;
  std::size_t names = 0;
  std::size_t modules = 0; // libraries of native frames
};

// The columns of names, frames and tree. `weights`: samples differ in weight, so both are written.
TreeSizes put_tree(Columns& columns, const profile::Profile& profile, const render::CallTree& tree,
                   bool weights);

// Texts joined, with their lengths in UTF-16 units: what a browser cuts strings by.
void put_texts(Columns& columns, std::string_view lengths_id, std::string_view texts_id,
               const std::vector<std::string_view>& texts);

} // namespace jprof::page

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/profile/profile.h"

#include <string>

namespace jprof::render {

// The call tree as text, one line per node with its shares of total and self and its samples,
// indented by depth, heaviest first. Names are made safe for a terminal.
std::string write_tree_text(const profile::Profile& profile,
                            profile::EventId event = profile::kFirstEvent);

// The call tree as one JSON object: {"format": "jprof-tree", "unit", "total", ..., "tree": {"name",
// "kind", "total", "self", "samples", "children": [...]}}. Weights are in the unit; `samples` are
// those that end at the node, so the tree folds back to the same stacks.
std::string write_tree_json(const profile::Profile& profile,
                            profile::EventId event = profile::kFirstEvent);

} // namespace jprof::render

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace jprof::plugin {

// Rows in columns, the first row being the header; cells are made safe for a terminal, and empty
// ones become "-".
std::string table_text(std::vector<std::vector<std::string>> rows);

} // namespace jprof::plugin

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/json.h"
#include "sidecar/doctor/examine.h"

#include <string>
#include <vector>

namespace jprof::doctor {

// How `list` and `doctor` print.
enum class Form { kTable, kWide, kJson, kYaml };
base::Result<Form> parse_form(const std::string& word);

// {"ok", "jvms": [{"pid", "namespacePids", "uid", ... , "ready", "checks"}]}
base::Json to_json(const std::vector<Examination>& jvms);
// Columns with a header, made safe for a terminal.
std::string to_table(const std::vector<Examination>& jvms, Form form);
// "45s", "12m", "3h20m", "5d4h".
std::string short_age(std::chrono::seconds age);

} // namespace jprof::doctor

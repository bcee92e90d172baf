// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#include "sidecar/doctor/report.h"

#include "lib/base/encoding.h"

#include <algorithm>
#include <array>
#include <utility>

namespace jprof::doctor {
namespace {

using base::ErrorCode;

constexpr std::size_t kMaxCellLength = 100;

std::string_view vm_word(container::Vm vm) {
  return vm == container::Vm::kHotSpot ? "HotSpot" : vm == container::Vm::kOpenJ9 ? "OpenJ9" : "";
}

std::string_view libc_word(container::Libc libc) {
  return libc == container::Libc::kMusl ? "musl" : libc == container::Libc::kGlibc ? "glibc" : "";
}

std::string ready_word(const Examination& jvm) {
  const checks::Check* obstacle = jvm.obstacle();
  return obstacle == nullptr ? "yes" : "no: " + std::string(checks::check_word(obstacle->id));
}

base::Json row_of(const Examination& jvm) {
  base::Json row = {{"pid", jvm.pid}};
  if (jvm.candidate) {
    const jvm::Target& target = jvm.candidate->target;
    row["namespacePids"] = target.status.namespace_pids;
    row["uid"] = target.status.effective_uid;
    row["gid"] = target.status.effective_gid;
    row["vm"] = vm_word(target.vm.vm);
    row["libc"] = libc_word(target.vm.libc);
    row["agentResident"] = !target.vm.agent_library.empty();
  }
  row["main"] = jvm.facts.command.main;
  row["javaVersion"] = jvm.facts.release.version;
  row["vendor"] = jvm.facts.release.vendor;
  row["arch"] = jvm.facts.release.arch;
  row["containerId"] = jvm.facts.ids.container_id;
  row["podUid"] = jvm.facts.ids.pod_uid;
  row["uptimeSeconds"] = jvm.facts.uptime.count();
  row["ready"] = jvm.ready();
  if (const checks::Check* obstacle = jvm.obstacle()) {
    row["reason"] = base::reason_word(obstacle->code);
    row["cause"] = obstacle->detail;
    row["cure"] = obstacle->cure;
  }
  row["checks"] = checks::to_json(jvm.checks);
  return row;
}

std::vector<std::string> cells_of(const Examination& jvm, Form form) {
  std::string inner;
  std::string uid;
  std::string gid;
  std::string libc;
  if (jvm.candidate) {
    const container::ProcessStatus& status = jvm.candidate->target.status;
    for (const pid_t pid : status.namespace_pids) {
      inner += (inner.empty() ? "" : ">") + std::to_string(pid);
    }
    uid = std::to_string(status.effective_uid);
    gid = std::to_string(status.effective_gid);
    libc = libc_word(jvm.candidate->target.vm.libc);
  }
  const jvm::JvmFacts& facts = jvm.facts;
  if (form == Form::kTable) {
    return {std::to_string(jvm.pid), uid,
            facts.release.version,   short_age(facts.uptime),
            ready_word(jvm),         facts.command.main};
  }
  return {std::to_string(jvm.pid),
          inner,
          uid,
          gid,
          facts.release.version,
          facts.release.vendor,
          libc,
          facts.release.arch,
          short_age(facts.uptime),
          facts.ids.container_id.substr(0, 12),
          facts.ids.pod_uid,
          ready_word(jvm),
          facts.command.main};
}

std::vector<std::string> header_of(Form form) {
  if (form == Form::kTable) {
    return {"PID", "UID", "JAVA", "UP", "READY", "MAIN"};
  }
  return {"PID",  "PIDS", "UID",       "GID", "JAVA",  "VENDOR", "LIBC",
          "ARCH", "UP",   "CONTAINER", "POD", "READY", "MAIN"};
}

} // namespace

base::Result<Form> parse_form(const std::string& word) {
  constexpr std::array<std::pair<std::string_view, Form>, 4> kForms = {{
      {"table", Form::kTable},
      {"wide", Form::kWide},
      {"json", Form::kJson},
      {"yaml", Form::kYaml},
  }};
  for (const auto& [name, form] : kForms) {
    if (name == word) {
      return form;
    }
  }
  return base::make_failure(ErrorCode::kUsage, "no output form '" + base::printable(word) + "'",
                            "-o takes table, wide, json or yaml");
}

base::Json to_json(const std::vector<Examination>& jvms) {
  base::Json rows = base::Json::array();
  for (const Examination& jvm : jvms) {
    rows.push_back(row_of(jvm));
  }
  return {{"ok", true}, {"jvms", std::move(rows)}};
}

std::string to_table(const std::vector<Examination>& jvms, Form form) {
  std::vector<std::vector<std::string>> rows = {header_of(form)};
  for (const Examination& jvm : jvms) {
    rows.push_back(cells_of(jvm, form));
  }
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = row[i].empty() ? "-" : base::printable(row[i], kMaxCellLength);
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      out += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    }
    out += row.back() + "\n";
  }
  return out;
}

std::string short_age(std::chrono::seconds age) {
  const long long s = age.count();
  constexpr long long kMinute = 60, kHour = 3600, kDay = 86400;
  const auto two = [](long long big, char unit, long long small, char small_unit) {
    return std::to_string(big) + unit +
           (small > 0 ? std::to_string(small) + small_unit : std::string());
  };
  if (s < kMinute) {
    return std::to_string(s) + "s";
  }
  if (s < kHour) {
    return two(s / kMinute, 'm', s < 10 * kMinute ? s % kMinute : 0, 's');
  }
  return s < kDay ? two(s / kHour, 'h', s % kHour / kMinute, 'm')
                  : two(s / kDay, 'd', s % kDay / kHour, 'h');
}

} // namespace jprof::doctor

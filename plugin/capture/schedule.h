// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace jprof::plugin {

// When a CronJob's controller meant a Job to run: Kubernetes names each of them
// "<cronjob>-<minutes since 1970>" (cronjob_controllerv2.go, getTimeHashInMinutes). Nothing for
// other names, such as those of `kubectl create job --from=cronjob/x`.
std::optional<std::chrono::system_clock::time_point> scheduled_time(std::string_view job);

// The Job of a pod, by the name that its controller gave it ("<job>-<5 characters>"); empty if it
// does not look like one.
std::string_view job_of_pod(std::string_view pod);

} // namespace jprof::plugin

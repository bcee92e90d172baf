# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# What the CronJob of suites/schedule.sh has left in the bucket.

job_succeeded() {
  local end=$((SECONDS + 240))
  until inside kubectl -n shop-nightly get jobs -o jsonpath='{.items[*].status.succeeded}' | grep -q 1; do
    if ((SECONDS >= end)); then
      inside kubectl -n shop-nightly get jobs,pods,events
      inside kubectl -n shop-nightly logs -l app.kubernetes.io/name=jprof --tail=20
      return 1
    fi
    sleep 0.5
  done
  inside kubectl -n shop-nightly patch cronjob nightly-timed --patch '{"spec": {"suspend": true}}'
}

at_least_one_bundle() {
  local count
  count=$(find "$s3/data/$bucket/by-schedule" -name manifest.json | wc -l)
  ((count > 0)) && bundles_are_whole by-schedule "$count"
}

check "the controller has run the CronJob, and its capture succeeded" job_succeeded
check "what it stored is whole" at_least_one_bundle
undeploy timed

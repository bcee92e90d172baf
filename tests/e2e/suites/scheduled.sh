# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# What the CronJobs of suites/schedule.sh have left in the bucket.

succeeded() { # CRONJOB: how often, one number for each of its Jobs
  inside kubectl -n shop-nightly get jobs \
    -o jsonpath="{.items[?(@.metadata.ownerReferences[0].name==\"$1\")].status.succeeded}"
}
job_succeeded() { # CRONJOB
  local end=$((SECONDS + 240))
  until succeeded "$1" | grep -q 1; do
    if ((SECONDS >= end)); then
      inside kubectl -n shop-nightly get jobs,pods,events
      inside kubectl -n shop-nightly logs -l app.kubernetes.io/name=jprof --tail=20
      return 1
    fi
    sleep 0.5
  done
  inside kubectl -n shop-nightly patch "cronjob/$1" --patch '{"spec": {"suspend": true}}'
}

at_least_one_bundle() { # KIND.NAME of the workload
  local count path
  path=$(echo "$s3/data/$bucket/by-schedule/v1"/*/shop/"$1")
  count=$(find "$path" -name manifest.json | wc -l)
  ((count > 0)) && bundles_are_whole "${path#"$s3/data/$bucket/"}" "$count"
}

# A cluster has the same name in a store whether it is asked from inside (the CronJob) or from outside (the developer).
one_cluster() {
  local names
  names=$(find "$s3/data/$bucket"/{by-schedule,by-plugin}/v1 -mindepth 1 -maxdepth 1 -printf '%P\n' | tee /dev/stderr)
  [[ $(wc -l <<<"$names") == 2 && $(sort -u <<<"$names" | wc -l) == 1 ]]
}

for workload in timed:deployment timed-set:statefulset; do
  name=${workload%:*}
  check "the controller has run the CronJob $name, and its capture succeeded" job_succeeded "nightly-$name"
  check "what it stored is whole" at_least_one_bundle "${workload#*:}.$name"
done
check "it lies under the prefix that a developer's captures have" one_cluster
undeploy timed
undeploy timed-set

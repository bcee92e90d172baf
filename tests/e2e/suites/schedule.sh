# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# The chart's CronJobs on pods of their own; the real controller starts them at the full minute. suites/scheduled.sh looks at
# what came of them, later.

stage_namespace shop-nightly
inside kubectl -n shop-nightly create secret generic s3-writer --from-literal="AWS_ACCESS_KEY_ID=$S3_ACCESS_KEY" \
  --from-literal="AWS_SECRET_ACCESS_KEY=$S3_SECRET_KEY" >/dev/null
scheduled_pod() { # NAME KIND HELM-SETTINGS
  begin_deploy "$1" --set "kind=$2,jprof-sidecar.source.workloadKind=${2,,},jprof-sidecar.source.workload=$1,$3"
}
timed_run() {
  scheduled_pod timed Deployment cpu=200m && scheduled_pod timed-set StatefulSet cpu=100m,jprof-sidecar.resources.cpu=100m &&
    await_deployed timed && await_deployed timed-set
}
check "a Deployment and a StatefulSet for scheduled captures run" timed_run
check "the chart makes CronJobs in another restricted namespace" \
  inside "$helm" upgrade --install -n shop-nightly nightly "$repo/charts/jprof" --values - <<YAML
image: {repository: localhost/jprof, tag: "1", pullPolicy: Never}
rbac: {namespaces: [shop]}
sidecarConfig: {create: false}
store:
  url: s3://$bucket/by-schedule
  credentialsSecret: s3-writer
  caConfigMap: s3-ca
  env: {AWS_REGION: us-east-1, AWS_ENDPOINT_URL: "https://$node_address:7070"}
cronJobs:
  - {name: timed, schedule: "* * * * *", workload: deploy/timed, duration: 2s, maxPods: 1}
  - {name: timed-set, schedule: "* * * * *", workload: sts/timed-set, duration: 2s, maxPods: 1}
YAML

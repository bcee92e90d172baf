# shellcheck shell=bash disable=SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# The chart's CronJob on a pod of its own; the real controller starts it at the full minute. suites/scheduled.sh looks at
# what came of it, later.

stage_namespace shop-nightly
inside kubectl -n shop-nightly create secret generic s3-writer --from-literal="AWS_ACCESS_KEY_ID=$S3_ACCESS_KEY" \
  --from-literal="AWS_SECRET_ACCESS_KEY=$S3_SECRET_KEY" >/dev/null
check "a pod for scheduled captures runs" \
  deploy timed --set cpu=200m,kind=Deployment,jprof-sidecar.source.workloadKind=deployment,jprof-sidecar.source.workload=timed
check "the chart makes a CronJob in another restricted namespace" \
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
YAML

# shellcheck shell=bash disable=SC2016,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# Every command and every way to name a target, with the rights that the chart gives and no other.

left_to_fetch() {
  local id
  begin_capture "$1" --duration 2s -o left-to-fetch.html && kill_plugin && id=$(sealed_capture "$1") &&
    jprof fetch "$1" "$id" -n shop -o "$work/laptop/fetched-by-right.html"
}

check "a Deployment runs" deploy many --set cpu=200m,kind=Deployment
many=$(k get pod -l app=many -o jsonpath='{.items[0].metadata.name}')
check "record deploy/NAME" jprof deploy/many -n shop --duration 1s -o deploy.html
check "record rs/NAME" jprof "rs/${many%-*}" -n shop --duration 1s -o rs.html
check "record -l" jprof record -l app=many -n shop --duration 1s -o selected.html
for kind in sts ds job; do
  # Without the right the server would not say that there is none.
  check_exit "$kind/NAME: looked for" 3 'nosuch.*not found' jprof "$kind/nosuch" -n shop --duration 1s
done
check_output "doctor" 'pass +jvm' jprof doctor deploy/many -n shop
check_output "list" "^$many +Running +running" jprof list -n shop
check_output "list deploy/NAME" 'shop\.Shop' jprof list deploy/many -n shop
check "fetch" left_to_fetch "$many"
check_exit "attach: only the sidecar's own allow: is in the way" 4 'allow' jprof attach -n shop deploy/many properties
check_output "gc" 'nothing of jprof is left' jprof gc deploy/many -n shop
check_output "completion" "^$many$" as_user developer kubectl-jprof __complete -n shop many
undeploy many

# shellcheck shell=bash disable=SC2016,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# What must not have happened, after everything else.

# All that the developer's plugin asked of the API server, as "verb resource".
developer_verbs() {
  python3 - "$(stage_state)/log/audit.json" <<'PY'
import json, sys
seen = set()
for line in open(sys.argv[1]):
    event = json.loads(line)
    refused = event.get("responseStatus", {}).get("code", 200) >= 400
    if event["user"]["username"] == "developer" and "objectRef" in event and not refused:
        target = event["objectRef"]
        resource = target["resource"] + ("/" + target["subresource"] if "subresource" in target else "")
        seen.add(f'{event["verb"]} {resource}')
print("\n".join(sorted(seen)))
allowed = {"get pods", "list pods", "get pods/exec", "create pods/exec"}
# Every user may ask what they may do.
allowed |= {"create selfsubjectaccessreviews"}
sys.exit(f"not in the chart's rights: {seen - allowed}" if seen - allowed or "get pods" not in seen else 0)
PY
}

no_event() { # REASON
  [[ -z $(inside kubectl get events -A --field-selector "reason=$1" -o name) ]]
}

check "the audit log holds only the verbs of the chart's Role" developer_verbs
check "no pod was evicted" no_event Evicted
check "no container was restarted for memory" no_event OOMKilling

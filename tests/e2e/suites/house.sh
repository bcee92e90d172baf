# shellcheck shell=bash disable=SC2016,SC2154
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
#
# What must not have happened, after everything else.

# All that the plugins of users of ours asked of the API server, as "verb resource", beside the table of
# docs/guides/security-review.md; the developer has no right to ephemeral containers.
verbs_of_users() {
  python3 - "$(stage_state)/log/audit.json" "$repo/docs/guides/security-review.md" <<'PY'
import json, re, sys
seen = {"developer": set(), "oncall": set(), "narrow": set()}
for line in open(sys.argv[1]):
    event = json.loads(line)
    user = event["user"]["username"]
    refused = event.get("responseStatus", {}).get("code", 200) >= 400
    ours = "jprof" in event.get("userAgent", "")
    if user in seen and ours and "objectRef" in event and not refused:
        target = event["objectRef"]
        resource = target["resource"] + ("/" + target["subresource"] if "subresource" in target else "")
        resource += "." + target["apiGroup"] if target.get("apiGroup") and resource != "selfsubjectaccessreviews" else ""
        seen[user].add(f'{event["verb"]} {resource}')
# Every user may ask what they may do.
listed = {"create selfsubjectaccessreviews"}
for verbs, resources in re.findall(r"^\| ((?:`\w+`(?:, )?)+) ([\w/.]+(?:, [\w/.]+)*) \|", open(sys.argv[2]).read(), re.M):
    listed |= {f"{verb} {one}" for verb in re.findall(r"\w+", verbs) for one in resources.split(", ")}
print(sorted(listed))
wrong = 0
for user, verbs in seen.items():
    allowed = listed - {"patch pods/ephemeralcontainers"} if user == "developer" else listed
    print(user, sorted(verbs))
    wrong += len(verbs - allowed)
sys.exit(f"{wrong} are not in the table" if wrong or "get pods" not in seen["developer"] or "get pods" not in listed else 0)
PY
}

no_event() { # REASON
  [[ -z $(inside kubectl get events -A --field-selector "reason=$1" -o name) ]]
}

check "the audit log holds only the verbs that the documentation lists" verbs_of_users
check "no pod was evicted" no_event Evicted
check "no container was restarted for memory" no_event OOMKilling

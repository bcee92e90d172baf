#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""The Roles of a rendering grant what docs/guides/security-review.md lists, no more and no less:
rights.py SECURITY_REVIEW.md RENDERED.yaml. Rows that name a value of the chart count where a Role has any of them."""
import re
import sys

import yaml

ROW = re.compile(r"^\| ((?:`\w+`(?:, )?)+) ([\w/.]+(?:, [\w/.]+)*) \| (.*?) \|", re.M)


def listed(text):
    """What every user of ours needs, and what only a value of the chart grants: sets of "VERB RESOURCE.GROUP"."""
    always, by_value = set(), set()
    for verbs, resources, purpose in ROW.findall(text):
        rights = {f"{verb} {resource}" for verb in re.findall(r"\w+", verbs) for resource in resources.split(", ")}
        (by_value if "`rbac." in purpose else always).update(rights)
    return always, by_value


def granted(role):
    return {f"{verb} {resource}{'.' + group if group else ''}" for rule in role["rules"] for group in rule["apiGroups"]
            for resource in rule["resources"] for verb in rule["verbs"]}


def main():
    always, by_value = listed(open(sys.argv[1]).read())
    roles = [one for one in yaml.safe_load_all(open(sys.argv[2])) if one and one["kind"] == "Role"]
    wrong = [] if roles and always else ["no Role is there, or no row of the table was understood"]
    for role in roles:
        rights = granted(role)
        wanted = always | by_value if rights & by_value else always
        name = f"{role['metadata'].get('namespace', '')}/{role['metadata']['name']}"
        wrong += [f"{name} lacks {one}" for one in sorted(wanted - rights)]
        wrong += [f"{name} grants {one}, which is not listed" for one in sorted(rights - wanted)]
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

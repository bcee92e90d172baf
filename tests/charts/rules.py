#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Rules for whatever the charts render: rules.py RENDERED.yaml. Prints what breaks one and exits 1."""
import sys

import yaml


def pod_specs(thing):
    """Every pod spec inside a manifest, wherever its kind keeps it."""
    if isinstance(thing, dict):
        if isinstance(thing.get("containers"), list):
            yield thing
        for value in thing.values():
            yield from pod_specs(value)
    elif isinstance(thing, list):
        for value in thing:
            yield from pod_specs(value)


def broken_by_container(container, pod):
    if container["name"] != "jprof":
        return
    security = container.get("securityContext", {})
    outer = pod.get("securityContext", {})
    if security.get("allowPrivilegeEscalation") is not False:
        yield "may gain privileges"
    if security.get("capabilities") != {"drop": ["ALL"]}:
        yield "keeps capabilities"
    if security.get("readOnlyRootFilesystem") is not True:
        yield "may write its root file system"
    if not (security.get("runAsNonRoot") or outer.get("runAsNonRoot")):
        yield "may run as root"
    if {**outer.get("seccompProfile", {}), **security.get("seccompProfile", {})}.get("type") != "RuntimeDefault":
        yield "has no seccomp filter"
    for probe in ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "ports"):
        if probe in container:
            yield f"has {probe}"
    if container["command"] == ["/jprof", "serve"]:
        resources = container.get("resources", {})
        if not resources.get("limits") or resources.get("limits") != resources.get("requests"):
            yield "has limits that differ from its requests"
        for variable in container.get("env", []):
            if "secretKeyRef" in variable.get("valueFrom", {}):
                yield f"has a secret in its environment: {variable['name']}"


def broken_by_pod(pod):
    for container in pod["containers"] + (pod.get("initContainers") or []):
        for what in broken_by_container(container, pod):
            yield f"container jprof {what}"
    if "fsGroup" in pod.get("securityContext", {}):
        yield "sets fsGroup"
    for field in ("hostPID", "hostNetwork", "hostIPC"):
        if field in pod:
            yield f"sets {field}"
    for volume in pod.get("volumes") or []:
        if "hostPath" in volume:
            yield "mounts a host path"
        if "emptyDir" in volume and "sizeLimit" not in volume["emptyDir"]:
            yield f"volume {volume['name']} has no limit"


def main():
    broken = []
    for manifest in yaml.safe_load_all(open(sys.argv[1])):
        if not manifest:
            continue
        name = f"{manifest['kind']} {manifest['metadata']['name']}"
        if manifest["kind"].startswith("Cluster"):
            broken.append(f"{name}: is cluster-wide")
        broken += [f"{name}: {what}" for pod in pod_specs(manifest) for what in broken_by_pod(pod)]
    print("\n".join(broken))
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()

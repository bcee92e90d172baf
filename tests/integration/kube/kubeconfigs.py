#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Odd but legal kubeconfigs, resolved by lib/kube and by client-go: the same server, identity and namespace, or a refusal by both.

usage: kubeconfigs.py KUBE_ACCESS CLIENTCMD [COUNT]
"""
import base64
import json
import os
import random
import subprocess
import sys
import tempfile

import yaml


def pem(kind, text):
    body = base64.b64encode(text.encode()).decode()
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n" % (kind, body, kind)


class Generator:
    """Configurations out of a seed; each takes some of the corners that kubectl has."""

    def __init__(self, folder, seed):
        self.folder, self.random = folder, random.Random(seed)
        self.names = ["a", "b", "with space", "ünï", "1", "true", "x@y:6443", "arn:aws:eks:eu:1:cluster/k"]
        for name in ("ca", "cert", "key", "token"):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
                out.write(pem("CERTIFICATE", name) if name != "token" else "file-token\n")

    def some(self, *choices):
        return self.random.choice(choices)

    def rare(self):
        """1 for a choice that is mostly refused: too many of those would leave little to compare."""
        return int(self.random.random() < 0.25)

    def path(self, name):
        return self.some(name, "./" + name, os.path.join(self.folder, name))

    def cluster(self):
        out = {"server": self.some("https://k.example:6443", "https://k.example:6443/", "http://k.example:8080", "k.example:6443",
                                   "https://[2001:db8::1]:6443", "https://k.example/k8s/clusters/c-1", "https://K.example",
                                   *[""][:self.rare()])}
        kind = self.some("none", "file", "data", "insecure", *["both"][:self.rare()])
        if kind in ("file", "both"):
            out["certificate-authority"] = self.path("ca")
        if kind in ("data", "both"):
            out["certificate-authority-data"] = base64.b64encode(pem("CERTIFICATE", "inline").encode()).decode()
        if kind == "insecure":
            out["insecure-skip-tls-verify"] = True
        if self.random.random() < 0.3:
            out["tls-server-name"] = "name.example"
        if self.random.random() < 0.2:
            out["proxy-url"] = self.some("http://proxy.example:3128", "socks5://proxy.example:1080", "https://u:p@proxy.example")
        return out

    def user(self):
        out = {}
        for part in self.random.sample(["token", "tokenFile", "basic", "certificate", "exec", "as", "none"], self.some(0, 1, 1, 2)):
            if part == "token":
                out["token"] = "plain-token"
            elif part == "tokenFile":
                out["tokenFile"] = self.path("token")
            elif part == "basic":
                out["username"], out["password"] = "u", self.some("p", "p:with:colons", "")
            elif part == "certificate":
                inline = self.some(True, False)
                for member, file in (("client-certificate", "cert"), ("client-key", "key")):
                    if inline:
                        out[member + "-data"] = base64.b64encode(pem("CERTIFICATE", "in" + file).encode()).decode()
                    else:
                        out[member] = self.path(file)
            elif part == "exec":
                out["exec"] = {"apiVersion": self.some("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"),
                               "command": self.some("aws", "./helper", "/usr/bin/helper", "bin/helper"),
                               "args": self.some(None, [], ["token", "--cluster", "k"]),
                               "env": self.some(None, [{"name": "A", "value": "1"}]),
                               "interactiveMode": self.some("Never", "IfAvailable", "Always"),
                               "provideClusterInfo": self.some(True, False)}
            elif part == "as":
                out["as"] = "boss"
                out["as-groups"] = self.some(None, ["g1", "g2"])
                out["as-uid"] = self.some("", "42")
                out["as-user-extra"] = self.some(None, {"reason": ["x", "two words"]})
        return out

    def file(self):
        names = lambda: [self.some(*self.names) for _ in range(self.some(1, 2, 3))]
        clusters, users, contexts = (list(dict.fromkeys(names())) for _ in range(3))
        out = {"clusters": [{"name": n, "cluster": self.cluster()} for n in clusters],
               "users": [{"name": n, "user": self.user()} for n in users],
               "contexts": [{"name": n, "context": {
                   "cluster": self.some(*clusters, *["elsewhere"][:self.rare()]),
                   "user": self.some(*users, *["elsewhere"][:self.rare()]),
                   **self.some({}, {"namespace": "shop"})}} for n in contexts],
               "current-context": self.some(*contexts, *["", "elsewhere"][:2 * self.rare()])}
        if self.random.random() < 0.7:
            out.update(apiVersion="v1", kind="Config", preferences={})
        return out

    def write(self, name):
        content = self.file()
        text = self.some(lambda: json.dumps(content), lambda: yaml.safe_dump(content, allow_unicode=True),
                         lambda: yaml.safe_dump(content, default_flow_style=True),
                         lambda: "---\n# by hand\n" + yaml.safe_dump(content, sort_keys=False))()
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def case(self, number):
        paths = [self.write("config-%d-%d" % (number, i)) for i in range(self.some(1, 1, 2, 3))]
        if self.random.random() < 0.2:
            paths.insert(self.some(0, len(paths)), os.path.join(self.folder, "missing"))
        flags = {}
        for name, values in (("Context", self.names), ("Cluster", self.names), ("User", self.names), ("Namespace", ["other"]),
                             ("Server", ["https://flag.example"]), ("Token", ["flag-token"]), ("TLSServerName", ["flag.name"]),
                             ("CertificateAuthority", [os.path.join(self.folder, "ca")]), ("Insecure", [True])):
            if self.random.random() < (0.02 if values is self.names else 0.08):  # names are mostly of no entry
                flags[name] = self.some(*values)
        return {"Kubeconfig": os.pathsep.join(paths), "Flags": flags}


def normalized(answer):
    """What both must agree on: absent and empty are one, and an address has no slash at its end."""
    if "error" in answer:
        return "refused"
    if answer["insecure"] and answer["ca"]:
        return "refused"  # by client-go when it connects (transport.TLSConfigFor), by us at once
    out = {key: value for key, value in answer.items() if value not in (None, "", [], {}, False)}
    out["server"] = out["server"].rstrip("/")
    if "tokenFile" in out:
        out.pop("token", None)  # client-go reads it at once, too; it is the file that counts later
    if "exec" in out:
        out["exec"] = {key: value for key, value in out["exec"].items() if value not in (None, "", [], False)}
    return out


def answers(program, cases, folder):
    environment = {"PATH": os.environ["PATH"], "HOME": folder}
    done = subprocess.run([program], input="".join(json.dumps(c) + "\n" for c in cases), capture_output=True, text=True,
                          env=environment, cwd=folder, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def main():
    ours, reference = (os.path.abspath(path) for path in sys.argv[1:3])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    good = bad = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        generator = Generator(folder, 1)
        cases = [generator.case(number) for number in range(count)]
        for case, mine, theirs in zip(cases, answers(ours, cases, folder), answers(reference, cases, folder), strict=True):
            if case["Flags"].get("Token") and "tokenFile" in theirs:
                # client-go lets a token file of the kubeconfig win over --token. With us a flag wins, as flags do elsewhere.
                theirs["tokenFile"] = ""
            if normalized(mine) == normalized(theirs):
                good += 1
                refused += "error" in mine
                continue
            bad += 1
            if bad <= 5:
                print("differs:", json.dumps(case))
                for path in case["Kubeconfig"].split(os.pathsep):
                    if os.path.exists(path):
                        print(open(path, encoding="utf-8").read())
                print("  jprof:    ", json.dumps(mine))
                print("  client-go:", json.dumps(theirs))
    print("%d resolved alike, %d of them refused by both" % (good, refused))
    print("%d passed, %d failed" % (good, bad))
    sys.exit(1 if bad or refused > good / 2 else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Ephemeral containers that end, do not start, or would cost the JVM its memory, against a server that can fail on order.

usage: ephemeral_test.py PROGRAM SCRIPTED_SESSION [unittest arguments]
"""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from plugin_rig import PluginRig, main  # noqa: E402


def state(server, number, **words):
    server.pods["demo"]["status"]["ephemeralContainerStatuses"][number]["state"] = words


class EphemeralTest(PluginRig):
    def serve_one(self, **options):
        """A server with a pod in which one of ours runs; `made` is how it was made."""
        server = self.serve(pods=[self.pod_without_sidecar()], **options)
        self.run_plugin("demo", "--duration", "50ms", "-o", "first.html")
        state(server, 0, running={})
        return server, server.patches[0]

    def record(self, *arguments, code=0):
        return self.run_plugin("demo", "--duration", "50ms", "-o", "x.html", *arguments, code=code)

    def test_after_gc_the_next_capture_meets_no_dying_container(self):
        server, _ = self.serve_one()
        self.assertIn("ended now", self.run_plugin("gc", "demo")[0])
        self.record()
        self.assertEqual(len(server.patches), 2)

    def test_a_container_that_is_gone_before_the_api_knows_is_replaced(self):
        server, made = self.serve_one()
        server.dead.add(made["name"])
        server.ending[made["name"]] = 4
        _, err = self.record()
        self.assertEqual(len(server.patches), 2)
        self.assertIn(made["name"] + " has ended in the meantime", err)
        self.assertIn("left in shop/demo: ephemeral container " + server.patches[1]["name"], err)
        # Where none may be made that is what there is to say.
        server.dead.add(server.patches[1]["name"])
        server.ending[server.patches[1]["name"]] = 4
        state(server, 1, running={})
        server.deny = ["patch pods/ephemeralcontainers"]
        self.assertIn("--resource=pods/ephemeralcontainers", self.record(code=4)[1])

    def test_one_that_runs_is_not_replaced_because_the_network_fails(self):
        server, made = self.serve_one()
        server.dead.add(made["name"])
        self.record(code=8)
        self.assertEqual(len(server.patches), 1)

    def test_what_was_asked_for_is_not_taken_from_one_that_lacks_it(self):
        server, made = self.serve_one()
        _, err = self.record("--capability", "SYS_PTRACE", "--explain")
        self.assertEqual(server.patches[1]["securityContext"]["capabilities"], {"drop": ["ALL"], "add": ["SYS_PTRACE"]})
        self.assertIn(made["name"] + " runs without the capability SYS_PTRACE", err)
        state(server, 1, running={})
        self.record("--capability", "SYS_PTRACE")
        self.assertEqual(len(server.patches), 2)
        _, err = self.record("--image", "registry.example/other:1", "--explain")
        self.assertIn("runs another image", err)
        self.assertEqual(server.patches[2]["image"], "registry.example/other:1")

    def test_nothing_is_added_where_it_cannot_work(self):
        closed = self.pod_without_sidecar()
        closed["spec"]["containers"][0]["securityContext"] = {"readOnlyRootFilesystem": True}
        server = self.serve(pods=[closed])
        for arguments in ([], ["--ephemeral=always"], ["--dry-run"]):
            self.assertIn("emptyDir at /tmp", self.record(*arguments, code=5)[1])
        self.assertEqual(server.patches, [])

    def test_one_that_never_started_is_not_said_to_end(self):
        server = self.serve(pods=[self.pod_without_sidecar()], stuck="ErrImagePull")
        _, err = self.record(code=8)
        self.assertRegex(err, "left in shop/demo: ephemeral container %s, which has not started" % server.patches[0]["name"])
        self.assertNotIn("it ends after 10m without", err.replace("if it still does it ends", ""))

    def test_a_probe_is_said_to_end_when_it_does(self):
        pod = self.pod_without_sidecar()
        del pod["spec"]["securityContext"]
        self.serve(pods=[pod], mode="other-user")
        _, err = self.record()
        self.assertRegex(err, "(?s)ends after 30s without.*ends after 10m without")

    def test_a_wrong_image_has_its_own_cure(self):
        started = {"reason": "StartError", "exitCode": 128, "message": 'failed to create containerd task: exec: "/jprof": stat /jprof: '
                   "no such file or directory"}
        machine = {"reason": "RunContainerError", "message": "exec /jprof: exec format error"}
        for shown, words in (({"terminated": started}, "is it jprof's image"), ({"waiting": machine}, "the node's architecture")):
            self.serve(pods=[self.pod_without_sidecar()], stuck=shown)
            _, err = self.record("--image", "registry.example/shell:1", code=3)
            self.assertIn("image registry.example/shell:1 has no /jprof that the node can run", err)
            self.assertIn(words, err)
            self.assertNotIn("--uid", err)

    def test_a_build_without_an_image_asks_for_one(self):
        self.extra = {"JPROF_IMAGE": ""}
        server = self.serve(pods=[self.pod_without_sidecar()])
        _, err = self.record(code=3)
        self.assertIn("this build names no image", err)
        self.assertIn("--image REGISTRY/jprof@sha256:... or JPROF_IMAGE", err)
        self.assertIn("--image", self.run_plugin("doctor", "demo", code=3)[0])
        self.record("--image", "registry.example/jprof:2")
        self.assertEqual([one["image"] for one in server.patches], ["registry.example/jprof:2"])

    def limited(self, memory):
        pod = self.pod_without_sidecar()
        pod["spec"]["containers"][0]["resources"] = {"limits": {"memory": memory}}
        return pod

    def test_a_pod_without_headroom_is_refused_with_the_figure(self):
        for memory, metrics, words in (("33Mi", None, "may use no more than 33 MiB"),
                                       ("200Mi", {"app": "190Mi"}, "uses 190 MiB of its limit of 200 MiB")):
            server = self.serve(pods=[self.limited(memory)], metrics=metrics)
            _, err = self.record(code=9)
            self.assertIn(words, err)
            self.assertIn("--force", err)
            self.assertEqual(server.patches, [])
            foretold = self.run_plugin("doctor", "demo", "--json", code=9)[0]
            self.assertIn(words, {row["check"]: row for row in json.loads(foretold)["checks"]}["ephemeral"]["detail"])
            self.record("--force")
            self.assertEqual(len(server.patches), 1)
            self.run_plugin("doctor", "demo", "--force")
            # One that runs already does not make it better.
            state(server, 0, running={})
            self.record(code=9)
        server = self.serve(pods=[self.limited("200Mi")], metrics={"app": "100Mi"})
        self.record()

    def test_a_node_that_runs_out_of_memory_is_left_alone(self):
        server = self.serve(pods=[self.pod_without_sidecar()], pressure=True)
        self.assertIn("node node1", self.record(code=9)[1])
        server.deny = ["get nodes"]  # then nobody knows
        self.record()

    def test_a_jvm_that_dies_is_named_with_its_reason(self):
        killed = {"restartCount": 1, "lastState": {"terminated": {"reason": "OOMKilled", "exitCode": 137}}}
        for mode, code in (("partial", 6), ("ends-as-bug", 3)):
            self.serve(mode=mode, dying=killed)
            out, err = self.record(code=code)
            self.assertIn("container app ended in the meantime: OOMKilled (exit code 137)", err)
            self.assertIn("memory limit", err)
            self.assertNotIn("report", err)
        self.serve(mode="partial", dying=killed)
        out, _ = self.record("--json", code=6)
        self.assertEqual(json.loads(out)["ended"], [{"container": "app", "reason": "OOMKilled", "exitCode": 137}])


if __name__ == "__main__":
    main()

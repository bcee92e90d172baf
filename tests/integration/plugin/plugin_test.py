#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""kubectl-jprof as a whole against a server that can fail on order. What a real cluster does is tested in tests/e2e.

usage: plugin_test.py PROGRAM SCRIPTED_SESSION [unittest arguments]
"""
import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from exec_server import pod  # noqa: E402
from plugin_rig import PluginRig, main  # noqa: E402

MEGABYTE = 1_000_000


class PluginTest(PluginRig):
    def test_a_bare_pod_leaves_a_page_in_the_working_directory(self):
        server = self.serve()
        out, _ = self.run_plugin("demo", "--duration", "100ms")
        [name] = self.files()
        self.assertRegex(name, r"^jprof-demo-\d{8}T\d{6}Z\.html$")
        self.assertIn(name, out)
        self.assertIn("42 in", out)
        self.assertEqual(len(server.execs), 1)
        self.assertIn("command=%2Fjprof&command=session&container=jprof", server.execs[0])

    def test_v4_of_the_protocol_works_as_well(self):
        self.serve(protocol="v4.channel.k8s.io")
        self.run_plugin("demo", "--duration", "50ms")
        self.assertEqual(len(self.files()), 1)

    def test_each_o_is_a_file(self):
        self.serve()
        self.run_plugin("demo", "--duration", "50ms", "-o", "a.html", "-o", "b.collapsed", "-o", "c.jprof")
        self.assertEqual(self.files(), ["a.html", "b.collapsed", "c.jprof"])

    def test_threads_are_root_frames_of_what_is_derived(self):
        self.serve()
        self.run_plugin("demo", "--duration", "50ms", "-o", "a.collapsed", "--threads")
        self.assertEqual(self.read("a.collapsed"), "[pool-1-thread-7];main;of.the.Recording 1\n")
        self.run_plugin("fetch", "demo", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "-o", "b.collapsed", "--threads=pool")
        self.assertEqual(self.read("b.collapsed"), "[pool-1-thread-*];main;of.the.Recording 1\n")
        self.run_plugin("fetch", "demo", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "-o", "c.collapsed")
        self.assertEqual(self.read("c.collapsed"), "main;of.the.Recording 1\n")

    def test_json_is_one_object(self):
        self.serve()
        out, err = self.run_plugin("demo", "--duration", "50ms", "--json", "-o", "x.html")
        answer = json.loads(out)
        self.assertEqual(err, "")
        self.assertTrue(answer["ok"])
        self.assertEqual(answer["files"][0]["path"], "x.html")
        self.assertEqual(answer["manifest"]["measured"]["samples"], 42)

    def test_an_answer_that_is_held_has_a_bound(self):
        self.serve(size=66 << 20)
        _, err = self.run_plugin("attach", "--json", "demo", "threaddump", code=9)
        self.assertIn("larger than 64", err + _)
        self.assertIn("without --json", err + _)
        out, _ = self.run_plugin("attach", "demo", "threaddump")
        self.assertEqual(len(out), 66 << 20)

    def test_a_success_that_nobody_could_read_is_none(self):
        """Standard output that is full, closed, or a pipe without a reader: exit 7, said on standard error."""
        self.serve(mode="attach")

        def run(command, stdout, **more):
            process = self.start(*command, stdout=stdout, **more)
            return (*process.communicate(timeout=60), process.returncode)

        for command in (["attach", "demo", "threaddump"], ["attach", "--json", "demo", "threaddump"], ["list"], ["list", "--json"],
                        ["demo", "--duration", "50ms", "--json", "-o", "x.html"], ["doctor", "demo"], ["--help"]):
            reader, pipe = os.pipe()
            os.close(reader)
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = [run(command, full), run(command, pipe), run(command, None, preexec_fn=lambda: os.close(1))]
            os.close(pipe)
            for _, err, code in done:
                self.assertEqual(code, 7, (command, err))
                self.assertIn("cannot write standard output", err, command)
            # The page did not get what was printed, nor the number of the descriptor that was closed.
            if "-o" in command:
                self.assertTrue(self.read("x.html").endswith("</html>\n"))
            self.assertIn(run(command, subprocess.PIPE)[2], (0, 3) if command[0] == "doctor" else (0,), command)

    def test_failures_have_their_exit_codes_and_leave_no_file(self):
        cases = [
            ({}, ["nosuch"], 3, "not found"),
            ({}, ["demo", "-c", "nosuch"], 3, "its containers: app"),
            ({"pods": [pod("demo", ("app",))]}, ["demo", "--ephemeral=never"], 3, "jprof-sidecar"),
            ({"pods": [pod("demo", ("app",))], "deny": ["patch pods/ephemeralcontainers"]}, ["demo"], 4,
             "--verb=patch --resource=pods/ephemeralcontainers"),
            ({"pods": [pod("demo", ("app",))], "deny": ["get pods/exec", "create pods/exec"]}, ["demo"], 4,
             "no ephemeral container was added"),
            ({"pods": [pod("demo", ("app",))], "stuck": "ImagePullBackOff"}, ["demo", "--image=nowhere/x:1"], 8,
             "the node has no image nowhere/x:1"),
            ({"pods": [pod("demo", ("app",))], "stuck": "CreateContainerConfigError"}, ["demo"], 4, "--uid and --gid"),
            ({"pods": [pod("demo", phase="Failed")]}, ["demo"], 3, "has ended"),
            ({"faults": [{"refuse": [403, "Forbidden", 'User "x" cannot create resource "pods/exec"']}]}, ["demo"], 4,
             "--verb=get,create --resource=pods/exec"),
            ({"faults": [{"refuse": [401, "Unauthorized", "Unauthorized"]}]}, ["demo"], 4, "logged in"),
            ({"faults": [{"refuse": [500, "InternalError", "etcd"]}]}, ["demo"], 8, "etcd"),
            ({"faults": [{"close": 1011}]}, ["demo"], 8, "close code 1011"),
            ({"faults": [{"raw": b"\xff" * 100}]}, ["demo"], 8, "WebSocket protocol"),
            ({"faults": [{"cut": 0}]}, ["demo"], 8, ""),  # whether a read or a write meets it first
            ({"mode": "busy"}, ["demo"], 9, "2026-01-01T00:00:00Z"),
            ({"mode": "garbage"}, ["demo"], 8, "OCI runtime exec failed"),
            ({"mode": "no-hello"}, ["demo"], 3, "cannot connect to serve"),
            ({"mode": "newer"}, ["demo"], 8, "upgrade"),
            ({"mode": "evil-name"}, ["demo"], 8, ""),
            ({"mode": "bad-digest"}, ["demo"], 8, "damaged"),
            ({"mode": "too-long"}, ["demo"], 8, "more"),
            ({}, ["demo", "-o", "json"], 2, "--json"),
            ({}, ["demo", "-o", "x.bmp"], 2, ".html"),
            ({}, ["node/x"], 2, "deploy/NAME"),
            ({}, ["demo", "-l", "app=x"], 2, "exclude"),
        ]
        for options, arguments, code, words in cases:
            with self.subTest(options=options, arguments=arguments):
                self.serve(**options)
                duration = [] if "--duration" in arguments else ["--duration", "50ms"]
                out, err = self.run_plugin(*arguments, *duration, code=code)
                self.assertIn(words, out + err)
                self.assertEqual(self.files(), [])

    def test_no_server_is_8(self):
        server = self.serve()
        server.close()
        _, err = self.run_plugin("demo", code=8)
        self.assertIn("cannot reach the cluster", err)

    def test_a_partial_capture_is_kept(self):
        self.serve(mode="partial")
        _, err = self.run_plugin("demo", "--duration", "50ms", "-o", "x.html", code=6)
        self.assertIn("the JVM ended after 3 s", err)
        self.assertEqual(self.files(), ["x.html"])

    RECORDING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../fuzz/corpus/recording/small.jprof")

    def test_of_a_salvaged_recording_the_page_is_made_here(self):
        server = self.serve(mode="salvaged:" + self.RECORDING)
        out, err = self.run_plugin("demo", "--duration", "50ms", "-o", "x.html", code=6)
        self.assertIn("the JVM ended after 3 s", err)
        self.assertIn("x.html", out)
        self.assertEqual(self.files(), ["x.html"])
        self.assertEqual(len(server.execs), 1)
        with open(os.path.join(self.work, "x.html"), encoding="utf-8") as page:
            text = page.read()
        self.assertTrue(text.startswith("<!doctype html>") and text.rstrip().endswith("</html>"), text[:200])
        # What was asked for besides is there as well, and fetch does the same.
        self.run_plugin("demo", "--duration", "50ms", "-o", "y.collapsed", "-o", "y.jprof", code=6)
        self.assertGreater(os.path.getsize(os.path.join(self.work, "y.collapsed")), 0)
        with open(os.path.join(self.work, "y.jprof"), "rb") as got, open(self.RECORDING, "rb") as sent:
            self.assertEqual(got.read(), sent.read())
        self.run_plugin("fetch", "demo", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "-o", "z.html", code=6)
        with open(os.path.join(self.work, "z.html"), encoding="utf-8") as page:
            self.assertEqual(page.read(), text)

    def test_of_a_recorder_that_was_killed_before_its_first_sample_there_is_a_page(self):
        with open(self.RECORDING, "rb") as whole:
            begun = whole.read()[:40]
        path = os.path.join(self.folder.name, "begun.jprof")
        with open(path, "wb") as out:
            out.write(begun)
        self.serve(mode="salvaged:" + path)
        self.run_plugin("demo", "--duration", "50ms", "-o", "x.html", code=6)
        self.assertEqual(self.files(), ["x.html"])

    def test_a_salvaged_recording_that_cannot_be_read_is_kept(self):
        broken = os.path.join(self.folder.name, "broken.jprof")
        with open(broken, "wb") as out:
            out.write(b"not a recording \xff\x00")
        self.serve(mode="salvaged:" + broken)
        _, err = self.run_plugin("demo", "--duration", "50ms", "-o", "x.html", code=7)
        self.assertIn("kept as x.jprof", err)
        self.assertEqual(self.files(), ["x.jprof"])

    def test_a_format_that_only_a_sidecar_could_make_leaves_the_recording(self):
        self.serve(mode="salvaged:" + self.RECORDING)
        _, err = self.run_plugin("demo", "--duration", "50ms", "-o", "x.html", "-o", "x.jfr", code=7)
        self.assertIn("kept as x.jprof", err)
        self.assertEqual(self.files(), ["x.html", "x.jprof"])

    def test_a_download_goes_on_where_it_was_cut(self):
        server = self.serve(3 * MEGABYTE, faults=[{"cut": MEGABYTE}, {"cut": MEGABYTE}, {"cut": 10}, {}])
        self.run_plugin("demo", "--duration", "50ms", "-o", "x.jprof")
        self.assertEqual(len(server.execs), 4)
        self.assertEqual(os.path.getsize(os.path.join(self.work, "x.jprof")), 3 * MEGABYTE)
        self.assertEqual(self.files(), ["x.jprof"])

    def test_a_cut_while_it_records_is_the_same_capture(self):
        server = self.serve(faults=[{"cut": 600}, {}])
        out, _ = self.run_plugin("demo", "--duration", "300ms", "--json", "-o", "x.html")
        self.assertEqual(len(server.execs), 2)
        self.assertTrue(json.loads(out)["ok"])

    def test_a_pod_that_stays_away_names_the_fetch_command(self):
        self.serve(faults=[{"cut": 600}] + [{"refuse": [404, "NotFound", "gone"]}])
        _, err = self.run_plugin("demo", "--duration", "300ms", code=3)
        self.assertRegex(err, "kubectl jprof fetch -n shop demo [0-9A-Z]{26}")
        self.assertEqual(self.files(), [])

    def test_a_sidecar_that_starts_again_is_waited_for(self):
        absent = {"absent": 'Internal error occurred: unable to upgrade connection: container not found ("jprof")'}
        server = self.serve(faults=[{"cut": 600}, absent, absent, {}])
        self.run_plugin("demo", "--duration", "300ms", "-o", "x.html")
        self.assertEqual(len(server.execs), 4)
        self.assertEqual(self.files(), ["x.html"])

    def test_what_a_jvm_refuses_has_its_own_cure_and_nothing_to_fetch(self):
        self.serve(mode="jvm-refuses")
        _, err = self.run_plugin("demo", "--duration", "300ms", code=5)
        self.assertIn("remove -XX:+DisableAttachMechanism", err)
        self.assertNotIn("fetch", err)

    def test_an_api_server_that_starts_again_is_waited_for(self):
        # For a moment it knows no role, and refuses what it allowed before.
        refusals = [{"refuse": [403, "Forbidden", 'pods "demo" is forbidden']}, {"refuse": [401, "Unauthorized", "Unauthorized"]}]
        server = self.serve(faults=[{"cut": 600}, *refusals, {}])
        self.run_plugin("demo", "--duration", "300ms", "-o", "x.html")
        self.assertEqual(len(server.execs), 4)
        self.assertEqual(self.files(), ["x.html"])

    def test_fetch_brings_a_kept_capture(self):
        self.serve(50_000)
        name = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
        self.run_plugin("fetch", "demo", name)
        self.assertEqual(self.files(), ["jprof-demo-%s.html" % name, "jprof-demo-%s.jprof" % name])
        self.run_plugin("fetch", "demo", name, "-o", "x.jprof")
        self.assertEqual(os.path.getsize(os.path.join(self.work, "x.jprof")), 50_000)
        self.run_plugin("fetch", "demo", "../../x", code=2)

    def test_list_shows_pods(self):
        third = pod("c", ("app",))
        third["spec"]["ephemeralContainers"] = [{"name": "jprof-a"}, {"name": "jprof-b"}]
        third["status"]["ephemeralContainerStatuses"] = [{"name": "jprof-a", "state": {"terminated": {}}},
                                                         {"name": "jprof-b", "state": {"running": {}}}]
        self.serve(pods=[pod("a"), pod("b", ("app",)), third])
        out, _ = self.run_plugin("list", "--json")
        pods = json.loads(out)["pods"]
        self.assertEqual([p["canBeProfiled"] for p in pods], [True, False, True])
        self.assertEqual([(p["sidecar"], p["ephemeral"]) for p in pods], [("running", ""), ("none", ""), ("none", "jprof-b")])
        self.assertRegex(self.run_plugin("list")[0], r"(?m)^POD +PHASE +SIDECAR +EPHEMERAL .*\n(.*\n)*c +Running +none +jprof-b +app")

    def test_ctrl_c_keeps_what_there_is(self):
        self.serve()
        process = self.start("demo", "--duration", "60s", "-o", "x.html")
        while "recording" not in process.stderr.readline():
            self.assertIsNone(process.poll())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, out + err)
        self.assertEqual(self.files(), ["x.html"])

    def interrupt_twice(self, mode):
        self.serve(mode=mode)
        process = self.start("demo", "--duration", "60s", "-o", "x.html")
        for phase in ("recording", "sealing"):
            while phase not in process.stderr.readline():
                self.assertIsNone(process.poll())
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, out + err)
        self.assertEqual(self.files(), [])
        return err

    def test_a_second_ctrl_c_throws_the_capture_away(self):
        err = self.interrupt_twice("discards")
        self.assertIn("interrupted, nothing kept", err)
        self.assertNotIn("fetch", err)

    def test_a_second_ctrl_c_that_comes_too_late_says_where_the_capture_is(self):
        err = self.interrupt_twice("seals-first")
        self.assertIn("was sealed before", err)
        self.assertRegex(err, "kubectl jprof fetch -n shop demo [0-9A-Z]{26}")

    def test_a_second_ctrl_c_without_an_answer_says_so(self):
        err = self.interrupt_twice("hangs-at-end")
        self.assertIn("has not said that it threw the capture away", err)
        self.assertRegex(err, "if the pod has kept the capture.*kubectl jprof fetch -n shop demo [0-9A-Z]{26}")

    def test_options_of_ours_may_stand_behind_the_command(self):
        self.serve(mode="attach")
        for words in (["threaddump", "-n", "shop", "-l"], ["threaddump", "-l", "--namespace=shop", "--timeout", "5s"]):
            out, _ = self.run_plugin("attach", "demo", *words)
            self.assertEqual(out, "threaddump [-l]\n")
        out, _ = self.run_plugin("attach", "demo", "jcmd", "VM.class_hierarchy", "-s", "x", "--", "-n", "shop")
        self.assertEqual(out, "jcmd [VM.class_hierarchy -s x -n shop]\n")
        self.run_plugin("attach", "demo", "threaddump", "-n", code=2)

    def test_options_of_ours_may_stand_before_the_command(self):
        server = self.serve(mode="attach")
        for words in (["-n", "stock", "demo"], ["demo", "-n", "stock"], ["--timeout=5s", "demo", "--namespace", "stock"]):
            server.requests.clear()
            out, _ = self.run_plugin("attach", *words, "threaddump", "-l")
            self.assertEqual(out, "threaddump [-l]\n")
            self.assertIn("/api/v1/namespaces/stock/pods/demo", [target for target, _ in server.requests])

    def test_ctrl_c_before_anything_is_130(self):
        server = self.serve(mode="silent")
        process = self.start("demo", "--duration", "60s")
        while not server.execs:
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, out + err)
        self.assertEqual(self.files(), [])

    def test_a_selector_takes_as_many_as_asked(self):
        pods = [pod(name) for name in ("a", "b", "c")] + [pod("d", phase="Pending")]
        server = self.serve(pods=pods)
        out, err = self.run_plugin("record", "-l", "app=x", "--max-pods", "2", "--duration", "50ms", "--json")
        answer = json.loads(out)
        self.assertEqual(len(answer["captures"]), 2)
        self.assertEqual(len(server.execs), 2)
        self.assertEqual(len(self.files()), 2)
        self.assertEqual(err, "")

    def test_one_bad_pod_does_not_spoil_the_others(self):
        self.serve(pods=[pod("a"), pod("b", ("app",))])
        out, _ = self.run_plugin("record", "--ephemeral=never", "-l", "app=x", "--max-pods", "5", "--duration", "50ms", "--json", code=3)
        answer = json.loads(out)
        self.assertEqual(sorted(c["exitCode"] for c in answer["captures"]), [0, 3])

    def test_a_pod_without_sidecar_gets_an_ephemeral_container(self):
        server = self.serve(pods=[self.pod_without_sidecar()], slow=3)
        out, err = self.run_plugin("demo", "--duration", "50ms", "--explain", "-o", "x.html")
        [made] = server.patches
        self.assertRegex(made["name"], "^jprof-[a-z2-7]{8}$")
        self.assertEqual(made["targetContainerName"], "app")
        self.assertEqual((made["securityContext"]["runAsUser"], made["securityContext"]["runAsGroup"]), (1000, 0))
        self.assertEqual(len(server.execs), 1)
        self.assertIn("container=" + made["name"], server.execs[0])
        self.assertIn("skipped  sidecar: the pod has no container jprof", err)
        self.assertIn("adding ephemeral container %s (uid 1000, gid 0)" % made["name"], err)
        self.assertIn("left in shop/demo: ephemeral container %s; it ends after 10m" % made["name"], err.splitlines()[-1])
        self.assertEqual(self.files(), ["x.html"])

    def test_a_live_ephemeral_container_is_used_again(self):
        server = self.serve(pods=[self.pod_without_sidecar()])
        self.run_plugin("demo", "--duration", "50ms")
        server.pods["demo"]["status"]["ephemeralContainerStatuses"][0]["state"] = {"running": {}}
        out, err = self.run_plugin("demo", "--duration", "50ms", "--json")
        self.assertEqual(len(server.patches), 1)
        self.assertNotIn("ephemeralContainers", json.loads(out))

    def test_unknown_ids_take_a_probe_and_a_second_container(self):
        server = self.serve(pods=[pod("demo", ("app",))], mode="other-user")
        out, err = self.run_plugin("demo", "--duration", "50ms", "--json")
        probe, second = server.patches
        self.assertNotIn("runAsUser", probe["securityContext"])
        self.assertEqual((second["securityContext"]["runAsUser"], second["securityContext"]["runAsGroup"]), (1234, 5678))
        self.assertEqual(json.loads(out)["ephemeralContainers"], [probe["name"], second["name"]])
        self.assertEqual(err, "")

    def test_a_probe_that_other_ids_would_not_help_is_used_as_it_is(self):
        server = self.serve(pods=[pod("demo", ("app",))], mode="not-ready")
        self.run_plugin("demo", "--duration", "50ms")
        self.assertEqual(len(server.patches), 1)

    def test_a_container_that_is_not_found_at_first_is_waited_for(self):
        server = self.serve(pods=[self.pod_without_sidecar()], slow=8)  # longer than the first look at its status
        self.run_plugin("demo", "--duration", "50ms", "-o", "x.html")
        self.assertEqual((len(server.patches), len(server.execs)), (1, 1))
        self.assertEqual(self.files(), ["x.html"])

    def test_an_image_that_cannot_be_pulled_is_named(self):
        for reason in ("ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"):
            self.serve(pods=[self.pod_without_sidecar()], stuck=reason)
            err = self.run_plugin("demo", "--image", "localhost/nosuch:1", "--duration", "50ms", code=8)[1]
            self.assertIn("the node has no image localhost/nosuch:1: " + reason, err)
        self.serve(pods=[self.pod_without_sidecar()], stuck="CreateContainerConfigError")
        self.assertIn("cannot be started", self.run_plugin("demo", "--duration", "50ms", code=4)[1])

    def test_open_shows_the_newest_page(self):
        self.serve()
        for number, name in enumerate(("jprof-b.html", "jprof-a.html", "other.html")):
            path = os.path.join(self.work, name)
            with open(path, "w", encoding="utf-8") as out:
                out.write("<!doctype html>")
            os.utime(path, (1000 + number, 1000 + number))
        shown = os.path.join(self.folder.name, "shown")
        browser = os.path.join(self.folder.name, "browser")
        with open(browser, "w", encoding="utf-8") as out:
            out.write('#!/bin/sh\nprintf %%s "$1" >"%s"\n' % shown)
        os.chmod(browser, 0o755)
        self.extra = {"BROWSER": browser}
        self.assertTrue(self.run_plugin("open")[0].endswith("/jprof-a.html\n"))
        with open(shown, encoding="utf-8") as text:
            self.assertEqual(text.read(), os.path.realpath(os.path.join(self.work, "jprof-a.html")))
        self.run_plugin("open", "nosuch.html", code=2)
        # An empty page is no capture: it is shown, and not taken for the newest one.
        self.assertTrue(self.run_plugin("open", "--viewer")[0].endswith("/jprof-viewer.html\n"))
        with open(shown, encoding="utf-8") as text, open(text.read(), encoding="utf-8") as viewer:
            self.assertIn('<div id="jprof" data-viewer>', viewer.read())
        self.assertTrue(self.run_plugin("open")[0].endswith("/jprof-a.html\n"))
        self.assertTrue(self.run_plugin("open", "--viewer", "mine.html")[0].endswith("/mine.html\n"))
        self.extra = {"BROWSER": "/nonexistent/browser"}
        self.assertIn("set BROWSER", self.run_plugin("open", code=2)[1])

    def doctor(self, *arguments, code=0):
        out, _ = self.run_plugin("doctor", "demo", "--json", *arguments, code=code)
        return {row["check"]: row for row in json.loads(out)["checks"]}

    def test_doctor_asks_the_server_and_adds_nothing(self):
        server = self.serve(pods=[self.pod_without_sidecar()])
        rows = self.doctor()
        self.assertEqual([rows[name]["verdict"] for name in ("exec", "sidecar", "ephemeral", "spec", "jvm")],
                         ["pass", "warn", "pass", "pass", "skip"])
        self.assertTrue(any("only a process in the pod can find out" in row["detail"] for row in rows.values()))
        self.assertEqual((server.patches, server.execs), ([], []))

    def test_doctor_names_what_is_missing(self):
        self.serve(pods=[self.pod_without_sidecar()], deny=["patch pods/ephemeralcontainers"])
        self.assertIn("--resource=pods/ephemeralcontainers", self.doctor(code=4)["ephemeral"]["cure"])
        closed = self.pod_without_sidecar()
        closed["spec"]["containers"][0]["securityContext"] = {"readOnlyRootFilesystem": True}
        self.serve(pods=[closed])
        self.assertIn("emptyDir at /tmp", self.doctor(code=5)["spec"]["cure"])
        self.serve(pods=[pod("demo", ("app",))])
        self.assertEqual(self.doctor()["spec"]["verdict"], "warn")

    def test_completion_knows_commands_pods_containers_and_flags(self):
        leaving = pod("cleaned")
        leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        self.serve(pods=[pod("checkout", ("app", "proxy", "jprof")), pod("cart"), pod("cron-1", phase="Succeeded"),
                         pod("coming", phase="Pending"), leaving])
        def complete(*words):
            lines = self.run_plugin("__complete", *words)[0].splitlines()
            return lines[:-1], lines[-1]
        self.assertEqual(complete("c"), (["checkout", "cart"], ":4"))
        self.assertIn("doctor", complete("")[0])
        self.assertEqual(complete("doctor", "car"), (["cart"], ":4"))
        self.assertEqual(complete("checkout", "-c", ""), (["app", "proxy"], ":4"))
        self.assertEqual(complete("checkout", "-n", "shop", "--ephemeral", "n"), (["never"], ":4"))
        self.assertEqual(complete("checkout", "--walker", ""), (["vmstructs", "asgct", "jvmti", "jmx"], ":4"))
        self.assertEqual(complete("checkout", "--engine", "p"), (["perf-clock"], ":4"))
        self.assertEqual(complete("checkout", "--dur"), (["--duration"], ":4"))
        self.assertEqual(complete("checkout", "-o", ""), ([], ":0"))
        self.assertEqual(complete("--context", ""), (["c"], ":4"))

    def test_gc_ends_what_runs_and_names_what_is_kept(self):
        server = self.serve(pods=[self.pod_without_sidecar()])
        self.assertIn("nothing of jprof is left", self.run_plugin("gc", "demo")[0])
        self.run_plugin("demo", "--duration", "50ms")
        server.pods["demo"]["status"]["ephemeralContainerStatuses"][0]["state"] = {"running": {}}
        self.assertIn("ended now", self.run_plugin("gc", "demo")[0])
        server.pods["demo"]["status"]["ephemeralContainerStatuses"][0]["state"] = {"terminated": {"reason": "Completed"}}
        answer = json.loads(self.run_plugin("gc", "--json")[0])
        self.assertEqual([c["state"] for c in answer["containers"]], ["ended before"])

    def test_dry_run_asks_but_does_nothing(self):
        server = self.serve()
        out, _ = self.run_plugin("demo", "--dry-run")
        self.assertIn("session", out)
        self.assertEqual((server.execs, self.files()), ([], []))

    def test_a_place_that_is_not_there_is_refused_before_the_capture(self):
        server = self.serve()
        _, err = self.run_plugin("demo", "--duration", "50ms", "-o", "missing/x.html", code=2)
        self.assertIn("cannot create missing/x.html", err)
        self.assertEqual(server.execs, [])


if __name__ == "__main__":
    main()

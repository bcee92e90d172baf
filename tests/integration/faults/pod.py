# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""A pod without a cluster: JVMs, a sidecar whose spool lies on a small disk, and an S3 server that it delivers to."""

import os
import pathlib
import signal
import socket
import subprocess
import time

from told import Told

KEYS = ("jprof-test", "jprof-test-secret")
BUCKET = "captures"
DISK_BYTES = 48 << 20
PATIENCE_S = 120


def wait_until(condition, what):
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end, f"{what}: not in {PATIENCE_S} s"
        time.sleep(0.05)


class Store:
    """versitygw over a folder; comes back at the same address."""

    def __init__(self, program, folder):
        self.program = program
        self.data = folder / "store"
        (self.data / BUCKET).mkdir(parents=True)
        (folder / "meta").mkdir()
        (folder / "iam").mkdir()
        self.meta = folder
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.process = None
        self.portal_answers = 0  # what a portal has answered in its place

    def start(self):
        self.process = subprocess.Popen(
            [self.program, "--access", KEYS[0], "--secret", KEYS[1], "--port", f"127.0.0.1:{self.port}", "--iam-dir",
             str(self.meta / "iam"), "--quiet", "posix", "--sidecar", str(self.meta / "meta"), str(self.data)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        wait_until(self.listens, "the store listens")

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def kill(self):
        self.process.kill()
        self.process.wait()

    def manifests(self):
        return sorted((self.data / BUCKET).rglob("manifest.json"))


class Pod:
    def __init__(self, jprof, folder, classes, javas, store_program, async_profiler, jcmd):
        self.jprof = jprof
        self.folder = pathlib.Path(folder)
        self.classes = classes
        self.async_profiler = async_profiler
        self.jcmd = jcmd
        self.disk = self.folder / "disk"
        self.disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=0700", "jprof-test", self.disk], check=True)
        self.spool = self.disk / "spool"
        self.env = {key: value for key, value in os.environ.items() if not key.startswith(("JPROF", "AWS"))}
        self.env.update(JPROF_SPOOL=str(self.spool), JPROF_SOCKET=str(self.folder / "serve.sock"), JPROF_POD="checkout-1",
                        JPROF_NAMESPACE="shop")  # fmt: skip
        self.store = Store(store_program, self.folder)
        self.store.start()
        self.serve = None
        self.ended = []  # JVMs that were replaced
        self.targets = [Told(jdk, java, classes) for jdk, java in javas]
        keys = self.folder / "credentials"
        keys.write_text("[default]\naws_access_key_id = %s\naws_secret_access_key = %s\n" % KEYS)
        keys.chmod(0o600)
        (self.folder / "config.yaml").write_text(f"""apiVersion: jprof.dev/v1alpha1
kind: SidecarConfig
limits: {{capturesPerHour: 100000, concurrentCaptures: 2, captureBytes: 4MiB}}
spool: {{quota: 24MiB, keepDelivered: 1s}}
store: {{url: "s3://{BUCKET}/p", endpoint: "http://127.0.0.1:{self.store.port}", pathStyle: true, region: us-east-1,
         credentials: "{keys}"}}
shutdown: {{grace: 20s}}
""")

    def start_serve(self):
        with open(self.folder / "log", "ab") as log:
            self.serve = subprocess.Popen([self.jprof, "serve", "--config", str(self.folder / "config.yaml")], env=self.env,
                                          stderr=log)  # fmt: skip

    def kill_serve(self):
        """As the kernel kills a container: every process at once."""
        try:
            os.killpg(self.serve.pid, signal.SIGKILL)
        except ProcessLookupError:
            self.serve.kill()  # it does not lead its group yet
        self.serve.wait()

    def end_serve(self):
        self.serve.terminate()
        code = self.serve.wait(PATIENCE_S)
        assert code in (0, -signal.SIGTERM), f"the sidecar ended with {code}"  # the latter before it listens for signals

    def replace(self, told):
        told.kill()
        self.ended.append(told)
        at = self.targets.index(told)
        self.targets[at] = Told(told.jdk, told.process.args[0], self.classes)

    def close(self):
        for process in (self.serve, self.store.process, *(told.process for told in self.targets)):
            if process and process.poll() is None:
                process.kill()
                process.wait()
        subprocess.run(["umount", "-l", self.disk], check=False)

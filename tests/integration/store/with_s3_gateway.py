#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a program beside a real S3 server (versitygw, scripts/parts), once plain and once over TLS.

usage: with_s3_gateway.py PROGRAM [ARGUMENT...]

The program finds in its environment JPROF_TEST_S3 and JPROF_TEST_S3_TLS (endpoints; the second one also
serves BUCKET.localhost), JPROF_TEST_S3_CA, JPROF_TEST_S3_BUCKET, and AWS_ACCESS_KEY_ID and
AWS_SECRET_ACCESS_KEY. Its exit status is ours.
"""
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
KEYS = {"AWS_ACCESS_KEY_ID": "jprof-test", "AWS_SECRET_ACCESS_KEY": "jprof-test-secret"}
BUCKET = "captures"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def wait_for(port, process):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.02)
    sys.exit("versitygw does not listen on port %d" % port)


def openssl(directory, *arguments):
    subprocess.run(["openssl", *arguments], cwd=directory, check=True, capture_output=True)


def make_certificate(directory):
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl(directory, "req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.pem", "-days", "1",
            "-subj", "/CN=jprof test authority")
    (directory / "ext").write_text("subjectAltName=DNS:localhost,DNS:%s.localhost\n" % BUCKET)
    openssl(directory, "req", *curve, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=s")
    openssl(directory, "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
            "-CAcreateserial", "-days", "1", "-extfile", "ext", "-out", "server.pem")


def start(gateway, directory, name, extra):
    data, meta, iam = (directory / (name + part) for part in ("-data", "-meta", "-iam"))
    for path in (data / BUCKET, meta, iam):
        path.mkdir(parents=True)
    port = free_port()
    # Paths are absolute because the gateway changes its directory.
    process = subprocess.Popen(
        [gateway, "--access", KEYS["AWS_ACCESS_KEY_ID"], "--secret", KEYS["AWS_SECRET_ACCESS_KEY"],
         "--port", "127.0.0.1:%d" % port, "--iam-dir", str(iam), "--quiet",
         *[text.replace("PORT", str(port)) for text in extra],
         "posix", "--sidecar", str(meta), str(data)],
        stdout=subprocess.DEVNULL)
    wait_for(port, process)
    return process, port


def main():
    part = subprocess.run([ROOT / "scripts/parts", "versitygw"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()
    processes = []
    with tempfile.TemporaryDirectory(prefix="jprof-s3-") as name:
        directory = pathlib.Path(name)
        make_certificate(directory)
        try:
            plain, plain_port = start(part + "/versitygw", directory, "plain", [])
            processes.append(plain)
            tls, tls_port = start(part + "/versitygw", directory, "tls",
                                  ["--cert", str(directory / "server.pem"),
                                   "--key", str(directory / "server.key"),
                                   "--virtual-domain", "localhost:PORT"])
            processes.append(tls)
            environment = dict(os.environ, **KEYS, JPROF_TEST_S3="http://127.0.0.1:%d" % plain_port,
                               JPROF_TEST_S3_TLS="https://localhost:%d" % tls_port,
                               JPROF_TEST_S3_CA=str(directory / "ca.pem"),
                               JPROF_TEST_S3_BUCKET=BUCKET)
            for variable in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION",
                             "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
                environment.pop(variable, None)
            return subprocess.run(sys.argv[1:], env=environment).returncode
        finally:
            for process in processes:
                process.kill()
                process.wait()


if len(sys.argv) < 2:
    sys.exit(__doc__)
sys.exit(main())

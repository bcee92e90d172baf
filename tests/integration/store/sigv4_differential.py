#!/usr/bin/env python3
# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the signatures of lib/store with those of botocore, AWS's own implementation.

usage: sigv4_differential.py SIGV4_CASES [COUNT [SEED]]

SIGV4_CASES is the program built from sigv4_cases.cpp. Ends with 1 and the first few differences if
there are any, with 77 (skipped) where Debian's python3-botocore is not installed.
"""
import datetime
import json
import random
import subprocess
import sys
import urllib.parse

try:
    import botocore.auth
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials
except ImportError:
    print("skipped: python3-botocore is not installed (scripts/install test)")
    sys.exit(77)

moment = datetime.datetime(1970, 1, 1)


class FrozenDatetime(datetime.datetime):
    @classmethod
    def utcnow(cls):
        return moment


class FrozenModule:
    datetime = FrozenDatetime


botocore.auth.datetime = FrozenModule
if hasattr(botocore.auth, "get_current_datetime"):
    botocore.auth.get_current_datetime = lambda *args, **kwargs: moment


def fresh(case, body):
    return AWSRequest(method=case["method"], url=case["url"], headers=dict(case["headers"]),
                      data=body)


def parts_of(url):
    path, _, query = url.partition("?")
    return path, sorted(urllib.parse.parse_qsl(query, keep_blank_values=True))


def differences(case):
    global moment
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=case["time"])
    credentials = Credentials(case["id"], bytes.fromhex(case["secret"]).decode("utf-8"),
                              case["token"] or None)
    request = fresh(case, bytes.fromhex(case["body"]))
    botocore.auth.S3SigV4Auth(credentials, "s3", case["region"]).add_auth(request)
    theirs = request.headers["Authorization"]
    if theirs != case["authorization"]:
        yield "headers", theirs, case["authorization"]
    # A presigned request does not sign its body; botocore would take one for parameters.
    request = fresh(case, b"")
    botocore.auth.S3SigV4QueryAuth(credentials, "s3", case["region"], expires=900).add_auth(request)
    if parts_of(request.url) != parts_of(case["presigned"]):
        yield "presigned", request.url, case["presigned"]


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 5000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(2**32)
    print("%d requests, seed %d, botocore %s" % (count, seed, botocore.__version__), flush=True)
    cases = subprocess.Popen([sys.argv[1], str(count), str(seed)], stdout=subprocess.PIPE)
    compared = different = 0
    for line in cases.stdout:
        case = json.loads(line)
        compared += 1
        for kind, theirs, ours in differences(case):
            different += 1
            if different <= 5:
                print("%s of %s\n  botocore %s\n  jprof    %s" % (kind, line.decode(), theirs, ours))
    complete = cases.wait() == 0 and compared == count
    print("%d compared, %d different%s" % (compared, different, "" if complete else ", incomplete"))
    sys.exit(0 if complete and different == 0 else 1)


main()

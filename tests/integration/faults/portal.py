# SPDX-FileCopyrightText: The jprof authors
# SPDX-License-Identifier: Apache-2.0
"""What may stand in a store's place and answers everything with 200: a captive portal, or a proxy that is told nothing."""

import http.server
import threading

PAGE = b"<html>Please log in.</html>"


class Answer(http.server.BaseHTTPRequestHandler):
    def do_any(self):
        left = int(self.headers.get("Content-Length", 0))
        while left > 0 and (piece := self.rfile.read(min(left, 1 << 16))):
            left -= len(piece)
        self.server.answered += 1
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(PAGE)

    do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = do_any

    def log_message(self, *_):
        pass


class Portal(http.server.ThreadingHTTPServer):
    """Serves until it is closed; one answer for each connection, so that nobody keeps talking to it afterwards."""

    daemon_threads = True

    def __init__(self, port):
        super().__init__(("127.0.0.1", port), Answer)
        self.answered = 0
        self.thread = threading.Thread(target=self.serve_forever, args=(0.05,))
        self.thread.start()

    def handle_error(self, request, client_address):
        pass  # a caller that went away

    def close(self):
        self.shutdown()
        self.thread.join()
        self.server_close()

"""Receives webhooks: checks each signature, refuses old ones, counts an event once, and prints what happened.

    WEBHOOK_SECRET=whsec_… python3 examples/webhook_receiver.py 8090

Python's standard library alone; it has no Ed25519, so the endpoint must be one with a shared secret (the default).
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_SECONDS = 300
BODY_BYTES_MAX = 65_536

SECRET = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))

# A real receiver keeps these ids where they survive a restart.
seen: set[str] = set()


def is_signed(signatures: str, content: bytes) -> bool:
    expected = base64.b64encode(hmac.digest(SECRET, content, hashlib.sha256)).decode()
    return any(hmac.compare_digest(each, f"v1,{expected}") for each in signatures.split(" "))


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.send_response(self.status())
        self.send_header("Content-Length", "0")
        self.end_headers()

    def status(self) -> int:
        length = int(self.headers.get("Content-Length", "0"))
        if length > BODY_BYTES_MAX:
            return 400
        body = self.rfile.read(length)
        event_id = self.headers.get("webhook-id", "")
        timestamp = self.headers.get("webhook-timestamp", "")
        if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
            return 400
        content = f"{event_id}.{timestamp}.".encode() + body
        if not is_signed(self.headers.get("webhook-signature", ""), content):
            return 401
        if event_id not in seen:
            seen.add(event_id)
            print(json.dumps(json.loads(body)), flush=True)
        return 204

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()

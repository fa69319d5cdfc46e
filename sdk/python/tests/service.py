"""A service for tests: answers by a script, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Dict, Iterator, List, Optional

SECRETS = ("user-secret", "organization-secret", "element-token")


@dataclass
class Reply:
    status: int = 200
    body: Any = None
    headers: Dict[str, str] = field(default_factory=dict)
    #: Break the connection after so many bytes of the body.
    break_after: Optional[int] = None
    #: Hold the answer back until the service ends, or five seconds.
    hang: bool = False

    def content(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()


@dataclass
class Asked:
    method: str
    path: str
    headers: Message
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Service(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, replies: List[Reply]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.replies = replies
        self.asked: List[Asked] = []
        self.end = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, *_: Any) -> None:
        """A caller that hangs up is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    server: Service
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append(Asked(self.command, self.path, self.headers, body))
        reply = self.server.replies.pop(0) if self.server.replies else Reply(500, {"code": "INTERNAL", "message": "No more."})
        if reply.hang:
            self.server.end.wait(timeout=5)
        if reply.break_after == 0:
            self.close_connection = True
            return
        content = reply.content()
        self.send_response(reply.status)
        for name, value in {"Content-Length": str(len(content)), **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content[: reply.break_after])
        if reply.break_after is not None:
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serving(*replies: Reply) -> Iterator[Service]:
    service = Service(list(replies))
    thread = threading.Thread(target=service.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield service
    finally:
        service.end.set()
        service.shutdown()
        thread.join()
        service.server_close()


def error(status: int, code: str, **more: Any) -> Reply:
    headers = more.pop("headers", {})
    return Reply(status, {"requestId": "r-1", "code": code, "message": f"It is {code}.", **more}, headers)

"""A server of chat completions on the loopback interface that behaves, and misbehaves, as real ones do."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Answer = "tuple[int, dict[str, str], bytes]"


def claim(subject: str, predicate: str, thing: str, quote: str, **more: Any) -> dict[str, Any]:
    """A claim as a model lists it."""
    base = {"kind": "state", "since": None, "until": None, "stated": True}
    return {"subject": subject, "predicate": predicate, "object": thing, "quote": quote, **base, **more}


def listed(*claims: dict[str, Any]) -> str:
    return json.dumps({"claims": list(claims)})


@dataclass
class Server:
    """What was asked, and how to answer: `reply` makes the text of an answer from the text that is asked about."""

    reply: Callable[[str], str] = lambda _: '{"claims": []}'
    supports: tuple[str, ...] = ("json_schema", "json_object with schema", "json_object", "text")
    refuse_with: int = 500  # what a way to ask gets that it does not support
    before: list[tuple[int, dict[str, str]]] = field(default_factory=list)  # answered to the first requests
    drip: float = 0  # seconds between pieces of the body
    usage: bool = True
    finish: str = "stop"
    refuse_options: tuple[str, ...] = ()
    asked: list[dict[str, Any]] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    most_at_once: int = 0
    hold: float = 0
    url: str = ""
    _now: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def texts(self) -> list[str]:
        """What was asked about, each request."""
        return [body["messages"][-1]["content"] for body in self.asked]

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
        if path != "/v1/chat/completions":
            return 404, {}, b"<html>Not Found</html>"
        with self._lock:
            self.asked.append(body)
            self.times.append(time.monotonic())
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
            early = self.before.pop(0) if self.before else None
        try:
            if self.hold:
                time.sleep(self.hold)
            return self._answer(body, early)
        finally:
            with self._lock:
                self._now -= 1

    def _answer(
        self, body: dict[str, Any], early: tuple[int, dict[str, str]] | None
    ) -> tuple[int, dict[str, str], bytes]:
        if early is not None:
            return early[0], early[1], b'{"error": {"message": "not now"}}'
        if body["model"] == "unknown":
            return 404, {}, b'{"error": {"message": "The model `unknown` does not exist"}}'
        for name in self.refuse_options:
            if name in body:
                wanted = " Use 'max_completion_tokens' instead." if name == "max_tokens" else ""
                return 400, {}, json.dumps({"error": {"message": f"Unsupported parameter: '{name}'.{wanted}"}}).encode()
        if asked_as(body) not in self.supports:
            return self.refuse_with, {}, b'{"error": {"message": "response_format is not supported"}}'
        content = self.reply(body["messages"][-1]["content"])
        document: dict[str, Any] = {
            "id": "x", "object": "chat.completion", "created": 1, "model": body["model"],
            "choices": [
                {"index": 0, "finish_reason": self.finish, "message": {"role": "assistant", "content": content}}
            ],
        }  # fmt: skip
        if self.usage:
            document["usage"] = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
        return 200, {}, json.dumps(document).encode()


def asked_as(body: dict[str, Any]) -> str:
    shape = body.get("response_format")
    if shape is None:
        return "text"
    return "json_object with schema" if "schema" in shape else shape["type"]


@contextmanager
def serving(**options: Any) -> Iterator[Server]:
    """A server in a thread of its own, until the block ends."""
    server = Server(**options)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, headers, data = server.answer(self.path, body)
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            size = 40 if server.drip else len(data) or 1
            try:
                for at in range(0, len(data), size):
                    piece = data[at : at + size]
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                    self.wfile.flush()
                    time.sleep(server.drip)
                self.wfile.write(b"0\r\n\r\n")
            except OSError:  # whoever asked has gone
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    server.url = f"http://127.0.0.1:{http.server_port}/v1"
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
        thread.join()

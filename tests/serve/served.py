"""`transformer serve` over a folder with a real sweep, asked over HTTP as a browser asks it, and as no browser would."""

import http.client
import json
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode, urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "faults"))
from program import ENVIRONMENT, PATIENCE, PROGRAM, ROOT, Place, finish, run, start  # noqa: E402


def inspect(*words):
    """What the command line says."""
    done = subprocess.run([PROGRAM, "inspect", *map(str, words), "--json"], cwd=ROOT, env=ENVIRONMENT,
                          capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.bytes = response.read()

    @property
    def json(self):
        return json.loads(self.bytes)


class Server:
    def __init__(self, folder, *options):
        self.process = subprocess.Popen([PROGRAM, "serve", str(folder), "--port", "0", *options], cwd=ROOT,
                                        env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            raise AssertionError(self.process.communicate()[1])
        parts = urlsplit(self.address)
        self.port = parts.port
        self.token = parts.query.removeprefix("token=")

    def stop(self):
        self.process.terminate()
        return finish(self.process)

    @property
    def host(self):
        return f"127.0.0.1:{self.port}"

    def ask(self, method, path, body=None, headers=None, known=True):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        all_headers = {"Authorization": f"Bearer {self.token}"} if known else {}
        all_headers.update(headers or {})
        try:
            connection.request(method, path, body, all_headers)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def get(self, path, **parameters):
        return self.ask("GET", path + ("?" + urlencode(parameters) if parameters else ""))

    def post(self, path, body):
        return self.ask("POST", path, json.dumps(body), {"Content-Type": "application/json"})

    def raw(self, data, seconds=30):
        """The bytes that come back on a connection of its own until the server closes it."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as connection:
            connection.sendall(data)
            received = b""
            while chunk := connection.recv(65536):
                received += chunk
            return received


def make_sweep(place, out="runs/norms"):
    """Post-LN and Pre-LN of a tiny model, trained."""
    words = place.config(**{"model__norm_placement": "post,pre", "training__train_steps": 20, "model__N": 2,
                            "training__diagnostics_every": 0})
    code, messages = run("sweep", "configs/mini.json", "--out", place / out, "--threads", 1, *words)
    assert code == 0, messages
    return place / out

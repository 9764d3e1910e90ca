"""The live page's server: who may ask, what is refused, and that its answers are those of `inspect`."""

import json
import os
import shutil
import socket
import tempfile
import threading
import time
import unittest
from pathlib import Path

from served import PATIENCE, ROOT, Place, Server, inspect, make_sweep, run, start


class Serve(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = Place()
        cls.addClassCleanup(cls.place.remove)
        make_sweep(cls.place)
        (cls.place / "secret.txt").write_text("not yours")
        cls.server = Server(cls.place / "runs")
        cls.addClassCleanup(cls.server.stop)
        cls.wait_until_read()

    @classmethod
    def wait_until_read(cls):
        deadline = time.monotonic() + PATIENCE
        while not cls.server.get("/api/runs").json["is_read"] and time.monotonic() < deadline:
            time.sleep(0.1)

    def refused(self, answer, status, words):
        self.assertEqual(answer.status, status, answer.bytes)
        self.assertIn(words, answer.json["error"])


class Access(Serve):
    def test_without_the_token_there_is_only_the_page_that_asks_for_it(self):
        page = self.server.ask("GET", "/", known=False)
        self.assertEqual(page.status, 401)
        self.assertIn(b'name="token"', page.bytes)
        self.assertEqual(self.server.ask("GET", "/style.css", known=False).status, 200)
        for path in ("/main.js", "/vega.js", "/api/runs", "/api/inspect/complexity", "/no-such-page"):
            self.assertEqual(self.server.ask("GET", path, known=False).status, 401, path)
        self.assertEqual(self.server.ask("POST", "/api/translate", "{}", {"Content-Type": "application/json"}, known=False).status, 401)

    def test_a_wrong_token_opens_nothing(self):
        for token in ("", "wrong", self.server.token[:-1], self.server.token + "0", self.server.token.upper()):
            answer = self.server.ask("GET", f"/?token={token}", known=False)
            self.assertEqual(answer.status, 401, token)
            self.assertNotIn("Set-Cookie", answer.headers)
            self.assertEqual(self.server.ask("GET", "/api/runs", headers={"Authorization": f"Bearer {token}"}, known=False).status, 401)

    def test_the_token_gives_a_cookie_and_is_not_left_in_the_address(self):
        answer = self.server.ask("GET", f"/?token={self.server.token}", known=False)
        self.assertEqual((answer.status, answer.headers["Location"]), (303, "/"))
        cookie = answer.headers["Set-Cookie"]
        self.assertIn("HttpOnly", cookie)
        self.assertIn("SameSite=Strict", cookie)
        self.assertNotIn(self.server.token, cookie)
        name = cookie.split(";")[0]
        for sent, status in ((name, 200), (f"a=b; {name}; c=d", 200), (name[:-1], 401), (f"x{name}", 401), ("; ;=", 401)):
            self.assertEqual(self.server.ask("GET", "/api/runs", headers={"Cookie": sent}, known=False).status, status, sent)

    def test_another_host_is_refused_even_with_the_token(self):
        for host in ("example.org", f"example.org:{self.server.port}", "127.0.0.1.example.org", "", "[::1].example.org"):
            self.refused(self.server.ask("GET", "/api/runs", headers={"Host": host}), 421, "Host")
        for host in ("localhost:9000", "127.0.0.1", "[::1]:6006"):  # as an SSH forwarding may have it
            self.assertEqual(self.server.ask("GET", "/api/runs", headers={"Host": host}).status, 200)
        answer = self.server.raw(f"GET /api/runs HTTP/1.1\r\nAuthorization: Bearer {self.server.token}\r\nConnection: close\r\n\r\n".encode())
        self.assertIn(b" 421 ", answer.split(b"\r\n")[0])

    def test_another_origin_is_refused_even_with_the_token(self):
        for origin in ("http://example.org", "null", f"https://{self.server.host}", "http://127.0.0.1:1"):
            self.refused(self.server.ask("GET", "/api/runs", headers={"Origin": origin}), 403, "Origin")
            self.refused(self.server.ask("POST", "/api/translate", "{}", {"Origin": origin, "Content-Type": "application/json"}), 403, "Origin")
        self.assertEqual(self.server.ask("GET", "/api/runs", headers={"Origin": f"http://{self.server.host}"}).status, 200)
        for site in ("cross-site", "same-site"):
            self.refused(self.server.ask("GET", "/api/runs", headers={"Sec-Fetch-Site": site}), 403, "this page")

    def test_headers_let_the_page_load_nothing_from_elsewhere(self):
        for path in ("/", "/api/runs", "/no-such-page"):
            headers = self.server.get(path).headers
            policy = headers["Content-Security-Policy"]
            self.assertIn("default-src 'none'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertIn("frame-ancestors 'none'", policy)
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertIsNone(headers["Access-Control-Allow-Origin"])

    def test_it_listens_on_this_machine_alone(self):
        with open("/proc/net/tcp") as lines:
            listening = [line.split()[1] for line in lines if line.split()[3] == "0A"]
        own = [address for address in listening if address.endswith(f":{self.server.port:04X}")]
        self.assertEqual(own, [f"0100007F:{self.server.port:04X}"])
        with open("/proc/net/tcp6") as lines:
            self.assertFalse([line for line in lines if line.split()[1].endswith(f":{self.server.port:04X}") and line.split()[3] == "0A"])


class BadRequests(Serve):
    def test_no_path_leads_out_of_the_folder(self):
        for path in ("/../secret.txt", "/..%2fsecret.txt", "/%2e%2e/secret.txt", "/static/../../secret.txt", "//etc/passwd",
                     "/index.html%00.js", "/runs/../secret.txt", "/base.json", "/login.html"):
            self.assertEqual(self.server.get(path).status, 404, path)
        for name in ("../runs", "..", "/", "/etc", "norms/", "./norms", "norms/../norms", "norms\0", str(self.place / "runs"), "no-such", ""):
            for path in ("/api/sweep", "/api/charts"):
                self.assertEqual(self.server.get(path, name=name).status, 404, name)
            self.refused(self.server.post("/api/translate", {"checkpoint": name, "text": "a"}), 400, "checkpoint")
            self.refused(self.server.post("/api/attention", {"checkpoint": name, "text": "a", "ids": []}), 400, "checkpoint")

    def test_no_key_names_a_file(self):
        for key in ("data.vocabulary", "data.train", "data.make", "data.source_vocabulary", "base", "checkpoint", "help", "json", "--json"):
            self.refused(self.server.get("/api/inspect/parameters", **{key: "/etc/passwd"}), 400, "unknown key")
        self.refused(self.server.get("/api/inspect/parameters", config="/etc/passwd"), 400, "base, table3")

    def test_links_out_of_the_folder_are_not_followed(self):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(self.place / "runs", Path(folder) / "linked")
            (Path(folder) / "sweep").mkdir()
            os.symlink(self.place / "runs/norms/results.json", Path(folder) / "sweep/results.json")
            server = Server(folder)
            try:
                found = server.get("/api/runs").json
                self.assertEqual((found["sweeps"], found["checkpoints"]), ([], []))
            finally:
                server.stop()

    def test_runs_lie_as_deep_as_they_like(self):
        with tempfile.TemporaryDirectory() as folder:
            name = "/".join("abcdefghijkl")
            (Path(folder) / name).parent.mkdir(parents=True)
            shutil.copytree(self.place / "runs/norms", Path(folder) / name)
            server = Server(folder)
            try:
                found = server.get("/api/runs").json
                self.assertEqual([sweep["name"] for sweep in found["sweeps"]], [name])
                self.assertTrue(found["is_whole"])
            finally:
                server.stop()

    def test_a_sweep_that_is_damaged_is_named_and_has_no_charts(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(self.place / "runs/norms", Path(folder) / "cut")
            file = Path(folder) / "cut/results.json"
            file.write_bytes(file.read_bytes()[:100])
            server = Server(folder)
            try:
                for path in ("/api/sweep", "/api/charts"):
                    answer = server.get(path, name="cut")
                    self.assertEqual(answer.status, 200 if path == "/api/sweep" else 500)
                    self.assertIn("results.json", answer.json["problem" if answer.status == 200 else "error"])
            finally:
                server.stop()

    def test_unknown_routes_and_methods(self):
        self.assertEqual(self.server.get("/api").status, 404)
        self.refused(self.server.get("/api/inspect/parameter"), 400, "did you mean parameters?")
        self.refused(self.server.get("/api/inspect/attention"), 400, "unknown topic")
        self.assertEqual(self.server.get("/api/inspect/" + "a" * 4000).status, 404)
        for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
            self.assertIn(self.server.ask(method, "/api/runs").status, (400, 405), method)
        self.assertEqual(self.server.ask("POST", "/api/runs", "{}", {"Content-Type": "application/json"}).status, 404)
        head = self.server.ask("HEAD", "/")
        self.assertEqual((head.status, head.bytes), (200, b""))

    def test_malformed_json(self):
        for body in ("", "{", "[]", "null", '{"checkpoint": 1}', '{"text": "a", "text": "b"}', '{"checkpoint": "norms", "beam": "4"}', '{"unknown": 1}',
                     "[" * 30000, '{"a":' * 5000, "\xff\xfe", '{"text": "\\ud800"}', "{} {}"):
            answer = self.server.ask("POST", "/api/translate", body.encode("latin-1"), {"Content-Type": "application/json"})
            self.assertEqual(answer.status, 400, body[:40])
            self.assertIn("error", answer.json)
        self.assertEqual(self.server.ask("POST", "/api/translate", "{}").status, 415)

    def test_huge_bodies_and_headers(self):
        huge = b"x" * (8 << 20)
        answer = self.server.raw(self.head("POST /api/translate", len(huge)) + huge[:200_000])
        self.assertIn(b" 413 ", answer.split(b"\r\n")[0])
        for stated, status in (((1 << 15) + 1, b"413"), (1 << 62, b"413"), ("9" * 30, b"413"), ("-1", b"400"), ("abc", b"400"), ("1e9", b"400")):
            answer = self.server.raw(self.head("POST /api/translate", stated))
            self.assertEqual(answer.split(b" ")[1], status, stated)
        chunked = self.head("POST /api/translate", None, "Transfer-Encoding: chunked\r\n") + b"100000\r\n" + huge[:100_000]
        self.assertIn(b" 411 ", self.server.raw(chunked).split(b"\r\n")[0])
        many = b"GET /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"".join(b"X-%d: %s\r\n" % (i, b"y" * 100) for i in range(100_000))
        try:
            answer = self.server.raw(many)
            self.assertNotIn(b" 200 ", answer.split(b"\r\n")[0])
        except ConnectionError:
            pass  # closed before all of it was sent
        self.assertNotEqual(self.server.get("/api/inspect/complexity?n=" + "7" * 20000).status, 200)
        self.assertEqual(self.server.get("/api/runs").status, 200)

    def test_a_body_that_was_refused_is_not_taken_for_a_request(self):
        inner = f"GET /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self.server.token}\r\n\r\n".encode()
        for method in ("POST", "GET"):
            answer = self.server.raw(self.head(f"{method} /no-such-page", len(inner)) + inner)
            self.assertEqual(answer.count(b"HTTP/1.1"), 1, answer)

    def test_ranges_are_not_served(self):
        ranges = "bytes=" + ",".join("0-" for _ in range(500))
        whole = self.server.get("/style.css").bytes
        answer = self.server.ask("GET", "/style.css", headers={"Range": ranges})
        self.assertIn((answer.status, len(answer.bytes) <= len(whole)), ((200, True), (416, True)))

    def test_what_is_not_http(self):
        for data in (b"\0" * 1000, b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\nHost\r\n\r\n", b"\r\n" * 100):
            self.server.raw(data + b"\r\n\r\n")
        self.assertEqual(self.server.get("/api/runs").status, 200)

    def test_what_is_too_large_to_compute_is_refused(self):
        for topic, question in (
                ("signal", {"model.d_model": 8192, "model.d_k": 64, "model.d_v": 64}), ("signal", {"model.N": 1000, "model.d_model": 2, "model.V": 100}),
                ("shapes", {"sentences": 1000, "length": 1000}), ("shapes", {"length": 9223372036854775807, "sentences": 9223372036854775807}),
                ("positions", {"length": 16384}), ("positions", {"model.positions": "learned", "model.max_positions": 1048576}),
                ("masks", {"source": "100,100,100,100,100,100,100", "target": "1,1,1,1,1,1,1"}), ("embedding-scale", {"model.V": 16777216}),
                ("parameters", {"model.N": ",".join(map(str, range(1, 100))), "model.d_model": ",".join(str(2 * i) for i in range(1, 200))})):
            begun = time.monotonic()
            self.refused(self.server.get(f"/api/inspect/{topic}", **question), 400, "the page computes at most")
            self.assertLess(time.monotonic() - begun, 20)

    def test_slow_clients_are_dropped_and_hold_nobody_up(self):
        began = time.monotonic()
        slow = []
        for i in range(20):
            connection = socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE)
            connection.sendall(b"GET /api/runs HTTP/1.1\r\nX: ")
            slow.append(connection)
        ended = set()
        while len(ended) < len(slow) and time.monotonic() - began < 40:
            self.assertEqual(self.server.get("/api/inspect/complexity").status, 200)
            for connection in slow:
                if connection in ended:
                    continue
                connection.setblocking(False)
                try:
                    connection.send(b"y")
                    if connection.recv(4096) == b"":
                        ended.add(connection)
                except BlockingIOError:
                    pass
                except OSError:
                    ended.add(connection)
            time.sleep(0.5)
        for connection in slow:
            connection.close()
        self.assertEqual(len(ended), len(slow))
        self.assertGreater(time.monotonic() - began, 5)  # they were given the time that a request has

    def head(self, request, length, more=""):
        stated = "" if length is None else f"Content-Length: {length}\r\n"
        return (f"{request} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {self.server.token}\r\n"
                f"Content-Type: application/json\r\n{stated}{more}\r\n").encode()


class Answers(Serve):
    TOPICS = [
        ("complexity", {"n": 200, "d": 64, "k": 5, "r": 8}, ["n=200", "d=64", "k=5", "r=8"]),
        ("parameters", {"model.N": 4, "model.tie_embeddings": "false"}, ["configs/base.json", "model.N=4", "model.tie_embeddings=false"]),
        ("parameters", {"config": "table3", "model.V": 41100}, ["configs/table3.json", "model.V=41100"]),
        ("schedule", {"training.warmup_steps": "400,4000", "steps": "1,400,9000"}, ["configs/base.json", "training.warmup_steps=400,4000", "--steps", "1,400,9000"]),
        ("label-smoothing", {"training.eps_ls": "0,0.1"}, ["configs/base.json", "training.eps_ls=0,0.1"]),
        ("kv-cache", {"model.kv_heads": "8,1", "bits": 8, "length": 99}, ["configs/base.json", "model.kv_heads=8,1", "--bits", 8, "--length", 99]),
        ("flops", {"devices": 2, "utilisation": 0.5}, ["configs/base.json", "--devices", 2, "--utilisation", 0.5]),
        ("scaling", {"devices": "1,8", "tflops": 50, "gigabytes": 25, "per-device": "true", "model.N": 2, "model.V": 9000},
         ["configs/base.json", "--devices", "1,8", "--tflops", 50, "--gigabytes", 25, "--per-device", "model.N=2", "model.V=9000"]),
        ("masks", {"source": "4,2", "target": "3,1"}, ["--source", "4,2", "--target", "3,1"]),
        ("positions", {"length": 9, "model.d_model": 12}, ["configs/base.json", "--length", 9, "model.d_model=12"]),
        ("positions", {"length": 9, "model.d_model": 12, "model.positions": "learned", "model.V": 50}, ["configs/base.json", "--length", 9, "model.d_model=12", "model.positions=learned", "model.V=50"]),
        ("embedding-scale", {"model.d_model": "16,32", "model.V": 90}, ["configs/base.json", "model.d_model=16,32", "model.V=90"]),
        ("shapes", {"model.N": 1, "model.V": 90, "length": 5}, ["configs/base.json", "model.N=1", "model.V=90", "--length", 5]),
        ("signal", {"model.norm_placement": "post,pre", "model.N": 2, "model.d_model": 16, "model.V": 90, "sentences": 2, "length": 6},
         ["configs/base.json", "model.norm_placement=post,pre", "model.N=2", "model.d_model=16", "model.V=90", "--sentences", 2, "--length", 6]),
    ]

    def test_every_topic_answers_as_inspect_does(self):
        for topic, question, words in self.TOPICS:
            with self.subTest(topic=topic, question=question):
                answer = self.server.get(f"/api/inspect/{topic}", **question)
                self.assertEqual(answer.status, 200, answer.bytes)
                self.assertEqual(answer.json, inspect(topic, *words))

    def test_what_cannot_be_is_told_in_the_program_s_words(self):
        for question, words in (({"model.d_model": 511}, "d_model"), ({"model.h": "x"}, "model.h"), ({"model.hh": 4}, "did you mean model.h?")):
            self.refused(self.server.get("/api/inspect/positions", **question), 400, words)
        self.refused(self.server.ask("GET", "/api/inspect/complexity?n=4&n=5"), 400, "twice")
        self.refused(self.server.get("/api/inspect/parameters", **{"model.h": "3,3"}), 400, "request: model.h")
        self.refused(self.server.get("/api/inspect/masks", source="1", target="1,2"), 400, "--target")

    def test_table3_is_that_of_the_dry_run(self):
        out = self.place / "dry"
        answer = self.server.get("/api/table3", **{"model.V": 41100}).json
        process = start("sweep", "configs/table3.json", "--out", out, "--dry-run", "--json", "model.V=41100", stdout=-1)
        planned = json.loads(process.communicate(timeout=PATIENCE)[0])["rows"]
        self.assertEqual(len(planned), 20)
        for here, there in zip(answer["rows"], planned, strict=True):
            self.assertEqual(here, {key: there[key] for key in ("id", "group", "set", "parameters", "flops", "paper")})

    def test_runs_are_those_of_the_sweep(self):
        overview = self.server.get("/api/runs").json
        self.assertEqual([sweep["name"] for sweep in overview["sweeps"]], ["norms"])
        rows = ["norm_placement-post", "norm_placement-pre"]
        self.assertEqual(overview["checkpoints"], [f"norms/{row}/seed-1" for row in rows])
        sweep = self.server.get("/api/sweep", name="norms").json
        results = json.loads((self.place / "runs/norms/results.json").read_text())["results"]
        for shown, run_there in zip(sweep["runs"], results, strict=True):
            self.assertEqual((shown["row"], shown["state"], shown["perplexity"], shown["bleu"]),
                             (run_there["id"], "complete", run_there["perplexity"], run_there["bleu"]))
        charts = {chart["id"]: chart["spec"]["data"]["values"] for chart in self.server.get("/api/charts", name="norms").json}
        lines = (self.place / "runs/norms" / rows[1] / "seed-1/metrics.jsonl").read_text().splitlines()
        measured = [(line["step"], line["valid_perplexity"]) for line in map(json.loads, lines) if "valid_perplexity" in line]
        self.assertGreater(len(measured), 3)
        self.assertEqual([(each["step"], each["valid_perplexity"]) for each in charts["validation"] if each["row"] == rows[1]], measured)

    def test_nothing_is_written(self):
        def state():
            return {path: (path.lstat().st_ino, path.lstat().st_size, path.lstat().st_mtime_ns) for path in (self.place / "runs").rglob("*")}
        before = state()
        for path in ("/api/runs", "/api/sweep?name=norms", "/api/charts?name=norms", "/api/table3", "/api/inspect/shapes?model.V=90"):
            self.assertEqual(self.server.get(path).status, 200, path)
        body = {"checkpoint": "norms/norm_placement-post/seed-1", "text": "a"}
        self.assertEqual(self.server.post("/api/translate", body).status, 200)
        self.assertEqual(state(), before)

    def test_translations_are_those_of_translate(self):
        checkpoint = "norms/norm_placement-pre/seed-1"
        sentence = (self.place / "data/valid.en").read_text().splitlines()[0]
        answer = self.server.post("/api/translate", {"checkpoint": checkpoint, "text": sentence, "beam": 3, "alpha": 0.6})
        self.assertEqual(answer.status, 200, answer.bytes)
        translations = answer.json["translations"]
        process = start("translate", "--checkpoint", self.place / "runs" / checkpoint, "--threads", 1, "--scores", "--n-best", 3,
                        "decoding.beam=3", "decoding.alpha=0.6", stdin=-1, stdout=-1)
        lines = process.communicate(sentence + "\n", timeout=PATIENCE)[0].splitlines()
        self.assertEqual([[f"{each['log_probability']:.3f}", f"{each['score']:.3f}", each["text"]] for each in translations],
                         [line.split("\t")[1:] for line in lines])
        self.check_search(answer.json)

    def check_search(self, answer):
        """The tree leads to every translation, by the pieces it is made of, and its probability only falls."""
        nodes = answer["search"]
        self.assertTrue(all(-1 <= node["parent"] < i for i, node in enumerate(nodes)))

        def path(node):
            found = []
            while True:
                if not node["is_end"]:
                    found.insert(0, node["piece"])
                if node["parent"] < 0:
                    return found
                self.assertLessEqual(node["log_probability"], nodes[node["parent"]]["log_probability"])
                node = nodes[node["parent"]]
        ends = {node["log_probability"]: path(node) for node in nodes if node["is_end"]}
        for each in answer["translations"]:
            self.assertEqual(ends[each["log_probability"]], each["pieces"])

    def test_attention_is_that_of_inspect(self):
        checkpoint = "norms/norm_placement-post/seed-1"
        source, target = ((self.place / f"data/valid.{side}").read_text().splitlines()[1] for side in ("en", "de"))
        command = inspect("attention", "--checkpoint", self.place / "runs" / checkpoint, "--source", source, "--target", target,
                          "--kind", "cross", "--layer", 1, "--threads", 1)
        answer = self.server.post("/api/translate", {"checkpoint": checkpoint, "text": source, "beam": 1, "alpha": 0.6}).json
        shown = self.server.post("/api/attention", {"checkpoint": checkpoint, "text": source, "ids": answer["translations"][0]["ids"],
                                                    "kind": "cross", "layer": 1}).json
        self.assertEqual(shown["source"], command["source"])
        self.assertEqual(shown["target"][1:], answer["translations"][0]["pieces"])
        # The first query is the begin of sentence in both: its weights do not depend on what follows.
        for here, there in zip(shown["attention"][0]["heads"], command["attention"][0]["heads"], strict=True):
            for mine, theirs in zip(here["weights"][0], there["weights"][0], strict=True):
                self.assertAlmostEqual(mine, theirs, places=5)
            self.assertAlmostEqual(sum(here["weights"][-1]), 1, places=5)
        for wrong in ({"layer": 2}, {"kind": "self"}, {"ids": [400]}, {"ids": [-1]}, {"ids": [3] * 1000}, {"text": ""}):
            body = {"checkpoint": checkpoint, "text": source, "ids": [5], "kind": "cross", "layer": 0, **wrong}
            self.assertEqual(self.server.post("/api/attention", body).status, 400, wrong)
        for wrong in ({"beam": 0}, {"beam": 17}, {"alpha": -1}, {"alpha": 1e9}, {"text": " "}, {"text": "a " * 900}):
            body = {"checkpoint": checkpoint, "text": source, **wrong}
            self.assertEqual(self.server.post("/api/translate", body).status, 400, wrong)


class UnderLoad(Serve):
    HEAVY = {"model.N": 12, "model.d_model": 256, "model.V": 8000, "sentences": 16, "length": 64}

    def test_models_wait_in_a_short_line_and_nothing_else_waits_for_them(self):
        statuses, slowest = [], []

        def ask_model():
            statuses.append(self.server.get("/api/inspect/signal", **self.HEAVY).status)
        threads = [threading.Thread(target=ask_model) for _ in range(8)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            begun = time.monotonic()
            self.assertEqual(self.server.get("/api/inspect/complexity").status, 200)
            self.assertEqual(self.server.get("/api/sweep", name="norms").status, 200)
            slowest.append(time.monotonic() - begun)
        for thread in threads:
            thread.join()
        self.assertEqual(set(statuses), {200, 503})
        self.assertGreaterEqual(statuses.count(200), 1)
        self.assertLess(sorted(slowest)[len(slowest) // 2], 1)  # seconds; a model call is longer

    def test_curves_grow_while_a_sweep_runs(self):
        words = self.place.config(**{"model__norm_placement": "post,pre", "training__train_steps": 4000, "training__diagnostics_every": 0})
        sweep = start("sweep", "configs/mini.json", "--out", self.place / "runs/live", "--threads", 1, "--jobs", 1, *words)
        self.addCleanup(shutil.rmtree, self.place / "runs/live")
        self.addCleanup(sweep.communicate)
        self.addCleanup(sweep.terminate)
        steps, running = [], None
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and (len(set(steps)) < 3 or running is None):
            answer = self.server.get("/api/sweep", name="live")
            if answer.status == 200 and "runs" in answer.json:
                first = answer.json["runs"][0]
                if first["state"] == "running" and first["seconds_left"] is not None:
                    running = first
                charts = self.server.get("/api/charts", name="live").json
                steps += [max(each["step"] for each in chart["spec"]["data"]["values"]) for chart in charts if chart["id"] == "training"]
            time.sleep(0.5)
        self.assertGreaterEqual(len(set(steps)), 3, steps)
        self.assertEqual(steps, sorted(steps))
        self.assertGreater(running["step"], 0)
        self.assertLess(running["step"], running["train_steps"])
        self.assertGreater(running["seconds_left"], 0)


class Command(unittest.TestCase):
    def test_it_refuses_what_cannot_be_served(self):
        with tempfile.TemporaryDirectory() as folder:
            for words, code, message in ((["no-such-folder"], 2, "expected a folder"), ([folder, "--port", "70000"], 2, "--port"),
                                         ([folder, "--port", "1", "--threads", "0"], 2, "--threads")):
                got, messages = run("serve", *words)
                self.assertEqual(got, code, messages)
                self.assertIn(message, messages)

    def test_a_port_in_use_is_said_and_ctrl_c_ends(self):
        with tempfile.TemporaryDirectory() as folder:
            first = Server(folder)
            code, messages = run("serve", folder, "--port", first.port)
            self.assertEqual(code, 1)
            self.assertIn(f"port {first.port}", messages)
            begun = time.monotonic()
            code, messages = first.stop()
            self.assertEqual(code, 0, messages)
            self.assertLess(time.monotonic() - begun, 10)
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    unittest.main()

"""docs/results.schema.json against the files that the program writes, and docs/results-format.md against the schema."""

import json
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/faults"))
from program import Place, run  # noqa: E402

SCHEMA = json.loads((ROOT / "docs/results.schema.json").read_text())
TYPES = {"object": dict, "array": list, "string": str, "null": type(None)}


def is_of_type(value, name):
    if name in ("number", "integer"):
        return isinstance(value, int if name == "integer" else (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def errors(value, schema, where="$"):
    """As JSON Schema has it, for the keywords that ours uses; another one is an error of ours."""
    found = []
    for keyword, wanted in schema.items():
        if keyword == "$ref":
            found += errors(value, SCHEMA["$defs"][wanted.split("/")[-1]], where)
        elif keyword == "type":
            names = wanted if isinstance(wanted, list) else [wanted]
            if not any(is_of_type(value, name) for name in names):
                return [f"{where}: {value!r} is not {wanted}"]
        elif keyword == "const" and value != wanted or keyword == "enum" and value not in wanted:
            found.append(f"{where}: {value!r} is not {wanted!r}")
        elif keyword == "minimum" and value < wanted:
            found.append(f"{where}: {value!r} is under {wanted}")
        elif keyword == "pattern" and not re.search(wanted, value):
            found.append(f"{where}: {value!r} does not match {wanted}")
        elif keyword == "required":
            found += [f"{where}: no {key}" for key in wanted if key not in value]
        elif keyword == "properties":
            for key in value.keys() & wanted.keys():
                found += errors(value[key], wanted[key], f"{where}.{key}")
        elif keyword == "additionalProperties":
            for key in value.keys() - schema.get("properties", {}).keys():
                found += [f"{where}: unknown {key}"] if wanted is False else errors(value[key], wanted, f"{where}.{key}")
        elif keyword == "items":
            for number, item in enumerate(value):
                found += errors(item, wanted, f"{where}[{number}]")
        elif keyword == "oneOf":
            tried = [errors(value, one, where) for one in wanted]
            if sum(not each for each in tried) != 1:
                found.append(f"{where}: is not one of {len(wanted)}: {min(tried, key=len)}")
        elif keyword not in ("const", "enum", "minimum", "pattern"):
            raise AssertionError(f"the schema has {keyword}, which this test does not know")
    return found


class ResultsFormatTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = Place()
        cls.addClassCleanup(cls.place.remove)

    def check(self, value, name):
        self.assertEqual(errors(value, {"$ref": f"#/$defs/{name}"}), [])

    def check_lines(self, path, name):
        lines = path.read_text().splitlines()
        self.assertTrue(lines)
        for line in lines:
            self.check(json.loads(line), name)

    def test_files_of_a_sweep(self):
        folder = self.place / "sweep"
        code, messages = run("sweep", "configs/mini.json", "--out", folder, "--threads", 1, "model.norm_placement=post,pre",
                             "training.learning_rate=0.001,1e30", *self.place.config(training__schedule="constant"))
        self.assertEqual(code, 0, messages)
        results = json.loads((folder / "results.json").read_text())
        self.check(results, "results")
        states = [run["state"] for run in results["results"]]
        self.assertEqual(sorted(states), ["complete", "complete", "diverged", "diverged"])
        for record in results["results"]:
            place = folder / record["id"] / "seed-1"
            if record["state"] == "complete":
                self.check(json.loads((place / "result.json").read_text()), "result")
                self.check_lines(place / "metrics.jsonl", "metrics_line")
                self.check_lines(place / "diagnostics.jsonl", "diagnostics_line")
            else:
                self.check(json.loads((place / "divergence.json").read_text()), "divergence")

    def test_the_schema_refuses_what_is_not_so(self):
        line = {"step": 1, "valid_perplexity": 2.5, "checksum": "0123456789abcdef"}
        self.check(line, "metrics_line")
        for change in ({"step": -1}, {"step": 1.5}, {"valid_perplexity": "2"}, {"more": 1}, {"checksum": "0"}):
            self.assertTrue(errors({**line, **change}, {"$ref": "#/$defs/metrics_line"}), change)

    def test_every_field_is_documented(self):
        text = (ROOT / "docs/results-format.md").read_text()
        documented = set(re.findall(r"`([a-z_]+)`", text))

        def fields(schema):
            for key, value in schema.items():
                if key == "properties":
                    yield from value
                if isinstance(value, dict):
                    yield from fields(value)
                elif isinstance(value, list):
                    for item in value:
                        if isinstance(item, dict):
                            yield from fields(item)

        self.assertEqual(sorted(set(fields(SCHEMA)) - documented), [])


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Writes runs as TensorBoard's event files: each figure of metrics.jsonl and diagnostics.jsonl as a scalar, and the weights of each
checkpoint that is kept as histograms. Needs the package tensorboard. Runs are run folders, or sweeps with all of theirs:
  tools/to_tensorboard.py runs/table3-mini --out logs && tensorboard --logdir logs
Written again, a run's event file takes the place of the one before."""

import argparse
import json
import struct
import sys
from pathlib import Path
from typing import Dict, Iterator, Tuple

SUFFIX = ".transformer"


def runs_in(folder: Path) -> Dict[str, Path]:
    """The runs by the names that TensorBoard shows: ROW/seed-S of a sweep."""
    if (folder / "metrics.jsonl").exists():
        return {folder.resolve().name: folder}
    found = sorted(folder.glob("*/seed-*/metrics.jsonl"))
    return {f"{path.parts[-3]}/{path.parts[-2]}": path.parent for path in found}


def lines_of(path: Path) -> Iterator[dict]:
    if not path.exists():
        return
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.endswith("\n"):  # the last one may be half written
                yield json.loads(line)


def scalars(run: Path) -> Iterator[Tuple[int, str, float]]:
    for line in lines_of(run / "metrics.jsonl"):
        for key, value in line.items():
            if key not in ("step", "checksum"):
                yield line["step"], f"metrics/{key}", value
    for line in lines_of(run / "diagnostics.jsonl"):
        for sublayer in line["sublayers"]:
            for key, value in sublayer.items():
                if key == "sublayer" or value is None:
                    continue
                parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else [("", value)]
                for name, number in parts:
                    tag = f"{key}/{sublayer['sublayer']}" + (f"/{name}" if name != "" else "")
                    yield line["step"], tag, number


def weights(file: Path) -> Iterator[Tuple[str, "numpy.ndarray"]]:
    """Float32 tensors of a safetensors file by name."""
    import numpy

    data = file.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            yield name, numpy.frombuffer(data[begin:end], dtype="<f4")


def histogram(values: "numpy.ndarray"):
    import numpy
    from tensorboard.compat.proto.summary_pb2 import HistogramProto

    values = values.astype(numpy.float64)
    counts, edges = numpy.histogram(values, bins=64)
    return HistogramProto(
        min=values.min(), max=values.max(), num=values.size, sum=values.sum(), sum_squares=values.dot(values),
        bucket_limit=edges[1:].tolist(), bucket=counts.tolist())


def write(run: Path, out: Path) -> None:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    before = list(out.glob(f"events.out.tfevents.*{SUFFIX}"))
    time = (run / "metrics.jsonl").stat().st_mtime  # the files keep none by step
    writer = EventFileWriter(str(out), filename_suffix=SUFFIX)

    def add(step: int, value: Summary.Value) -> None:
        writer.add_event(Event(wall_time=time, step=step, summary=Summary(value=[value])))

    for step, tag, value in scalars(run):
        add(step, Summary.Value(tag=tag, simple_value=value))
    for checkpoint in sorted((run / "checkpoints").glob("step-*/model.safetensors")):
        step = int(checkpoint.parent.name.split("-")[1])
        for name, values in weights(checkpoint):
            add(step, Summary.Value(tag=f"weights/{name}", histo=histogram(values)))
    writer.close()
    for path in before:
        path.unlink()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="+", help="a run, or a sweep")
    parser.add_argument("--out", type=Path, default=Path("logs"), help="TensorBoard's --logdir (default: logs)")
    arguments = parser.parse_args()
    try:
        import tensorboard  # noqa: F401
    except ImportError:
        print("to_tensorboard.py: needs the package tensorboard: pip install tensorboard", file=sys.stderr)
        return 1
    for folder in arguments.folder:
        runs = runs_in(folder)
        if not runs:
            print(f"to_tensorboard.py: {folder}: no metrics.jsonl there, nor in ROW/seed-S: not a run and not a sweep", file=sys.stderr)
            return 2
        for name, run in runs.items():
            write(run, arguments.out / name)
            print(arguments.out / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A finished corpus folder: PART.en, PART.de and PART.meta line by line, and manifest.json. Written whole or not at all."""

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Dict, Iterable, List

from .pair import Pair, ToolError

MANIFEST = "manifest.json"  # written last: a folder that has it is complete


def is_complete(folder: Path) -> bool:
    return (folder / MANIFEST).exists()


def check_target(folder: Path) -> None:
    """Nothing is replaced that this tool did not write."""
    if folder.exists() and not is_complete(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise ToolError(f"{folder}: is there and is no corpus of this tool; name another --out or remove it")


def write_lines(path: Path, lines: Iterable[str]) -> None:
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(line + "\n" for line in lines)


def write_part(folder: Path, name: str, pairs: List[Pair], domains: Dict[str, str]) -> None:
    write_lines(folder / f"{name}.en", (pair.en for pair in pairs))
    write_lines(folder / f"{name}.de", (pair.de for pair in pairs))
    write_lines(folder / f"{name}.meta",
                ("\t".join((pair.source, domains[pair.source], pair.package, pair.document)) for pair in pairs))


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_corpus(folder: Path, parts: Dict[str, List[Pair]], domains: Dict[str, str], record: Dict) -> None:
    """Writes beside the folder and renames; `record` becomes manifest.json with the files' checksums added."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        for name, pairs in parts.items():
            write_part(beside, name, pairs, domains)
        files = {path.name: {"bytes": path.stat().st_size, "sha256": sha256(path)}
                 for path in sorted(beside.iterdir())}
        write_lines(beside / MANIFEST, [json.dumps({**record, "files": files}, indent=2, ensure_ascii=False)])
        os.chmod(beside, 0o755)
        replace_folder(beside, folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def replace_folder(new: Path, old: Path) -> None:
    if not old.exists():
        os.rename(new, old)
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{old.name}.old.", dir=old.parent)) / old.name
    os.rename(old, aside)
    os.rename(new, old)
    shutil.rmtree(aside.parent)

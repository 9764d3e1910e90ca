"""Message catalogs: every `de/LC_MESSAGES/*.mo` of the packages. Short messages are left out: they have no sentence."""

import re
import struct
from pathlib import Path
from typing import Iterator, List, Tuple

from .align import sentence_pairs
from .clean import tokens
from .pair import Pair, ToolError
from .sentences import split_sentences

LEAST_TOKENS = 6
TAG = re.compile(r"</?[A-Za-z][^<>]*>")
ACCELERATOR = re.compile(r"[_&~](?=\w)")


def read_catalogs(roots: List[Path]) -> Iterator[Pair]:
    for root in roots:
        for path in sorted(root.glob("**/de/LC_MESSAGES/*.mo")):
            if not path.is_file() or path.is_symlink():  # a link could lead out of the package
                continue
            for message, translation in read_mo(path.read_bytes(), str(path)):
                for pair in message_pairs(message, translation):
                    yield Pair("mo", root.name, path.stem, path.stem, *pair)


def read_mo(content: bytes, name: str) -> List[Tuple[str, str]]:
    """(message, translation), without contexts; of plural forms the last."""
    order = {0x950412DE: "<", 0xDE120495: ">"}.get(int.from_bytes(content[:4], "little"))
    if order is None or len(content) < 20:
        raise ToolError(f"{name}: is no message catalog (.mo)")
    count, messages, translations = struct.unpack_from(order + "3I", content, 8)
    if max(messages, translations) + 8 * count > len(content):
        raise ToolError(f"{name}: message catalog is cut short")
    found = []
    left = len(content)  # texts that overlap could be any number of times as large as the file
    for number in range(count):
        texts = []
        for table in (messages, translations):
            length, offset = struct.unpack_from(order + "2I", content, table + 8 * number)
            if offset + length > len(content):
                raise ToolError(f"{name}: message catalog is cut short")
            left -= length
            if left < 0:
                raise ToolError(f"{name}: message catalog has texts that overlap")
            texts.append(content[offset:offset + length].decode("utf-8", "replace"))
        message, translation = texts[0].split("\x04")[-1], texts[1]
        if message:  # the empty one is the catalog's header
            found.append((message.split("\0")[-1], translation.split("\0")[-1]))
    return sorted(found)


def message_pairs(message: str, translation: str) -> Iterator[Tuple[str, str]]:
    en, de = (re.split(r"\n\s*\n", plain(text)) for text in (message, translation))
    if len(en) == len(de):
        for a, b in zip(en, de):
            for pair in sentence_pairs(split_sentences(a, "en"), split_sentences(b, "de")):
                if len(tokens(pair[0])) >= LEAST_TOKENS:
                    yield pair


def plain(text: str) -> str:
    """Without tags and accelerator marks; a text with names_like_this or &entities; keeps its marks."""
    text = TAG.sub("", text)
    return text if re.search(r"\w_\w|&\w+;", text) else ACCELERATOR.sub("", text)

"""Reads WMT's SGM test sets: `<seg id="N">text</seg>` inside `<doc docid="...">`, in the file's order."""

import re
from typing import List, Tuple

from .entities import unescape
from .pair import ToolError

# No attribute goes over the next element's beginning: else each would be looked for to the file's end.
MARK = re.compile(r"<(?:doc\b(?P<doc>[^<>]*)|seg\b(?P<seg>[^<>]*)|/seg\s*)>", re.I)
ATTRIBUTE = r"""\b{}\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))"""

Segment = Tuple[str, str, str]  # document, segment id, text


def read_sgm(text: str, name: str) -> List[Segment]:
    """The segments in order; entities resolved, white space single. Malformed: ToolError naming the file."""
    begun = len(re.findall(r"<seg\b", text, re.I))
    segments, document = [], ""
    begin = None  # the open segment's mark
    for mark in MARK.finditer(text):
        if mark["seg"] is not None:
            if begin:
                raise ToolError(f"{name}: segment {attribute(begin['seg'], 'id')} of document '{document}' has no </seg>")
            begin = mark
        elif begin and mark["doc"] is None:
            segments.append((document, attribute(begin["seg"], "id"), plain(text[begin.end():mark.start()])))
            begin = None
        elif not begin and mark["doc"] is not None:
            document = attribute(mark["doc"], "docid")
    if begun == 0:
        raise ToolError(f"{name}: expected an SGM test set with <seg id=...> elements; it has none")
    if len(segments) != begun:
        raise ToolError(f"{name}: {begun} <seg> elements begin and {len(segments)} end with </seg>; is the file cut short?")
    refuse_repeats(segments, name)
    return segments


def refuse_repeats(segments: List[Segment], name: str) -> None:
    seen = set()
    for document, number, _ in segments:
        if (document, number) in seen:
            raise ToolError(f"{name}: segment {number} of document '{document}' stands twice; a file with one reference "
                            "translation is needed")
        seen.add((document, number))


def attribute(inside: str, name: str) -> str:
    match = re.search(ATTRIBUTE.format(name), inside, re.I)
    return next((value for value in match.groups() if value is not None), "") if match else ""


def plain(content: str) -> str:
    return " ".join(unescape(content).split())


def check_same_segments(source: List[Segment], reference: List[Segment], source_name: str, reference_name: str) -> None:
    """Both files have the same segments of the same documents in the same order."""
    if len(source) != len(reference):
        raise ToolError(f"{source_name} has {len(source)} segments and {reference_name} has {len(reference)}; "
                        "expected equally many")
    for a, b in zip(source, reference):
        if a[:2] != b[:2]:
            raise ToolError(f"{source_name} has segment {a[1]} of document '{a[0]}' where {reference_name} has segment "
                            f"{b[1]} of document '{b[0]}'")

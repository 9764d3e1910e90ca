"""Reads WMT's SGM test sets: `<seg id="N">text</seg>` inside `<doc docid="...">`, in the file's order."""

import html
import re
from typing import List, Tuple

from .pair import ToolError

DOC_OR_SEG = re.compile(r"<doc\b([^>]*)>|<seg\b([^>]*)>(.*?)</seg\s*>", re.S | re.I)
ATTRIBUTE = r"""\b{}\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))"""

Segment = Tuple[str, str, str]  # document, segment id, text


def read_sgm(text: str, name: str) -> List[Segment]:
    """The segments in order; entities resolved, white space single. Malformed: ToolError naming the file."""
    opened = len(re.findall(r"<seg\b", text, re.I))
    segments, document = [], ""
    for match in DOC_OR_SEG.finditer(text):
        if match.group(3) is None:
            document = attribute(match.group(1), "docid")
        elif re.search(r"<seg\b", match.group(3), re.I):
            raise ToolError(f"{name}: segment {attribute(match.group(2), 'id')} of document '{document}' has no </seg>")
        else:
            segments.append((document, attribute(match.group(2), "id"), plain(match.group(3))))
    if opened == 0:
        raise ToolError(f"{name}: expected an SGM test set with <seg id=...> elements; it has none")
    if len(segments) != opened:
        raise ToolError(f"{name}: {opened} <seg> elements begin and {len(segments)} end with </seg>; is the file cut short?")
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
    return " ".join(html.unescape(content).split())


def check_same_segments(source: List[Segment], reference: List[Segment], source_name: str, reference_name: str) -> None:
    """Both files have the same segments of the same documents in the same order."""
    if len(source) != len(reference):
        raise ToolError(f"{source_name} has {len(source)} segments and {reference_name} has {len(reference)}; "
                        "expected equally many")
    for a, b in zip(source, reference):
        if a[:2] != b[:2]:
            raise ToolError(f"{source_name} has segment {a[1]} of document '{a[0]}' where {reference_name} has segment "
                            f"{b[1]} of document '{b[0]}'")

"""Entities of HTML and SGML resolved."""

import html
import re

# Python refuses to read numbers of thousands of digits; no character's has more than seven.
OVER_LONG = re.compile(r"&#[0-9]{9,};?")


def unescape(text: str) -> str:
    return html.unescape(without_over_long(text))


def without_over_long(text: str) -> str:
    """References to no character at all as U+FFFD."""
    return OVER_LONG.sub("\ufffd", text)

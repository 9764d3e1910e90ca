"""One sentence pair and where it comes from; and the error that ends a tool with one line."""

from typing import NamedTuple


class Pair(NamedTuple):
    """`unit` is what the split holds out whole: a help page, a block of dictionary lines, a family of packages."""

    source: str  # which reader made it: lohelp, ddtp, ding-sent, ...
    package: str
    document: str
    unit: str
    en: str
    de: str


class ToolError(Exception):
    """Trouble that the user can mend: its text says what was expected, what came, and what to do."""

"""What each tier is made of: packages, readers and sizes."""

from collections import Counter
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple

from .catalogs import read_catalogs
from .descriptions import read_descriptions
from .dictionary import read_dictionary
from .help_pages import read_help
from .html_docs import HANDBOOKS, read_handbooks
from .man_pages import read_man
from .pair import Pair
from .split import Sizes


class Tier(NamedTuple):
    packages: List[str]
    sources: List[str]
    sizes: Sizes


SMALL = ["trans-de-en", "libreoffice-help-de", "libreoffice-help-en-us"]
# The translated manual pages, and the packages that have the English ones.
MANUALS = """manpages-de manpages-de-dev manpages manpages-dev apt apt-utils bsdextrautils bsdutils coreutils debconf
debhelper devscripts diffutils dpkg dpkg-dev e2fsprogs fdisk findutils grep gzip less login mount passwd procps psmisc
sed systemd systemd-sysv tar util-linux wget""".split()
BOOKS = sorted({name for book in HANDBOOKS for name in (book.package, book.german_package)})

TIERS = {
    "S": Tier(packages=SMALL, sources=["lohelp", "ddtp", "ding-sent"],
              sizes=Sizes(train_length=(4, 30), held_length=(4, 30), train=20000, valid=350, test=500)),
    "M": Tier(packages=SMALL + MANUALS + BOOKS + ["libreoffice-l10n-de"],
              sources=["lohelp", "ddtp", "ding-sent", "ding-phrase", "man", "htmldocs", "mo"],
              sizes=Sizes(train_length=(1, 100), held_length=(4, 60), train=0, valid=350, test=500)),
}


def read_tier(tier: Tier, root: Path, descriptions: Dict[str, str], read: Counter) -> Iterator[Pair]:
    """Every pair of the tier's packages, unpacked under root/NAME, source by source; `read` counts them."""
    roots = [root / name for name in tier.packages]
    readers = {
        "lohelp": lambda: read_help(root / "libreoffice-help-en-us", root / "libreoffice-help-de"),
        "ddtp": lambda: read_descriptions(descriptions),
        "ding-sent": lambda: read_dictionary(root / "trans-de-en", ["ding-sent"]),
        "ding-phrase": lambda: read_dictionary(root / "trans-de-en", ["ding-phrase"]),
        "man": lambda: read_man(roots),
        "htmldocs": lambda: read_handbooks(root),
        "mo": lambda: read_catalogs(roots),
    }
    for source in tier.sources:
        for pair in readers[source]():
            read[pair.source] += 1
            yield pair

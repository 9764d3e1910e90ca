"""What each tier is made of: packages, readers and sizes."""

from collections import Counter
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple

from .descriptions import read_descriptions
from .dictionary import read_dictionary
from .help_pages import read_help
from .pair import Pair
from .split import Sizes


class Tier(NamedTuple):
    packages: List[str]
    sizes: Sizes


TIERS = {
    "S": Tier(packages=["trans-de-en", "libreoffice-help-de", "libreoffice-help-en-us"],
              sizes=Sizes(shortest=4, longest=30, train=20000, valid=350, test=500)),
}


def read_all(root: Path, descriptions: Dict[str, str], read: Counter) -> Iterator[Pair]:
    """Every pair of the unpacked packages under root/NAME, source by source; `read` counts them."""
    sources = (read_help(root / "libreoffice-help-en-us", root / "libreoffice-help-de"),
               read_descriptions(descriptions),
               read_dictionary(root / "trans-de-en"))
    for source in sources:
        for pair in source:
            read[pair.source] += 1
            yield pair

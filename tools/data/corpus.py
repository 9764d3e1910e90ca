#!/usr/bin/env python3
"""Builds a real English-German corpus from the distribution's packages. See docs/data.md."""

import argparse
import hashlib
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Dict

from parallel.clean import clean, tokens
from parallel.fetch import Fetcher, say, unpack
from parallel.output import check_target, is_complete, write_corpus
from parallel.pair import ToolError
from parallel.split import DOMAINS, Parts, split
from parallel.tiers import TIERS, read_tier


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Builds an English-German corpus from Debian's (or Ubuntu's) packages: office help, package "
                    "descriptions, a dictionary, manual pages. Needs apt and the network, not root; "
                    "installs nothing.")
    parser.add_argument("--tier", choices=sorted(TIERS), default="S", help="S: office help, package descriptions, dictionary sentences; M: all of them, with manual pages, "
                             "handbooks, message catalogs and dictionary phrases (default: S)")
    parser.add_argument("--out", type=Path, default=Path("data/small"), help="folder to make (default: data/small)")
    parser.add_argument("--cache", type=Path, default=Path(".cache/corpus"),
                        help="where downloads are kept (default: .cache/corpus)")
    parser.add_argument("--refresh", action="store_true", help="download again what the cache has")
    parser.add_argument("--force", action="store_true", help="build again although the folder is there")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that temporary folders go
    if is_complete(arguments.out) and not arguments.force:
        say(f"{arguments.out}: already there (--force builds it again)")
        return 0
    try:
        build(arguments)
    except (ToolError, OSError) as error:
        say(f"corpus.py: {error}")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def build(arguments: argparse.Namespace) -> None:
    check_target(arguments.out)
    tier = TIERS[arguments.tier]
    fetcher = Fetcher(arguments.cache, arguments.refresh)
    packages = fetcher.packages(tier.packages)
    descriptions = fetcher.descriptions()
    read, drops = Counter(), Counter()
    with tempfile.TemporaryDirectory(prefix="unpacked.", dir=arguments.cache) as folder:
        unpack(packages, Path(folder))
        say("reading, cleaning and splitting (tier S: half a minute; M: three)")
        parts = split(clean(read_tier(tier, Path(folder), descriptions, read), drops), tier.sizes, drops)
    record = {
        "tier": arguments.tier,
        "packages": [{"name": p.name, "version": p.version, "bytes": p.bytes, "sha256": p.sha256} for p in packages],
        "descriptions": {language: describe_text(text) for language, text in sorted(descriptions.items())},
        "sources": {source: count_source(source, read, drops, parts) for source in sorted(read)},
        "parts": {name: count_part(pairs) for name, pairs in parts._asdict().items()},
    }
    write_corpus(arguments.out, parts._asdict(), DOMAINS, record)
    report(record, arguments.out)


def describe_text(text: str) -> Dict:
    content = text.encode("utf-8")
    return {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def count_source(source: str, read: Counter, drops: Counter, parts: Parts) -> Dict:
    return {"domain": DOMAINS[source], "read": read[source],
            "dropped": {reason: count for (name, reason), count in sorted(drops.items()) if name == source},
            **{name: sum(pair.source == source for pair in pairs) for name, pairs in parts._asdict().items()}}


def count_part(pairs) -> Dict:
    return {"pairs": len(pairs), "en_tokens": sum(len(tokens(pair.en)) for pair in pairs),
            "de_tokens": sum(len(tokens(pair.de)) for pair in pairs)}


def report(record: Dict, out: Path) -> None:
    for source, counts in record["sources"].items():
        say(f"{source} ({counts['domain']}): read {counts['read']}, train {counts['train']}, valid {counts['valid']}, "
            f"test {counts['test']}")
        for reason, count in counts["dropped"].items():
            say(f"    dropped {count:7d}  {reason}")
    for name, counts in record["parts"].items():
        pairs = max(counts["pairs"], 1)
        print(f"{out}/{name}: {counts['pairs']} pairs, tokens per pair {counts['en_tokens'] / pairs:.1f} en, "
              f"{counts['de_tokens'] / pairs:.1f} de")


if __name__ == "__main__":
    sys.exit(main())

"""Packages and package descriptions from apt's own configured sources, kept in a private cache.

Nothing is installed and the machine's own package lists are not touched: apt runs with its state inside the cache
folder, so any user can do this. What is in the cache is used again, without the network, until `refresh`.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, List, NamedTuple

from .pair import ToolError

APT_HELPER = "/usr/lib/apt/apt-helper"
NAME = re.compile(r"[a-z0-9][a-z0-9+.-]*")
LANGUAGES = ("de", "en")
LISTS_DONE = "lists.complete"  # written when `apt-get update` has come to its end


class Package(NamedTuple):
    name: str
    version: str
    bytes: int
    sha256: str
    path: Path


class Fetcher:
    def __init__(self, cache: Path, refresh: bool = False):
        require_apt()
        self.cache = cache.absolute()
        self.lists = self.cache / "lists"
        self.debs = self.cache / "debs"
        for folder in (self.lists / "partial", self.cache / "apt" / "archives" / "partial", self.debs):
            folder.mkdir(parents=True, exist_ok=True)
        if refresh:
            (self.cache / LISTS_DONE).unlink(missing_ok=True)
            shutil.rmtree(self.debs)
            self.debs.mkdir()

    def packages(self, names: List[str]) -> List[Package]:
        """The named packages' files, downloaded where the cache lacks them."""
        lacking = [name for name in names if not self.find_deb(name)]
        if lacking:
            self.download(lacking)
        return [describe(self.find_deb(name)[-1]) for name in names]

    def descriptions(self) -> Dict[str, str]:
        """The text of the package descriptions by language, all configured suites one after another."""
        if not (self.cache / LISTS_DONE).exists():
            self.update()
        texts = {language: "\n".join(read_list(path) for path in self.description_files(language))
                 for language in LANGUAGES}
        for language, text in texts.items():
            if not text:
                raise ToolError(f"apt has no package descriptions in '{language}'; expected a file "
                                f"*_i18n_Translation-{language} in {self.lists}; do the configured sources carry them?")
        return texts

    def description_files(self, language: str) -> List[Path]:
        return sorted(path for path in self.lists.glob(f"*_i18n_Translation-{language}*")
                      if path.name.split("_i18n_Translation-")[1].split(".")[0] == language)

    def find_deb(self, name: str) -> List[Path]:
        return sorted(self.debs.glob(f"{name}_*.deb"))

    def update(self) -> None:
        say("asking apt for its package lists (about 18 MB)")
        # Languages are asked for here because images often switch them off.
        self.apt(["-o", "Acquire::Languages=" + ",".join(LANGUAGES), "update"])
        (self.cache / LISTS_DONE).touch()

    def download(self, names: List[str]) -> None:
        fresh = not (self.cache / LISTS_DONE).exists()
        if fresh:
            self.update()
        say(f"downloading {len(names)} packages: {' '.join(names)}")
        try:
            self.download_into_cache(names)
        except ToolError:
            if fresh:
                raise
            self.update()  # the lists may be older than what the mirror still holds
            self.download_into_cache(names)

    def download_into_cache(self, names: List[str]) -> None:
        with tempfile.TemporaryDirectory(dir=self.cache) as folder:
            self.apt(["download", *names], Path(folder))
            for deb in sorted(Path(folder).glob("*.deb")):
                os.replace(deb, self.debs / deb.name)

    def apt(self, arguments: List[str], folder: Path = Path(".")) -> None:
        command = ["apt-get", "-q", "-o", f"Dir::State::lists={self.lists}", "-o", f"Dir::Cache={self.cache / 'apt'}"]
        if os.geteuid() == 0:
            command += ["-o", "APT::Sandbox::User=root"]  # the sandbox's own user may not write into our folder
        run(command + arguments, folder)


def require_apt() -> None:
    lacking = [tool for tool in ("apt-get", "dpkg-deb", APT_HELPER) if not shutil.which(tool)]
    if lacking:
        raise ToolError(f"this corpus comes from Debian's or Ubuntu's packages: apt is needed, and {lacking[0]} is not "
                        "here; run the tool on such a machine (or in a container) and copy the finished folder")


def read_list(path: Path) -> str:
    """An apt list as text, whatever it is stored as (plain, lz4, gz, ...)."""
    return run([APT_HELPER, "cat-file", str(path)]).decode("utf-8", "replace")


def describe(deb: Path) -> Package:
    fields = run(["dpkg-deb", "-f", str(deb), "Package", "Version"]).decode()
    values = dict(line.split(": ", 1) for line in fields.splitlines())
    if not NAME.fullmatch(values.get("Package", "")):  # it will name a folder
        raise ToolError(f"{deb}: expected a package with a name that Debian allows; its is {values.get('Package', '')!r}")
    content = deb.read_bytes()
    return Package(values["Package"], values["Version"], len(content), hashlib.sha256(content).hexdigest(), deb)


def unpack(packages: List[Package], folder: Path) -> None:
    """Each package's files under folder/NAME."""
    for package in packages:
        run(["dpkg-deb", "-x", str(package.path), str(folder / package.name)])


def run(command: List[str], folder: Path = Path(".")) -> bytes:
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 0:
        words = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
        raise ToolError(f"{command[0]} {command[-1]} failed (exit {done.returncode}): {' | '.join(words[:3])}")
    return done.stdout


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)

"""What numbers depend on beside texts and options: packages, models, taggers, files."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from gnomon.errors import GnomonError
from gnomon.signature import content_hash
from gnomon.study._stamps import stamp_of, stamp_of_file

if TYPE_CHECKING:
    from gnomon.study._stamps import Stamp

__all__ = ["IN_FILES", "Need", "differing", "identity", "place_of"]

#: kinds of what lies in files
IN_FILES = ("file", "model", "wordnet")
#: the files of WordNet that METEOR reads
_WORDNET = re.compile(r"(index|data)\.(noun|verb|adj|adv)|(noun|verb|adj|adv)\.exc")
_NOTHING = "none"


class Need(NamedTuple):
    """Something that a number depends on.

    Attributes:
        kind: "package", "model", "tagger" (``spacy:NAME``, or a language, whose standard one is
            meant), "wordnet" (a folder, or "" for the one that is found), "code" (a spec that
            names a function), or "file".
        name: which one.
        revision: of a model on the hub.
    """

    kind: Literal["package", "model", "tagger", "wordnet", "code", "file"]
    name: str
    revision: str = ""

    @property
    def label(self) -> str:
        """What to call it in a table."""
        name = Path(self.name).name if self.kind in ("file", "wordnet") else self.name
        return f"{self.kind} {name}".strip()


def identity(need: Need) -> str:
    """Version, revision or hash, as it is here; "none" where it is not here."""
    if need.kind in IN_FILES:
        place = place_of(need)
        state = stamp_of_file if need.kind == "file" else stamp_of
        return _of_files(need, state(str(place))) if place else _NOTHING
    return _plain(need)


def place_of(need: Need) -> Path | None:
    """The file, or the folder of the model or of WordNet; None where it is not here."""
    if need.kind == "file":
        file = Path(need.name)
        return file if file.is_file() else None
    try:
        return _wordnet(need) if need.kind == "wordnet" else _model(need)[0]
    except (GnomonError, OSError):
        return None


def differing(needs: dict[Need, str]) -> list[str]:
    """What is another one here, in words.

    Args:
        needs: what is needed, with its identity elsewhere.
    """
    return [
        f"has {need.label} {here}, and the study was planned with {there}"
        for need, there in needs.items()
        if (here := identity(need)) != there
    ]


@lru_cache(maxsize=256)
def _of_files(need: Need, _stamp: Stamp) -> str:
    if need.kind == "file":
        return content_hash(Path(need.name).read_bytes())
    if need.kind == "wordnet":
        files = sorted(one for one in _wordnet(need).iterdir() if _WORDNET.fullmatch(one.name))
        return content_hash(*(part for one in files for part in (one.name, one.read_bytes())))
    return _model(need)[1]


def _wordnet(need: Need) -> Path:
    from gnomon.metrics._wordnet import find_wordnet

    return find_wordnet(need.name or None).folder


def _model(need: Need) -> tuple[Path, str]:
    from gnomon.models import find_model

    found = find_model(need.name, need.revision or None)
    return found.path, found.identity


@lru_cache(maxsize=256)
def _plain(need: Need) -> str:
    try:
        if need.kind == "package":
            return installed(need.name)
        if need.kind == "code":
            return _code(need.name)
        from gnomon.annotate._protocol import find, for_language

        return (find if ":" in need.name else for_language)(need.name).signature
    except (GnomonError, PackageNotFoundError):
        return _NOTHING


def _code(spec: str) -> str:
    from gnomon.metrics import parse
    from gnomon.metrics._builtin import CODE
    from gnomon.metrics._reader import read_spec
    from gnomon.study._code import code_identity

    given = read_spec(spec)
    if given.name == CODE:
        return code_identity(str(given.first))
    return content_hash(repr(getattr(parse(spec, allow_code=True), "fields", ())))

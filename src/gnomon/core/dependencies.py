"""Dependencies of a number beside texts and options: packages, models, taggers, files, code."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

__all__ = ["Dependency"]


class Dependency(NamedTuple):
    """Something that a number depends on."""

    # "package", "model", "tagger" (`spacy:NAME`, or a language, whose standard one is meant),
    # "wordnet" (a folder, or "" for the one that is found), "code" (a spec that names a function),
    # or "file"
    kind: Literal["package", "model", "tagger", "wordnet", "code", "file"]
    name: str  # which one
    revision: str = ""  # of a model on the hub

    @property
    def label(self) -> str:
        """Its name in a table."""
        name = Path(self.name).name if self.kind in ("file", "wordnet") else self.name
        return f"{self.kind} {name}".strip()

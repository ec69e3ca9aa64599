"""Sketches of test sets that are remembered: unchanged files are not read again.

Files count as unchanged where path, size, time of change and inode are the same; where any of them
differs the content decides.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from gnomon.signature import content_hash, version
from gnomon.study._needs import Need, identity, place_of
from gnomon.study._sources import Sketch, read_set
from gnomon.study._stamps import stamp_of, stamp_of_file

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon.study._config import SetSource

__all__ = ["Sketches"]

#: changes of a file within the tick of a clock cannot be seen: younger files are read again
_YOUNG = 3.0
_FORM = "sketch-1"


@dataclass
class Sketches:
    """Sketches by what was read, each with the stamp of its files.

    Attributes:
        known: as a store keeps them.
        fresh: those that are not kept yet.
        seen: identities of this plan.
    """

    known: Mapping[str, object] = field(default_factory=dict)
    fresh: dict[str, object] = field(default_factory=dict)
    seen: dict[Need, str] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path) -> Sketches:
        """What a store remembers; nothing where the file is missing or damaged."""
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return cls()
        return cls(found if isinstance(found, dict) else {})

    def sketch(self, source: SetSource) -> Sketch:
        """The sketch of a test set, from memory where its files are unchanged.

        Raises:
            DataError: the test set cannot be read.
        """
        key = content_hash(_FORM, version(), json.dumps(asdict(source), sort_keys=True))
        stamp = stamp_of(source.path, *source.paraphrases)
        entry = self.known.get(key)
        if isinstance(entry, Mapping) and entry.get("stamp") == stamp.hash != "":
            try:
                return Sketch.of_record(entry["sketch"])
            except (KeyError, TypeError):
                pass  # damaged: the content decides
        found = read_set(source).sketch
        same = stamp == stamp_of(source.path, *source.paraphrases)
        if stamp.hash and same and stamp.newest < time.time() - _YOUNG:
            self.fresh[key] = {"stamp": stamp.hash, "sketch": found.record()}
        return found

    def identity(self, need: Need) -> str:
        """Version or hash of something that numbers depend on; large files are remembered."""
        place = place_of(need) if need.kind in ("file", "model") else None
        if place is None:
            return self.seen.setdefault(need, identity(need))
        if need not in self.seen:
            self.seen[need] = self._of_files(need, str(place))
        return self.seen[need]

    def _of_files(self, need: Need, place: str) -> str:
        key = content_hash(_FORM, version(), *need)
        state = stamp_of_file if need.kind == "file" else stamp_of
        stamp = state(place)
        entry = self.known.get(key)
        if isinstance(entry, Mapping) and entry.get("stamp") == stamp.hash != "":
            return str(entry.get("identity"))
        found = identity(need)
        if stamp.hash and stamp == state(place) and stamp.newest < time.time() - _YOUNG:
            self.fresh[key] = {"stamp": stamp.hash, "identity": found}
        return found

    def merged(self) -> dict[str, object]:
        """All of them, for keeping."""
        return {**self.known, **self.fresh}

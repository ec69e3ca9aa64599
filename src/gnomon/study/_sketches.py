"""Sketches of test sets that are remembered: unchanged files are not read again.

Where only outputs of some systems changed, these are read, and the others are remembered. Files
count as unchanged where path, size, time of change and inode are the same; where any of them
differs the content decides.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from gnomon.errors import DataError
from gnomon.signature import content_hash, version
from gnomon.study._folder import json_of
from gnomon.study._needs import IN_FILES, Need, identity, place_of
from gnomon.study._sources import Sketch, read_set, taken
from gnomon.study._stamps import stamp_of, stamp_of_file

if TYPE_CHECKING:
    from pathlib import Path

    from gnomon.study._study import SetSource

__all__ = ["Sketches"]

#: changes of a file within the tick of a clock cannot be seen: younger files are read again
_YOUNG = 3.0
_FORM = "sketch-3"


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
            return cls(json_of(file))
        except DataError:
            return cls()

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
        parts = _parts(source)
        found = _amended(source, entry, parts) or read_set(source).sketch
        same = stamp == stamp_of(source.path, *source.paraphrases)
        if stamp.hash and same and stamp.newest < time.time() - _YOUNG:
            said = {"rest": parts.rest, "outputs": dict(parts.outputs)} if parts else {}
            self.fresh[key] = {"stamp": stamp.hash, "sketch": found.record(), **said}
        return found

    def identity(self, need: Need) -> str:
        """Version or hash of something that numbers depend on; large files are remembered."""
        if need not in self.seen:
            place = place_of(need) if need.kind in IN_FILES else None
            found = identity(need) if place is None else self._of_files(need, str(place))
            self.seen[need] = found
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

    def without(self, testset: str) -> dict[str, object]:
        """All of them but those of a test set, for keeping."""
        return {key: one for key, one in self.merged().items() if _name(one) != testset}

    def merged(self) -> dict[str, object]:
        """All of them, for keeping."""
        return {**self.known, **self.fresh}


def _name(entry: object) -> object:
    """The test set that is remembered, if it is one."""
    sketch = entry.get("sketch") if isinstance(entry, Mapping) else None
    return sketch.get("name") if isinstance(sketch, Mapping) else None


class _Parts(NamedTuple):
    """Stamps of the systems' outputs, by name, and of all other files."""

    rest: str
    outputs: Mapping[str, str]


def _parts(source: SetSource) -> _Parts | None:
    """None where outputs have no files of their own, or references may speak of systems."""
    if source.paraphrases:
        return None
    from gnomon.formats import output_files

    files = output_files(source.path, language_pair=source.language_pair)
    if not files:
        return None
    rest = stamp_of(source.path, without={str(file) for file in files.values()})
    outputs = {name: stamp_of_file(str(file)).hash for name, file in files.items()}
    return _Parts(rest.hash, outputs) if rest.hash else None


def _amended(source: SetSource, entry: object, parts: _Parts | None) -> Sketch | None:
    """What is remembered, with those systems read again whose files changed; None for more."""
    if parts is None or not isinstance(entry, Mapping) or entry.get("rest") != parts.rest:
        return None
    try:
        known, stamps = Sketch.of_record(entry["sketch"]), dict(entry["outputs"])
    except (KeyError, TypeError, ValueError):
        return None  # damaged: the content decides
    names = taken(source, parts.outputs)
    changed = [name for name in names if stamps.get(name) != parts.outputs[name]]
    if 2 * len(changed) > len(names):
        return None  # all may as well be read
    part = read_set(source, only=tuple(changed or names[:1])).sketch
    if replace(part, systems={}) != replace(known, systems={}):
        return None
    digests = {**known.systems, **part.systems}
    if any(name not in digests for name in names):
        return None
    outline = known.outline and replace(known.outline, systems=tuple(names))
    return replace(known, systems={name: digests[name] for name in names}, outline=outline)

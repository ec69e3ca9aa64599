"""Folder of fetched test sets: its path, its sets and their origin."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gnomon.core.errors import FormatError
from gnomon.core.human import marked_kinds
from gnomon.core.signature import version
from gnomon.data.formats import atomic_write, read_test_set, write_test_set

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.core.testset import TestSet


# Test sets that were fetched or converted: what they hold, and how to go on.


ORIGIN = "origin.json"


@dataclass(frozen=True)
class WrittenSet:
    """A test set on disk.

    Attributes:
        name: of the set ("wmt22").
        path: what to give to ``-t`` or :meth:`gnomon.TestSet.read`.
        language_pair: "de-en", if known.
        segments: their number.
        references: names.
        systems: names.
        human: kinds of human scores, rankings and error spans.
        usual: the references that the publisher scores against, if not all.
        new: False if it was there already.
    """

    name: str
    path: Path
    language_pair: str | None
    segments: int
    references: tuple[str, ...]
    systems: tuple[str, ...]
    human: tuple[str, ...] = ()
    usual: tuple[str, ...] = ()
    new: bool = True

    @property
    def next(self) -> str:
        """The command to go on with."""
        quoted = shlex.quote(str(self.path))
        if not self.references:
            return f"gnomon info -t {quoted}"
        chosen = " ".join(map(shlex.quote, self.usual))
        only = f" --references {chosen}" if self.usual else ""
        mine = "" if self.systems else " -i OUTPUT.txt"
        return f"gnomon score -t {quoted}{only}{mine} -m bleu chrf"


def describe_folder(
    testset: TestSet, path: Path, *, usual: Sequence[str] = (), new: bool = True
) -> WrittenSet:
    """Describe the test set in a folder."""
    kinds = [human.kind for human in testset.human]
    kinds += [ranking.kind for ranking in testset.rankings]
    kinds += marked_kinds(testset)
    return WrittenSet(
        name=testset.name,
        path=path,
        language_pair=testset.language_pair,
        segments=testset.segments,
        references=tuple(testset.references),
        systems=tuple(testset.systems),
        human=tuple(dict.fromkeys(kinds)),
        usual=tuple(usual),
        new=new,
    )


def write_set(
    testset: TestSet,
    folder: Path,
    origin: Mapping[str, object],
    *,
    layout: str = "gnomon",
    compress: bool = False,
    usual: Sequence[str] = (),
) -> WrittenSet:
    """Write a test set as a new folder, with a note of where it comes from."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    write_test_set(testset, folder, layout=layout, compress=compress)
    write_origin(folder, {**origin, "usual_references": list(usual)})
    return describe_folder(testset, folder, usual=usual)


def describe_set(folder: Path) -> WrittenSet:
    """Describe the set that was written into a folder earlier."""
    usual = origin_of(folder).get("usual_references")
    names = [str(name) for name in usual] if isinstance(usual, list) else []
    return describe_folder(read_test_set(folder), folder, usual=names, new=False)


def sets_here(folder: Path) -> list[WrittenSet]:
    """The sets that were written to a folder, ``NAME/PAIR`` inside it included."""
    places = (ORIGIN, f"*/{ORIGIN}", f"*/*/{ORIGIN}")
    notes = [note for pattern in places for note in folder.glob(pattern)]
    return [describe_set(note.parent) for note in sorted(notes)]


def write_origin(folder: Path, origin: Mapping[str, object]) -> None:
    """Note beside the data where they come from."""
    content = {key: value for key, value in origin.items() if value not in (None, [], "")}
    with atomic_write(folder / ORIGIN) as file:
        content["gnomon"] = version()
        file.write(json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def origin_of(folder: Path) -> dict[str, object]:
    """The noted origin; empty where no set was written."""
    file = folder / ORIGIN
    if not file.is_file():
        return {}
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise FormatError(
            f"is not JSON ({error}); delete the folder to fetch anew", path=file
        ) from error
    return content if isinstance(content, dict) else {}


# Where fetched sets lie.


def default_path() -> Path:
    """The folder named by ``GNOMON_DATA``, else one among the user's data."""
    given = os.environ.get("GNOMON_DATA")
    if given:
        return Path(given).expanduser()
    import platformdirs

    return platformdirs.user_data_path("gnomon") / "sets"

"""Which segment a judgement is of, by its number and by its texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnomon.errors import FormatError
from gnomon.formats._files import LOGGER
from gnomon.formats._marked import solid
from gnomon.formats._tsv import whole_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gnomon.testset import TestSet


class Places:
    """The segments of a test set, found by number or by text.

    A number whose text is another one's is not trusted: the text decides.
    """

    def __init__(self, testset: TestSet, path: str) -> None:
        self._testset = testset
        self._path = path
        self._by_source = _index(testset.sources or ())
        self._by_target = {name: _index(texts) for name, texts in testset.systems.items()}
        self._kept: dict[object, int] = {}
        self.by_text = 0
        self.guessed = 0

    def of(
        self, number: int | None, source: str | None, targets: Mapping[str, str], line: int
    ) -> int:
        """The 0-based segment.

        Args:
            number: the 0-based number that the file gives, if any.
            source: the source that was judged, if the file has it.
            targets: outputs that were judged, by the test set's names of their systems.
            line: where this stands in the file.

        Raises:
            FormatError: neither number nor texts lead to a segment.
        """
        key = (number, source) if self._testset.sources else (number, tuple(targets.items()))
        if key not in self._kept:
            self._kept[key] = self._find(number, source, targets, line)
        return self._kept[key]

    def _find(
        self, number: int | None, source: str | None, targets: Mapping[str, str], line: int
    ) -> int:
        if number is not None and self._agrees(number, source, targets):
            return number
        places = self._by_texts(source, targets)
        if not places:
            raise self._unknown(number, source, line)
        self.by_text += number is not None
        self.guessed += len(places) > 1
        return places[0]

    def _agrees(self, number: int, source: str | None, targets: Mapping[str, str]) -> bool:
        if not 0 <= number < self._testset.segments:
            return False
        sources = self._testset.sources
        if sources is not None and source is not None:
            return solid(sources[number]) == solid(source)
        known = self._known(targets)
        if not known:
            return True
        texts = self._testset.systems
        return any(solid(texts[name][number]) == solid(t) for name, t in known.items())

    def _by_texts(self, source: str | None, targets: Mapping[str, str]) -> list[int]:
        """Segments with this source, and among several those with these outputs."""
        found = self._by_source.get(solid(source or ""), [])
        for system, text in self._known(targets).items():
            same = self._by_target[system].get(solid(text), [])
            if not found:
                found = same
            elif len(found) > 1:
                found = [place for place in found if place in same] or found
        return found

    def _known(self, targets: Mapping[str, str]) -> dict[str, str]:
        return {s: text for s, text in targets.items() if s in self._testset.systems}

    def _unknown(self, number: int | None, source: str | None, line: int) -> FormatError:
        count = self._testset.segments
        given = "" if number is None else f" and is said to be segment {number + 1} of {count}"
        text = "its texts are" if source is None else f"its source {source[:60]!r} is"
        return FormatError(
            f"this judgement is of no segment of the test set: {text} not found there{given};"
            " check that file and test set belong together",
            path=self._path,
            line=line,
        )

    def report(self) -> None:
        """Say what was placed by its text only."""
        if self.by_text:
            LOGGER.warning(
                "%s: %d segment numbers are not the test set's; placed by their texts",
                self._path,
                self.by_text,
            )
        if self.guessed:
            LOGGER.warning(
                "%s: %d segments occur several times in the test set; the first is taken",
                self._path,
                self.guessed,
            )


def placed(number: str, first: int) -> int | None:
    """The 0-based segment that a number means; None if it is no number."""
    return None if whole_number(number) < 0 else whole_number(number) - first


def _index(texts: Sequence[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        found.setdefault(solid(text), []).append(place)
    return found

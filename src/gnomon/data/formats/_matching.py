"""Matching of a judgement file's systems, segments and language pair with a test set's."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from gnomon.core.errors import DataError, FormatError, UnknownNameError
from gnomon.core.languages import short_codes
from gnomon.core.scores import list_names
from gnomon.data.formats._files import LOGGER, is_pair
from gnomon.data.formats.error_marks import remove_whitespace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from gnomon.core.testset import TestSet

# newstest2016.uedin-nmt.4361.cs-en, wmt23.refA
_DECORATION = re.compile(r"(?:newstest\d{4}|wmt\d\d)\.(?P<name>.+?)(?:\.[a-z]{2,3}-[a-z]{2,3})?")


class SystemNames:
    """The systems that a file may name, and those it does.

    A name that the test set does not know is kept (people may judge a system whose text is not at
    hand) and counted; a file of which no name is known is refused.
    """

    def __init__(
        self,
        testset: TestSet,
        rename: Mapping[str, str] | None = None,
        others: Iterable[str] = (),
    ) -> None:
        self._rename = dict(rename or {})
        judged = (name for human in testset.human for name in human.systems)
        names = [*testset.systems, *judged, *others]
        self.known = tuple(dict.fromkeys(names))
        self.strangers: Counter[str] = Counter()
        self.found: dict[str, None] = {}
        for name in self._rename.values():
            if name not in self.known:
                raise UnknownNameError("system (in rename)", name, self.known)

    def match(self, name: str) -> str:
        """The test set's name of a system."""
        return self.match_all(name)[0]

    def plain(self, name: str) -> str:
        """The test set's name of a system that the file mentions without judging it."""
        return self._undecorate(self._rename.get(name, name))

    def match_all(self, name: str) -> list[str]:
        """The systems that a name stands for: ``A+B`` are two systems of the same output."""
        name = self._rename.get(name, name)
        plain = self._undecorate(name)
        if plain not in self.known and "+" in plain:
            parts = [self._undecorate(self._rename.get(p, p)) for p in plain.split("+")]
            if any(single in self.known for single in parts):
                return [self._note(single) for single in parts]
        return [self._note(plain if plain in self.known else name)]

    def _undecorate(self, name: str) -> str:
        match = _DECORATION.fullmatch(name)
        plain = match["name"] if match else name
        return plain if name not in self.known and plain in self.known else name

    def _note(self, name: str) -> str:
        if name in self.known:
            self.found[name] = None
        else:
            self.strangers[name] += 1
        return name

    def order(self, names: Iterable[str]) -> tuple[str, ...]:
        """Names in the order of the test set, strangers behind."""
        there = dict.fromkeys(names)
        return tuple(
            [name for name in self.known if name in there]
            + [name for name in there if name not in self.known]
        )

    def report(self, path: str) -> None:
        """Log which systems have no text, and which have no judgement."""
        if self.strangers and not self.found and self.known:
            first = next(iter(self.strangers))
            raise DataError(
                f"{path}: none of its systems is in the test set;"
                f" {UnknownNameError('system', first, self.known)}; if they are called otherwise"
                " here, pass rename={name in the file: name in the test set}",
                path=path,
            )
        if self.strangers:
            LOGGER.warning(
                "%s: %d judged system(s) without a text in the test set, kept: %s",
                path,
                len(self.strangers),
                list_names(list(self.strangers)),
            )
        silent = [name for name in self.known if name not in self.found]
        if silent:
            LOGGER.info("%s: no judgement of: %s", path, list_names(silent))


# Segments, by their numbers and by their texts.


class SegmentFinder:
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

    def find(
        self, number: int | None, source: str | None, targets: Mapping[str, str], line: int
    ) -> int:
        """The 0-based segment."""
        key = (number, source) if self._testset.sources else (number, tuple(targets.items()))
        if key not in self._kept:
            self._kept[key] = self._find(number, source, targets, line)
        return self._kept[key]

    def _find(
        self, number: int | None, source: str | None, targets: Mapping[str, str], line: int
    ) -> int:
        if number is not None and self._agrees(number, source, targets):
            return number
        places = self._match_texts(source, targets)
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
            return remove_whitespace(sources[number]) == remove_whitespace(source)
        outputs = self._targets_of_systems(targets)
        if not outputs:
            return True
        texts = self._testset.systems
        return any(
            remove_whitespace(texts[name][number]) == remove_whitespace(t)
            for name, t in outputs.items()
        )

    def _match_texts(self, source: str | None, targets: Mapping[str, str]) -> list[int]:
        """Segments with this source, and among several those with these outputs."""
        segments = self._by_source.get(remove_whitespace(source or ""), [])
        for system, text in self._targets_of_systems(targets).items():
            same = self._by_target[system].get(remove_whitespace(text), [])
            if not segments:
                segments = same
            elif len(segments) > 1:
                segments = [segment for segment in segments if segment in same] or segments
        return segments

    def _targets_of_systems(self, targets: Mapping[str, str]) -> dict[str, str]:
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
        """Log how many segments were found by their texts only."""
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


def _index(texts: Sequence[str]) -> dict[str, list[int]]:
    segments: dict[str, list[int]] = {}
    for segment, text in enumerate(texts):
        segments.setdefault(remove_whitespace(text), []).append(segment)
    return segments


# Language pairs as files name them.


def pair(source: str, target: str) -> str:
    """A language pair from two codes, of two letters where these are known.

    >>> pair("cze", "eng")
    'cs-en'
    """
    short = short_codes()
    return f"{short.get(source, source)}-{short.get(target, target)}"


def long_code(language: str) -> str:
    """The code of three letters that annotation campaigns write, where it is known.

    >>> long_code("cs"), long_code("zh_TW"), long_code("tlh")
    ('ces', 'zho', 'tlh')
    """
    code = language.partition("_")[0]
    return next((long for long, short in short_codes().items() if short == code), code)


def same_pair(there: str, wanted: str) -> bool:
    """True if two pairs are the same, regions apart where only one has them."""
    short = [[code.split("_")[0] for code in name.split("-")] for name in (there, wanted)]
    bare = "_" not in there or "_" not in wanted
    return there == wanted or (bare and short[0] == short[1])


_GLUED = re.compile(r"([a-z]{2})([a-z]{2})\.df\.short", re.DOTALL)
_HEADED = re.compile(r"([a-z]{2}-[a-z]{2})(?:-(?:train|dev|test).*)?", re.DOTALL)


def pair_of(path: Path) -> str | None:
    """The language pair that a file's name tells, or that of its folder.

    >>> from pathlib import Path
    >>> pair_of(Path("data/dev.eten.df.short.tsv")), pair_of(Path("et-en-dev/dev.src"))
    ('et-en', 'et-en')
    """
    glued = _GLUED.search(path.name)
    if glued:
        return f"{glued[1]}-{glued[2]}"
    for name in (path.name, path.absolute().parent.name):
        headed = (_HEADED.fullmatch(word) for word in name.split("."))
        pairs = [match[1] for match in headed if match and is_pair(match[1])]
        if pairs:
            return pairs[0]
    return None

"""Write a large test set from a small one, to see how studies grow; with labels of features.

    python scripts/study_corpus.py FOLDER [--from TESTSET] [--systems 25] [--segments 300]
                                   [--features 40] [--seed 0]

Each output is a real one of TESTSET (by default the bundled example) in which some words, a tenth
at least, are others of its vocabulary: as varied as real outputs are, so that nothing that
remembers equal texts gains by them. Segments beyond those of TESTSET repeat them with a reference
that is changed likewise. Every word is a span of one of the features; which one hangs on the word
alone, the first features are frequent and the last ones rare, as parts of speech are.

Writes FOLDER/testset, a test set in gnomon's layout, and FOLDER/labels/NAME.jsonl for the reference
("ref") and each system. The texts are those of TESTSET: keep them under its terms.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import zlib
from collections import Counter
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import gnomon as gn
from gnomon.data import example

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["Vocabulary", "changed", "distinct", "enlarged", "labels", "main", "share_changed"]

_WORD = re.compile(r"\w+")
#: of the words of a text, how many are changed
_LEAST, _MOST = 0.1, 0.25


class Vocabulary(NamedTuple):
    """Words to draw from, as often as they occur.

    Attributes:
        words: the words.
        until: how often they and all before them occur.
    """

    words: list[str]
    until: list[int]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Vocabulary:
        """The words of some texts."""
        counts = Counter(word for text in texts for word in _WORD.findall(text))
        return cls(list(counts), list(accumulate(counts.values())))

    def other_than(self, word: str, rng: random.Random) -> str:
        """A word that is not this one."""
        while True:
            drawn = rng.choices(self.words, cum_weights=self.until)[0]
            if drawn != word:
                return drawn


def changed(text: str, vocabulary: Vocabulary, rng: random.Random) -> str:
    """The text with a tenth to a quarter of its words replaced; without words as it is."""
    places = [match.span() for match in _WORD.finditer(text)]
    if not places:
        return text
    least = math.ceil(_LEAST * len(places))
    count = rng.randint(least, max(least, int(_MOST * len(places))))
    for start, end in sorted(rng.sample(places, count), reverse=True):
        text = text[:start] + vocabulary.other_than(text[start:end], rng) + text[end:]
    return text


def enlarged(
    testset: gn.TestSet, systems: int = 25, segments: int = 300, seed: int = 0
) -> gn.TestSet:
    """A test set of as many systems and segments, made of the texts of a smaller one.

    A system's texts hang on the seed, its number and that of the segment alone: a larger test set
    holds a smaller one.
    """
    reference = [text or "" for text in next(iter(testset.references.values()))]
    vocabulary = Vocabulary.of([*reference, *next(iter(testset.systems.values()))])
    real = list(testset.systems.values())
    names = ["ref", *(f"system-{k:03d}" for k in range(systems))]
    columns = {}
    for k, name in enumerate(names):
        texts = real[(k - 1) % len(real)] if k else reference
        columns[name] = list(_column(texts, vocabulary, k, segments, seed))
    return gn.TestSet.from_lists(
        {name: columns[name] for name in names[1:]},
        columns["ref"],
        language_pair=testset.target_language,
        name=f"enlarged-{systems}x{segments}",
    )


def _column(
    texts: Sequence[str], vocabulary: Vocabulary, system: int, segments: int, seed: int
) -> Iterator[str]:
    for segment in range(segments):
        text = texts[segment % len(texts)]
        if system == 0 and segment < len(texts):
            yield text  # the real reference
            continue
        rng = random.Random(f"{seed}/{system}/{segment}")  # noqa: S311  # draws of texts, no secrets
        yield changed(text, vocabulary, rng)


def labels(texts: Iterable[str], features: int = 40) -> Iterator[str]:
    """A line of JSON for each text: every word is a span of one feature, named ``label:f00``."""
    until = list(accumulate(1 / (rank + 1) for rank in range(features)))
    labels_of: dict[str, str] = {}
    for text in texts:
        spans = [
            {
                "start": match.start(),
                "end": match.end(),
                "label": _label(match[0], until, labels_of),
            }
            for match in _WORD.finditer(text)
        ]
        yield json.dumps({"text": text, "spans": spans}, ensure_ascii=False)


def _label(word: str, until: Sequence[float], known: dict[str, str]) -> str:
    if word not in known:
        position = zlib.crc32(word.lower().encode()) / 2**32 * until[-1]
        known[word] = f"label:f{next(k for k, end in enumerate(until) if position < end):02d}"
    return known[word]


def share_changed(testset: gn.TestSet, origin: gn.TestSet) -> float:
    """The least share of words that an output has changed, over all outputs that have words."""
    real = list(origin.systems.values())
    return min(
        _share(real[k % len(real)][segment % origin.segments], text)
        for k, texts in enumerate(testset.systems.values())
        for segment, text in enumerate(texts)
        if _WORD.search(text)
    )


def _share(before: str, after: str) -> float:
    pairs = list(zip(_WORD.findall(before), _WORD.findall(after), strict=True))
    other = [one for one, now in pairs if one != now]
    return len(other) / len(pairs)


def distinct(testset: gn.TestSet) -> float:
    """The share of outputs that no other output equals."""
    counts = Counter(text for texts in testset.systems.values() for text in texts)
    return sum(count == 1 for count in counts.values()) / counts.total()


def main() -> None:
    """Write the test set and the labels."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--from", dest="origin", type=Path, default=example.path())
    parser.add_argument("--systems", type=int, default=25)
    parser.add_argument("--segments", type=int, default=300)
    parser.add_argument("--features", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    origin = gn.TestSet.read(args.origin)
    made = enlarged(origin, args.systems, args.segments, args.seed)
    (args.folder / "labels").mkdir(parents=True)
    made.write(args.folder / "testset")
    columns = {"ref": next(iter(made.references.values())), **made.systems}
    for name, texts in columns.items():
        lines = labels([text or "" for text in texts], args.features)
        with (args.folder / "labels" / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)


if __name__ == "__main__":
    main()

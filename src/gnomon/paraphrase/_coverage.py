"""Which n-grams of the outputs do paraphrases match that the references did not?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gnomon.errors import LengthMismatchError
from gnomon.faults import refuse
from gnomon.findings import Column, Exhibit, ExhibitText, Finding, Highlight, Listing, Table
from gnomon.paraphrase._constraints import Gram, TokenSpans, grams, words_of
from gnomon.paraphrase._diversity import check_coverage
from gnomon.signature import Signature

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gnomon.findings import Cell
    from gnomon.testset import TestSet

NEW, MISSING = "newly matched", "still missing"
_TITLE = "N-grams of the outputs that references match"
_COLUMNS = (
    Column("n", "n", "count"),
    Column("ngrams", "N-grams", "count", help="of all outputs"),
    Column("original", "Matched before", "count", help="as BLEU clips them"),
    Column("paraphrased", "Matched now", "count"),
    Column("new", "Newly matched", "count"),
    Column("missing", "Still missing", "count"),
    Column("precision", "Share before", "share", 4, "higher"),
    Column("wider", "Share now", "share", 4, "higher"),
)
_GRAM_COLUMNS = (
    Column("n", "n", "count"),
    Column("ngram", "N-gram"),
    Column("count", "Count", "count", help="occurrences in outputs"),
    Column("systems", "Systems", "count"),
    Column("segments", "Segments", "count"),
    Column("segment", "Example", "count", help="a segment where it occurs"),
)
_EXAMPLES = 5


@dataclass
class _Seen:
    """Where an n-gram was newly matched, or missed."""

    count: int = 0
    systems: set[str] = field(default_factory=set)
    places: dict[int, str] = field(default_factory=dict)  # segment -> the first system there

    def add(self, count: int, system: str, segment: int) -> None:
        self.count += count
        self.systems.add(system)
        self.places.setdefault(segment, system)


def coverage(
    original: TestSet,
    paraphrased: TestSet,
    *,
    longest: int = 4,
    most: int = 20,
    tokenizer: str = "13a",
) -> Finding:
    """What paraphrases match, and what they leave (Bawden et al., 2020, table 4).

    Args:
        original: outputs with the original references.
        paraphrased: the same outputs with wider references (``original.with_paraphrases(...)``).
        longest: most tokens of an n-gram.
        most: n-grams listed of each length, the most frequent ones.
        tokenizer: a tokeniser of BLEU; case counts.

    Returns:
        A finding with a row per length, the tables "new" and "missing" of the n-grams themselves,
        and examples of both in context.

    Raises:
        DataError: there are no systems.
        LengthMismatchError: the two are not the same outputs.
        UsageError: ``longest`` is not from 1 to 100.
    """
    refuse(check_coverage(original.outline, longest=longest, most=most, tokenizer=tokenizer))
    if dict(original.systems) != dict(paraphrased.systems):
        raise LengthMismatchError("the two test sets must hold the same outputs")
    words = words_of(_texts(paraphrased, original), tokenizer)
    sums: list[Counter[str]] = [Counter() for _ in range(longest + 1)]
    new: dict[Gram, _Seen] = {}
    missing: dict[Gram, _Seen] = {}
    for i in range(original.segments):
        shared = [
            _most_held(_references(t, i, None), words, longest) for t in (original, paraphrased)
        ]
        for system, texts in original.systems.items():
            before, after = (
                _most_held(_references(t, i, system), words, longest)
                if system in t.system_references
                else held
                for t, held in zip((original, paraphrased), shared, strict=True)
            )
            for gram, count in grams(words[texts[i]].tokens, longest).items():
                old, now = min(count, before[gram]), min(count, after[gram])
                sums[len(gram)].update(ngrams=count, original=old, paraphrased=now)
                if now > old:
                    new.setdefault(gram, _Seen()).add(now - old, system, i)
                if count > now:
                    missing.setdefault(gram, _Seen()).add(count - now, system, i)
    rows = tuple(_row(n, sums[n]) for n in range(1, longest + 1))
    kinds = {NEW: _first(new, longest, most), MISSING: _first(missing, longest, most)}
    tables = [
        Table(name, title, _GRAM_COLUMNS, tuple(_gram_row(g, seen) for g, seen in kinds[title]))
        for name, title in (("new", NEW), ("missing", MISSING))
    ]
    return Finding(
        method="paraphrase coverage",
        title=_TITLE,
        tables=(Table("coverage", _TITLE, _COLUMNS, rows), *tables),
        signatures={"coverage": str(Signature("coverage").adding(tok=tokenizer, longest=longest))},
        views=(
            Listing("coverage", _TITLE, tuple(column.name for column in _COLUMNS)),
            *(
                Listing(name, f"N-grams {title}", ("n", "ngram", "count", "systems", "segments"))
                for name, title in (("new", NEW), ("missing", MISSING))
            ),
        ),
        exhibits=tuple(
            _exhibit(kind, gram, seen, paraphrased, words)
            for kind, found in kinds.items()
            for gram, seen in _examples(found)
        ),
        facts={
            "test set": original.name,
            "systems": str(len(original.systems)),
            "references": ", ".join(original.references),
            "with paraphrases": ", ".join(paraphrased.references),
        },
    )


def _texts(*testsets: TestSet) -> list[str]:
    found: dict[str, None] = {}
    for testset in testsets:
        own = (texts for refs in testset.system_references.values() for texts in refs.values())
        for texts in (*testset.references.values(), *testset.systems.values(), *own):
            found |= dict.fromkeys(text for text in texts if text is not None)
    return list(found)


def _references(testset: TestSet, segment: int, system: str | None) -> list[tuple[str, str]]:
    """Names and texts of the references of a segment, for one system or those shared by all."""
    own = testset.system_references.get(system, {}) if system is not None else {}
    columns = (*testset.references.items(), *own.items())
    return [(name, text) for name, texts in columns if (text := texts[segment]) is not None]


def _most_held(
    references: Iterable[tuple[str, str]], words: Mapping[str, TokenSpans], longest: int
) -> Counter[Gram]:
    held: Counter[Gram] = Counter()
    for _, text in references:
        held |= grams(words[text].tokens, longest)
    return held


def _row(n: int, sums: Counter[str]) -> dict[str, Cell]:
    total, old, now = sums["ngrams"], sums["original"], sums["paraphrased"]
    return {
        "n": n,
        "ngrams": total,
        "original": old,
        "paraphrased": now,
        "new": now - old,
        "missing": total - now,
        "precision": old / total if total else None,
        "wider": now / total if total else None,
    }


def _first(seen: Mapping[Gram, _Seen], longest: int, most: int) -> list[tuple[Gram, _Seen]]:
    found = []
    for n in range(1, longest + 1):
        of_length = [(gram, one) for gram, one in seen.items() if len(gram) == n]
        found += sorted(of_length, key=lambda pair: (-pair[1].count, pair[0]))[:most]
    return found


def _gram_row(gram: Gram, seen: _Seen) -> dict[str, Cell]:
    return {
        "n": len(gram),
        "ngram": " ".join(gram),
        "count": seen.count,
        "systems": len(seen.systems),
        "segments": len(seen.places),
        "segment": next(iter(seen.places)) + 1,
    }


def _examples(found: Sequence[tuple[Gram, _Seen]]) -> list[tuple[Gram, _Seen]]:
    """The most frequent n-grams of each length."""
    counts: Counter[int] = Counter()
    kept = []
    for gram, seen in found:
        counts[len(gram)] += 1
        if counts[len(gram)] <= _EXAMPLES:
            kept.append((gram, seen))
    return kept


def _exhibit(
    kind: str, gram: Gram, seen: _Seen, testset: TestSet, words: Mapping[str, TokenSpans]
) -> Exhibit:
    segment, system = next(iter(seen.places.items()))
    output = testset.systems[system][segment]
    texts = [
        ExhibitText("reference", name, text, _marks(text, gram, words[text]))
        for name, text in _references(testset, segment, system)
    ]
    texts.append(ExhibitText("candidate", system, output, _marks(output, gram, words[output])))
    return Exhibit(
        group=f"{len(gram)}-grams",
        kind=kind,
        segment=segment + 1,
        texts=tuple(texts),
        systems=(system,),
        weight=float(seen.count),
        caption=f"{' '.join(gram)!r}: {kind} {seen.count} times, in {len(seen.places)} segments",
    )


def _marks(text: str, gram: Gram, words: TokenSpans) -> tuple[Highlight, ...]:
    marks, size, place = [], len(gram), 0
    while place <= len(words.tokens) - size:
        if words.tokens[place : place + size] == gram:
            part = words.surface(text, place, size)
            start = words.spans[place][0]
            marks.append(Highlight(start, start + len(part)))
            place += size
        else:
            place += 1
    return tuple(marks)

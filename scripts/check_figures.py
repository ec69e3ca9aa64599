"""Evidence for `gnomon check`: false alarms on references, recall and precision of planted faults.

    python scripts/check_figures.py SHARED/data > benchmarks/check.md

SHARED/data is a directory of test sets: SET/PAIR/src.txt, ref.NAME.txt, systems/NAME.txt. A fault
that is found in a human reference counts as a false alarm. Faults are planted in one output in
twenty of the first system; what this system shows without them does not count against precision.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import gnomon as gn
from gnomon.check.glossary import Glossary, Term
from gnomon.check.terms import Terminology
from gnomon.linguistics.faults import Texts, fault_kinds, find_faults
from gnomon.linguistics.faults.floor import look
from gnomon.linguistics.faults.phrases import phrase_languages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_EVERY = 20  # one segment in so many is planted
_SYSTEMS = 8  # at most: the pool of a large set
_PLANTED = "planted"
_WORDS = 16  # of a source at least: half of it is six words in a row
_INTRODUCTIONS = {
    "en": "Here is the translation: ",
    "de": "Hier ist die Übersetzung: ",
    "cs": "Zde je překlad: ",
    "ja": "以下は翻訳です。",
}
_OPENINGS = {
    "en": "Gladly, what you asked for follows. ",
    "de": "Gern, was Sie wünschen, folgt nun: ",
    "cs": "Rád, tady máte, co chcete: ",
    "ja": "かしこまりました、次のとおりです。",
}
_OTHER_SCRIPT = "Тем временем в городе стало тихо, и никто не выходил из дома до самого утра."
_OTHER_LANGUAGE = "Kaupungissa oli hiljaista, eikä kukaan lähtenyt talostaan ennen aamua."
_CHOSEN = ("wmt19 de-en", "wmt21 en-de", "wmt24 en-cs", "wmt24 en-ja")
_LANGUAGES = (
    ("wmt24 en-cs", "polish"),
    ("wmt19 en-de", "french"),
    ("wmt19 lt-en", "german"),
    ("wmt19 lt-en", "french"),
)
#: faults of published outputs that are known: set, system, kind
_KNOWN = (
    ("wmt24 en-cs", "CUNI-DocTransformer", "copied"),
    ("wmt24 en-cs", "Phi-3-Medium", "empty"),
    ("wmt24 en-cs", "Claude-3.5", "not-a-translation"),
    ("wmt24 en-cs", "TSU-HITs", "too-short"),
    ("wmt24 en-cs", "ONLINE-B", "entity"),
    ("wmt24 en-ja", "Phi-3-Medium", "empty"),
    ("wmt24 en-ja", "Phi-3-Medium", "not-a-translation"),
    ("wmt24 en-ja", "Claude-3.5", "not-a-translation"),
    ("wmt24 en-ja", "DLUT-GTCOM", "other-segment"),
)


@dataclass(frozen=True)
class Plant:
    """How a fault is put into an output.

    Attributes:
        kind: that is to find it.
        name: what is done.
        change: output, source and the outputs of all segments -> a faulty output.
        before: what is put at the end of every text first, the source included.
    """

    kind: str
    name: str
    change: Callable[[str, str, Sequence[str], int], str]
    before: str = ""


def _half_copied(output: str, source: str, _: Sequence[str], __: int) -> str:
    words, own = source.split(), output.split()
    return " ".join([*own[: len(own) // 2], *words[len(words) // 2 :]])


def _loop(output: str, *_: object) -> str:
    return f"{output} {(output[-12:] + ' ') * 6}"


def _cut(output: str, *_: object) -> str:
    return output[: int(0.3 * len(output))]


def _longer(output: str, _: str, outputs: Sequence[str], row: int) -> str:
    return " ".join((output, outputs[row - 1], outputs[row - 2], outputs[row - 3]))


def _plants(language: str) -> list[Plant]:
    introduction, opening = _INTRODUCTIONS[language], _OPENINGS[language]
    return [
        Plant("empty", "no text", lambda *_: " "),
        Plant("copied", "the source", lambda _, source, *__: source),
        Plant("half-copied", "second half of the source", _half_copied),
        Plant("script", "a text in another script", lambda *_: _OTHER_SCRIPT),
        Plant("language", "a text in another language", lambda *_: _OTHER_LANGUAGE),
        Plant("not-a-translation", "a listed introduction", lambda one, *_: introduction + one),
        Plant("not-a-translation", "an unlisted opening", lambda one, *_: opening + one),
        Plant("loop", "the end, six times", _loop),
        Plant("too-short", "cut to .3", _cut),
        Plant("too-long", "three more segments", _longer),
        Plant("other-segment", "the segment before", lambda _, __, all_of, row: all_of[row - 1]),
        Plant("placeholder", "lost", lambda one, *_: one.replace("{name}", ""), " {name}"),
        Plant("tag", "lost", lambda one, *_: one.replace("<b>x</b>", "x"), " <b>x</b>"),
        Plant("entity", "written", lambda one, *_: one.replace("'", "&#39;") + " &quot;"),
        Plant("address", "changed", lambda one, *_: one[:-2] + "x", " www.example.org"),
        Plant("emoji", "lost", lambda one, *_: one.replace("🎉", ""), " 🎉"),
        Plant("bracket", "not closed", lambda one, *_: f"({one}"),
        Plant("number", "changed", lambda one, *_: re.sub(r"\d", _next, one), " 47"),
    ]


def _next(digit: re.Match[str]) -> str:
    return str((int(digit.group()) + 1) % 10)


def read_sets(folder: Path) -> Iterator[tuple[str, gn.TestSet]]:
    """Test sets with sources and references, by name."""
    for place in sorted(folder.glob("*/??-??")):
        if (place / "src.txt").exists() and list(place.glob("ref.*.txt")):
            yield f"{place.parent.name} {place.name}", gn.TestSet.read(place)


def false_alarms(testset: gn.TestSet) -> tuple[dict[str, int], int]:
    """Hits in references by kind, and how many texts these are."""
    texts = Texts(testset)
    counts: dict[str, int] = {}
    for name, kind in fault_kinds().items():
        if not kind.lacks(texts):
            counts[name] = sum(hit.column in texts.references for hit in kind.rule(texts))
    lines = sum(text is not None for column in texts.references.values() for text in column)
    return counts, lines


def planted(testset: gn.TestSet, plant: Plant) -> tuple[int, int, int]:
    """Planted faults that are found, all that are planted, and new hits elsewhere."""
    kind = fault_kinds()[plant.kind]
    names = list(testset.systems)[:_SYSTEMS]
    systems = {one: [t + plant.before for t in testset.systems[one]] for one in names}
    sources = [text + plant.before for text in testset.sources or ()]
    references = [
        [None if text is None else text + plant.before for text in column]
        for column in testset.references.values()
    ]
    base = list(next(iter(systems.values())))
    rows = [row for row in range(5, len(base), _EVERY) if len(sources[row].split()) >= _WORDS]
    faulty = list(base)
    for row in rows:
        faulty[row] = plant.change(base[row], sources[row], base, row)
    changed = {row for row in rows if faulty[row] != base[row]}
    hits = []
    for outputs in (base, faulty):
        pool = {_PLANTED: outputs, **dict(list(systems.items())[1:])}
        some = gn.TestSet.from_lists(
            pool,
            list(zip(*references, strict=True)),
            sources=sources,
            language_pair=testset.language_pair,
        )
        hits.append({hit.segment for hit in kind.rule(Texts(some)) if hit.column == _PLANTED})
    before, after = hits
    return len(after & changed), len(changed), len(after - changed - before)


def print_alarms(sets: Sequence[tuple[str, gn.TestSet]]) -> None:
    """Hits in references."""
    alarms: dict[str, Counter[str]] = defaultdict(Counter)
    lines = {}
    for name, testset in sets:
        counts, lines[name] = false_alarms(testset)
        for kind, count in counts.items():
            alarms[kind][name] = count
    print(f"{sum(lines.values()):,} references of {len(sets)} test sets.\n")
    print("| kind | hits per 1,000 references | in the worst set |\n|---|---|---|")
    for kind, found in alarms.items():
        mean = 1000 * found.total() / sum(lines.values())
        worst = max(found, key=lambda one: found[one] / lines[one])
        print(f"| {kind} | {mean:.2f} | {1000 * found[worst] / lines[worst]:.1f} ({worst}) |")


def print_planted(chosen: Mapping[str, gn.TestSet]) -> None:
    """Recall and precision of what is planted."""
    print(f"\n| planted | kind | recall ({', '.join(chosen)}) | precision |\n|---|---|---|---|")
    for number, first in enumerate(_plants("en")):
        recalls, precisions = [], []
        for testset in chosen.values():
            language = (testset.language_pair or "").partition("-")[2]
            if first.kind == "language" and language == "ja":  # told by its script
                continue
            found, all_planted, new = planted(testset, _plants(language)[number])
            recalls.append(found / max(all_planted, 1))
            precisions.append(found / max(found + new, 1))
        print(f"| {first.name} | {first.kind} | {_shown(recalls)} | {_shown(precisions)} |")


def print_languages(folder: Path, sets: Mapping[str, gn.TestSet]) -> None:
    """Sentences of DEMETR in a language that was not asked for, one in nine outputs."""
    rows = json.loads((folder / "demetr" / "base_id35_reference.json").read_text("utf-8"))
    (kind,) = find_faults(["language"])
    print("\n| in place of translations | test set | found | of |\n|---|---|---|---|")
    for name, language in _LANGUAGES:
        testset = sets[name]
        sentences = [row["src_sent"] for row in rows if row["lang_tag"] == language]
        first, *others = list(testset.systems)[:_SYSTEMS]
        outputs = list(testset.systems[first])
        places = range(5, 5 + 9 * len(sentences), 9)
        for place, sentence in zip(places, sentences, strict=True):
            outputs[place] = sentence
        pool = {_PLANTED: outputs, **{one: testset.systems[one] for one in others}}
        some = gn.TestSet.from_lists(
            pool,
            list(zip(*testset.references.values(), strict=True)),
            sources=testset.sources,
            language_pair=testset.language_pair,
        )
        hit = {one.segment for one in kind.rule(Texts(some)) if one.column == _PLANTED}
        print(f"| {language} | {name} | {len(hit & {*places})} | {len(sentences)} |")


def print_known(chosen: Mapping[str, gn.TestSet]) -> None:
    """Faults of published outputs that are known."""
    print("\n| known fault | kind | segments |\n|---|---|---|")
    for name, system, kind in _KNOWN:
        hits = fault_kinds()[kind].rule(Texts(chosen[name]))
        segments = sorted({hit.segment + 1 for hit in hits if hit.column == system})
        print(f"| {name} {system} | {kind} | {len(segments)}: {_listed(segments)} |")


def print_orders(sets: Sequence[tuple[str, gn.TestSet]]) -> None:
    """Pairs of systems whose difference changes on the segments that both translated."""
    print("\n| test set | pairs | change order under chrF | change by over 1 |\n|---|---|---|---|")
    kinds = find_faults(["untranslated", "other-segment"])
    for name, testset in sets:
        found = look(Texts(testset), kinds)
        lost = np.logical_or.reduce([found.counted[one.name] for one in found.faults])
        scores = gn.score(testset, "chrf")
        statistics, aggregate = scores.statistics, scores.aggregate
        if statistics is None or aggregate is None:
            continue
        pairs = list(combinations(range(len(scores.systems)), 2))
        whole = [scores.system[a] - scores.system[b] for a, b in pairs]
        part = []
        for a, b in pairs:
            both = ~(lost[a] | lost[b])
            first, second = aggregate(statistics[[a, b]][:, both].sum(axis=1))
            part.append(first - second)
        changed = sum(x * y < 0 for x, y in zip(whole, part, strict=True))
        moved = sum(abs(x - y) > 1 for x, y in zip(whole, part, strict=True))
        print(f"| {name} | {len(pairs)} | {changed} | {moved} |")


def print_terms(folder: Path) -> None:
    """WMT25's terminology task: how far the share of terms that are used is from published ones."""
    with (folder / "segments.jsonl").open(encoding="utf-8") as lines:
        segments = [json.loads(line) for line in lines]
    published = json.loads((folder / "published.json").read_text("utf-8"))
    outputs = {}
    for path in sorted(folder.glob("systems/*.jsonl")):
        team, mode, _ = path.name.rsplit(".", 2)
        if published[mode].get(team):
            with path.open(encoding="utf-8") as rows:
                outputs[f"{team}.{mode}"] = [json.loads(row)["de"] for row in rows]
    testset = gn.TestSet.from_lists(
        outputs,
        [one["de"] for one in segments],
        sources=[one["en"] for one in segments],
        language_pair="en-de",
    )
    print("\n| terms of WMT25 en-de | prescribed | cells | largest difference | mean |")
    print("|---|---|---|---|---|")
    for kind in ("proper", "random"):
        terms = [
            Term(source, (target,), (), number)
            for number, one in enumerate(segments)
            for source, target in one[kind].items()
        ]
        success = Terminology(Glossary(tuple(terms)), "wmt25").success(Texts(testset))
        away = []
        for name in outputs:
            team, mode = name.rsplit(".", 1)
            used, prescribed = success[name]
            away.append(abs(used / prescribed - published[mode][team][f"{kind}_term_success_rate"]))
        print(f"| {kind} | {len(terms)} | {len(away)} | {max(away):.4f} | {np.mean(away):.4f} |")


def main() -> None:
    """Print the tables."""
    folder = Path(sys.argv[1])
    sets = list(read_sets(folder))
    chosen = {name: testset for name, testset in sets if name in _CHOSEN}
    print_alarms(sets)
    print(f"\nPhrases of answers: {len(phrase_languages())} languages.")
    print_planted(chosen)
    print_languages(folder, dict(sets))
    print_known(chosen)
    print_orders([(name, testset) for name, testset in sets if len(testset.systems) > 1])
    print_terms(folder / "wmt25-terminology" / "en-de")


def _listed(segments: Sequence[int]) -> str:
    return ", ".join(map(str, segments[:20])) + (", ..." if len(segments) > 20 else "")


def _shown(shares: Sequence[float]) -> str:
    return " ".join(f"{share:.2f}" for share in shares)


if __name__ == "__main__":
    main()

"""How often each kind of sentence is said of nothing: the counts of the page on truth.

    python -m pytest tests/truth/test_null.py -rP

A world has no difference that could be found; every draw is another one. Of 1,000 draws (under
verify) at most 50 should give a finding, but for the error of so many draws.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.methods.stress.test_planted import noisy, planted
from tests.noise import fewest_undecided
from tests.truth.campaigns import campaign, judged, with_judgements
from tests.truth.worlds import bundled
from tests.truth.worlds_compare import names_of, scored
from tests.truth.worlds_errors import EVEN, found, marks
from tests.truth.worlds_metaeval import judged as with_scores
from tests.truth.worlds_metaeval import metric, near, people

import gnomon as gn
from gnomon import bmx
from gnomon.bmx import Experiment, Explained
from gnomon.check.figures import FaultDifferenceRow
from gnomon.core.findings import Finding
from gnomon.core.minimal_pairs import Pair, PairKind
from gnomon.core.records import table
from gnomon.paraphrase.adequacy import AdequacyRow, adequacy_row, adequacy_verdict
from gnomon.stress.figures import StressOverallRow, StressRow, overall_rows, stress_rows
from gnomon.stress.outcomes import Outcomes, PairGroups, ScoredPairs
from gnomon.stress.verdict import stress_verdict

if TYPE_CHECKING:
    from collections.abc import Callable


def _says(finding: Finding, *but: str) -> bool:
    """Whether anything is a finding."""
    return any(one.level == "finding" and one.code not in but for one in finding.verdict)


def _noise(seed: int, systems: int, segments: int = 100) -> np.ndarray:  # type: ignore[type-arg]
    return np.random.default_rng(seed).normal(70, 10, (systems, segments))


def _of_two(seed: int) -> bool:
    return _says(scored(_noise(seed, 2)))


def _of_five(seed: int) -> bool:
    return _says(scored(_noise(seed, 5)))


def _beside_a_baseline(seed: int) -> bool:
    return _says(scored(_noise(seed, 5), baseline="A"))


def _in_slices(seed: int) -> bool:
    return _says(scored(_noise(seed, 2, 120), documents=names_of(4, 30), by="document"))


def _with_missing_scores(seed: int) -> bool:
    cells = _noise(seed, 4)
    cells[np.random.default_rng([seed]).random(cells.shape) < [[0], [0.1], [0.2], [0.3]]] = np.nan
    return _says(scored(cells))


def _exchanged(seed: int, *, whole: bool) -> gn.TestSet:
    """Outputs of two systems whose documents, or segments, are exchanged by a coin."""
    first, second = "apertium-french", "apertium-direct"
    testset = bundled()
    assert testset.documents is not None
    _, which = np.unique(testset.documents, return_inverse=True)
    units = which if whole else np.arange(len(which))
    other = (np.random.default_rng(seed).random(int(units.max()) + 1) < 0.5)[units]
    sides = [testset.systems[first], testset.systems[second]]
    mixed = [[sides[int(o) ^ k][n] for n, o in enumerate(other.tolist())] for k in (0, 1)]
    return gn.TestSet.from_lists(
        {"A": mixed[0], "B": mixed[1]},
        testset.references["A"],
        documents=testset.documents,
        name="exchanged",
    )


def _of_whole_documents(seed: int) -> bool:
    exchanged = _exchanged(seed, whole=True)
    return _says(gn.compare(exchanged, "bleu", resamples=199, examples=0, ngrams=0))


def _by_people(seed: int) -> bool:
    draw = np.random.default_rng(seed)
    cells = draw.normal(70, 5, (3, 100)) + draw.normal(0, 5, (3, 20)).repeat(5, axis=1)
    return _says(scored(cells, people=True, documents=names_of(20), title="esa"))


def _muler(exchanged: gn.TestSet) -> bool:
    """Of two systems of the example, by kinds of several words."""
    runs = {"of the": r"\b(?:of|in|to|by) (?:the|a|an) \w+", "capitals": r"[A-Z]\w+(?: [A-Z]\w+)*"}
    asked: dict[str, object] = {"features": ["re:*"], "pattern": runs, "variants": ["ratio"]}
    finding = gn.muler.score(exchanged, examples=0, resamples=199, **asked)  # type: ignore[arg-type]  # as they are
    return any(row["decided"] for row in finding.table("differences").rows)


def _omissions(seed: int) -> bool:
    """What two systems leave out whose documents are exchanged whole."""
    runs = {"long": r"\w{7,}", "the": r"\bthe\b", "comma": ",", "capitals": r"[A-Z]\w+"}
    asked: dict[str, object] = {"features": ["re:*"], "pattern": runs, "variants": ["ratio"]}
    mixed = _exchanged(seed, whole=True)
    finding = gn.muler.score(mixed, "none", examples=0, resamples=999, **asked)  # type: ignore[arg-type]  # as they are
    return any(row["decided"] for row in finding.table("omissions").rows)


def _muler_of_several_words(seed: int) -> bool:
    return _muler(_exchanged(seed, whole=False))


def _muler_of_whole_documents(seed: int) -> bool:
    return _muler(_exchanged(seed, whole=True))


def _muler_with_missing_scores(seed: int) -> bool:
    """Empty outputs have none: a third of one system's, and some of the other's."""
    testset, draw = _exchanged(seed, whole=False), np.random.default_rng([seed, 2])
    systems = {
        name: ["" if draw.random() < share else text for text in texts]
        for (name, texts), share in zip(testset.systems.items(), (0.3, 0.1), strict=True)
    }
    return _muler(replace(testset, systems=systems))


def _by_people_of_some_leniency(seed: int) -> bool:
    """Eight people judge documents of three equal systems, and are adjusted for."""
    quality = dict.fromkeys("ABC", 70.0)
    return _says(gn.human.compare(campaign(quality, documents=30, raters=8, seed=seed)))


def _by_people_in_part(seed: int) -> bool:
    """Two of three equal systems are judged in fifteen documents each, which differ."""
    said = judged([70, 70, 70], documents=60, length=3, seed=seed)
    part = np.array([-1, 0, 1])[said.system]
    away = (part >= 0) & (part != said.document // 15)
    return _says(gn.human.compare(with_judgements(list("ABC"), said, without=away)))


def _at_two_analyses(seed: int) -> bool:
    """Two equal systems, compared after half of the documents and after all."""
    said = judged([70, 70], documents=60, length=2, raters=8, seed=seed)
    return any(
        _says(gn.human.compare(with_judgements(["A", "B"], said, without=away), interim=analysis))
        for analysis, away in (("1/2", said.document >= 30), ("2/2", said.document >= 60))
    )


def _metrics(seed: int, number: int, level: str, documents: int | None) -> bool:
    """Metrics that are as near to people as each other: none agrees better."""
    human = people(10, 40, seed=seed)
    made = [metric(near(human, 1.0, 10 * seed + n), f"m{n}") for n in range(number)]
    measured = {"statistics": ["pearson"], "groupings": ["none"], "levels": [level]}
    found = gn.metaeval(with_scores(human, documents=documents), made, resamples=200, **measured)
    return any(one.code == "metaeval.better" for one in found.verdict)


def _two_metrics(seed: int) -> bool:
    return _metrics(seed, 2, "system", None)


def _four_metrics(seed: int) -> bool:
    return _metrics(seed, 4, "system", None)


def _metrics_over_documents(seed: int) -> bool:
    return _metrics(seed, 3, "segment", 2)


def _errors(seed: int) -> bool:
    """Errors of both severities at random: not a difference holds, whatever the severity."""
    testset, draw = marks({"a": EVEN, "b": EVEN}, seed=seed), np.random.default_rng([seed, 1])
    errors = [replace(e, severity="major") if draw.random() < 0.5 else e for e in testset.errors]
    finding = found(replace(testset, errors=tuple(errors)), resamples=499)
    return _says(finding) or any(row["decided"] for row in finding.table("differences").rows)


def _detection(seed: int) -> bool:
    """The share of errors that is detected is the one asked for, in each of several kinds."""
    of_noise, _ = noisy(np.random.default_rng(seed), 120, 0.8, 0, 0.05)
    rows = stress_rows(of_noise, wanted=0.8, confidence=0.95)
    return any(row.status in ("detects", "misses", "blind") for row in rows)


def _worded(seed: int) -> bool:
    """Errors are detected as often where the reference has their words as where it has none."""
    draw = np.random.default_rng(seed)
    pairs = [
        replace(pair, references=("good" if draw.random() < 0.5 else "other",))
        for pair in planted(120)
    ]
    drops = np.where(draw.random(len(pairs)) < 0.8, 1.0, -1.0)
    return _of_pairs(pairs, drops, "stress.wording")


def _penalised(seed: int) -> bool:
    """A critical error costs more than a harmless change in just four of five sentences."""
    draw = np.random.default_rng(seed)
    kinds: list[tuple[PairKind, str]] = [("error", "critical"), ("harmless", "")]
    pairs = [
        Pair(good=f"text {n}", bad=f"{kind} {n}", phenomenon=kind, kind=kind, severity=severity)
        for kind, severity in kinds
        for n in range(120)
    ]
    drops = np.concatenate([np.where(draw.random(120) < 0.8, 2.0, 0.5), np.ones(120)])
    return _of_pairs(pairs, drops, "stress.penalties")


def _of_pairs(pairs: list[Pair], drops: np.ndarray, code: str) -> bool:  # type: ignore[type-arg]
    """Whether something is said of pairs whose scores fall by so much."""
    outcome = Outcomes(drops, np.zeros(len(drops)), 1e-6)
    scored = ScoredPairs(PairGroups.from_pairs(pairs), {"noisy": outcome}, (), {"noisy": 1})
    rows = list(stress_rows(scored, wanted=0.5, confidence=0.95))
    every = list(overall_rows(rows, scored, confidence=0.95))
    tables = (table("stress", "", StressRow, rows), table("overall", "", StressOverallRow, every))
    finding = Finding("stress", "", tables, {})
    return any(one.code == code for one in stress_verdict(finding))


def _explained_by_noise(seed: int) -> bool:
    """Importances are random numbers, as those beside them, in four language pairs."""
    draw, made = np.random.default_rng(seed), []
    for pair in ("cs-en", "de-en", "fi-en", "ru-en"):
        quality, offsets = draw.normal(size=40), np.arange(0, 401, 10)
        score, human = (quality + draw.normal(0, 0.5, 40) for _ in range(2))
        made += [
            Explained(Experiment("m", who, "chrf", pair), score, draw.random(400), offsets, human)
            for who in ("erasure", "random")
        ]
    return _says(bmx.tune(bmx.search(made, p=np.arange(-4.0, 5.0)), resamples=0))


def _methods(seed: int) -> bool:
    """Paraphrases of five methods that are equally near to the references."""
    values = np.random.default_rng(seed).lognormal(size=(5, 40)).tolist()
    rows = [
        adequacy_row(
            f"m{n}", "chrf", {i: [one] for i, one in enumerate(own)}, 0.95, seed, shared=range(40)
        )
        for n, own in enumerate(values)
    ]
    made = table("adequacy", "", AdequacyRow, rows)
    return any(one.level == "finding" for one in adequacy_verdict(Finding("d", "", (made,), {})))


def _faults(seed: int, *, by_document: bool = False, cost: bool = False) -> bool:
    """Three systems lose tags, brackets and whole texts as often, maybe document by document."""
    draw, which = np.random.default_rng(seed), np.arange(300) // 10
    sources = [f"the <b>{n}</b> dogs ran home and barked (at {n + 1} cats)" for n in range(300)]
    kept = [f"die <b>{n}</b> Hunde liefen heim und bellten ({n + 1} Katzen)" for n in range(300)]
    systems = {}
    for name in ("A", "B", "C"):
        of_tags = 0.6 * (draw.random(30) < 0.3)[which] if by_document else 0.1
        tags, brackets, texts = (draw.random(300) < share for share in (of_tags, 0.1, 0.05))
        systems[name] = [
            "" if no_text else text.replace("<b>", "" if no_tag else "<b>")[: -1 if open_ else None]
            for text, no_tag, open_, no_text in zip(kept, tags, brackets, texts, strict=True)
        ]
    testset = gn.TestSet.from_lists(
        systems,
        kept,
        sources=sources,
        language_pair="en-de",
        documents=[str(one) for one in which],
    )
    kinds = ["empty", "tag", "bracket"]
    found = gn.check(testset, kinds=kinds, baseline="A", resamples=500, seed=seed)
    rows = found.records(FaultDifferenceRow, "differences")
    return any(row.decided for row in rows if (row.kind == "bleu") == cost)


_WORLDS: dict[str, Callable[[int], bool]] = {
    "two systems": _of_two,
    "the best of five": _of_five,
    "four beside a baseline": _beside_a_baseline,
    "slices": _in_slices,
    "missing scores": _with_missing_scores,
    "documents exchanged whole": _of_whole_documents,
    "people, by document": _by_people,
    "MuLER of several words": _muler_of_several_words,
    "MuLER of documents exchanged whole": _muler_of_whole_documents,
    "MuLER with missing scores": _muler_with_missing_scores,
    "omissions of documents exchanged whole": _omissions,
    "people of some leniency": _by_people_of_some_leniency,
    "people, systems judged in part": _by_people_in_part,
    "people, at two analyses": _at_two_analyses,
    "two metrics over systems": _two_metrics,
    "four metrics over systems": _four_metrics,
    "three metrics over documents": _metrics_over_documents,
    "errors of two systems": _errors,
    "errors detected": _detection,
    "errors worded alike and otherwise": _worded,
    "penalties for errors and harmless changes": _penalised,
    "explanations that are noise": _explained_by_noise,
    "paraphrases of five methods": _methods,
    "faults of three systems": _faults,
    "faults of documents": partial(_faults, by_document=True),
    "what faults cost": partial(_faults, cost=True),
    "what faults of documents cost": partial(_faults, by_document=True, cost=True),
}


@pytest.mark.parametrize("draws", [6, pytest.param(1000, marks=pytest.mark.verify)])
@pytest.mark.parametrize("name", _WORLDS)
def test_of_nothing_something_is_said_no_more_often_than_the_level(name: str, draws: int) -> None:
    said = sum(_WORLDS[name](seed) for seed in range(draws))
    print(f"{name}: {said} of {draws}")  # noqa: T201  # with -rP
    assert said <= draws - fewest_undecided(draws)

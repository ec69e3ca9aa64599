"""Metrics judged on slices of a test set: each figure is that of the slice alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.stats
from sacrebleu.metrics import BLEU
from tests.methods.metaeval.contests import SYSTEMS, drawn, noisy, scores
from tests.methods.metaeval.contests import contest as make
from tests.told import notes

import gnomon as gn
from gnomon import TestSet
from gnomon.core.errors import UsageError
from gnomon.core.human import HumanScores

DOMAINS = tuple("news" if i % 3 else "chat" for i in range(20))
PARTS = {name: [i for i in range(20) if DOMAINS[i] == name] for name in ("chat", "news")}


@pytest.fixture
def human() -> np.ndarray:
    return drawn(1, digits=0)


def rows(found, **wanted):
    return [row for row in found if all(row[key] == value for key, value in wanted.items())]


def test_figures_of_a_slice_are_those_of_its_segments_alone(human) -> None:
    ts = replace(make(human, rows=[(0, "a", "f"), (1, "b", "e")]), domains=DOMAINS)
    own = {"good": noisy(human, 2, 0.5), "poor": noisy(human, 3, 3.0)}
    options = {"baseline": "poor", "resamples": 40, "test": "bootstrap"}
    found = gn.metaeval(ts, {n: scores(m) for n, m in own.items()}, by="domain", **options)
    for name, part in PARTS.items():
        alone = gn.metaeval(
            make(human[:, part]), {n: scores(m[:, part]) for n, m in own.items()}, **options
        )
        sliced = {(r["measure"], r["metric"]): r for r in rows(found, slice=name, human="da")}
        assert len(sliced) == len(alone.rows)
        for row in rows(alone, control=False):
            same = sliced[row["measure"], row["metric"]]
            for key in ("value", "n", "low", "high", "p", "epsilon", "rank"):
                assert same[key] == (row[key] and pytest.approx(row[key])), (key, row["measure"])
    assert {row["slice"] for row in rows(found, human="darr")} == {None, "chat", "news"}


def test_without_slices_nothing_else_changes(human) -> None:
    ts = replace(make(human), domains=DOMAINS)
    metric = [scores(noisy(human, 2))]
    whole = gn.metaeval(ts, metric, resamples=30)
    found = gn.metaeval(ts, metric, resamples=30, by="domain")
    assert rows(found, slice=None) == list(whole)
    for name in ("systems", "top_k"):
        assert found.table(name).rows == whole.table(name).rows


def test_corpus_scores_of_a_slice_are_corpus_scores(human) -> None:
    words = ["a", "red", "cat", "sat", "on", "the", "mat", "by", "my", "door", "today"]
    rng = np.random.default_rng(3)
    references = [" ".join(rng.choice(words, 9)) for _ in range(20)]
    systems = {
        name: [
            " ".join(w if rng.random() > 0.1 * k else "x" for w in text.split())
            for text in references
        ]
        for k, name in enumerate(SYSTEMS)
    }
    ts = TestSet.from_lists(systems, references, language_pair="de-en", name="set")
    ts = replace(ts, human=(HumanScores("da", "segment", SYSTEMS, human),), domains=DOMAINS)
    found = gn.metaeval(
        ts, "bleu", by="domain", resamples=0, levels=["system"], statistics=["pearson"]
    )
    for name, part in PARTS.items():
        scored = [
            BLEU()
            .corpus_score([systems[s][i] for i in part], [[references[i] for i in part]])
            .score
            for s in SYSTEMS
        ]
        expected = scipy.stats.pearsonr(human[:, part].mean(axis=1), scored)[0]
        (row,) = rows(found, slice=name)
        assert row["value"] == pytest.approx(expected)


def test_people_who_scored_domains_as_such_are_taken_at_their_word(human) -> None:
    ts = replace(make(human), domains=DOMAINS)
    values = np.arange(12.0).reshape(6, 2) ** 2 / 2
    by_domain = HumanScores("da", "domain", SYSTEMS, values, ("chat", "news"))
    whole = HumanScores("da", "system", SYSTEMS, values.mean(axis=1)[:, None])
    cells = noisy(human, 2)
    found = gn.metaeval(
        replace(ts, human=(whole, by_domain)),
        [scores(cells)],
        by="domain",
        statistics=["pearson"],
        resamples=0,
    )
    for k, name in enumerate(("chat", "news")):
        (row,) = rows(found, slice=name)
        means = cells[:, PARTS[name]].mean(axis=1)
        assert row["value"] == pytest.approx(scipy.stats.pearsonr(values[:, k], means)[0])


def test_what_slices_cannot_say_is_said(human) -> None:
    ts = replace(make(human), domains=DOMAINS)
    whole = HumanScores("z", "system", SYSTEMS, human.mean(axis=1)[:, None])
    cells = noisy(human, 2)
    odd = scores(cells, system=np.arange(6.0) ** 2)
    found = gn.metaeval(
        replace(ts, human=(*ts.human, whole)), {"odd": odd}, by="domain", resamples=0
    )
    assert rows(found, human="z", slice="news") == []
    assert any("whole systems say nothing of slices: z" in n for n in notes(found.notices))
    assert any(
        "system scores on slices are means of segment scores" in n for n in notes(found.notices)
    )
    with pytest.raises(UsageError, match="cannot slice by domain"):
        gn.metaeval(make(human), [scores(human)], by="domain")


def test_slices_are_averaged_over_test_sets(human) -> None:
    ts = replace(make(human), domains=DOMAINS)
    other = replace(ts, name="other", language_pair="fi-en")
    own = scores(noisy(human, 2))
    found = gn.metaeval([ts, other], {"m": [own, own]}, by="domain", resamples=0)
    average = rows(found, test_set="average", slice="chat", statistic="spearman", level="system")
    each = rows(found, slice="chat", statistic="spearman", level="system")
    assert [row["value"] for row in average] == [pytest.approx(each[0]["value"])]
    assert len(each) == 3

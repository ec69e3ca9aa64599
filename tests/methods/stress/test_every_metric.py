"""Stress tests of every kind of metric: functions, scores that are read, encoders, judges."""

from __future__ import annotations

import json
import re

import pytest
from tests.metrics.judges.conftest import chat  # noqa: F401  # a fixture
from tests.metrics.judges.test_metric import fenced, spec
from tests.metrics.learned.conftest import oracle, oracles  # noqa: F401  # fixtures

import gnomon as gn
from gnomon.core.errors import GnomonError, UsageError

NAMES = ["Ann", "Bob", "Cleo", "Dan", "Eve"]
TEXTS = [f"{NAMES[n % 5]} saw {n} old cats on the mat." for n in range(30, 55)]


@pytest.fixture
def testset():
    return gn.TestSet.from_lists(
        {"a": TEXTS},
        [text.replace("saw", "watched") for text in TEXTS],
        sources=[text.replace("saw", "sah").replace("cats", "Katzen") for text in TEXTS],
        language_pair="de-en",
    )


def detected(found, metric=None):
    rows = [row for row in found.rows if not row["control"]]
    metric = metric or rows[0]["metric"]
    return {row["phenomenon"]: row["detected"] for row in rows if row["metric"] == metric}


def test_a_function_is_stressed(testset):
    def same_number(candidate, reference):
        """Whether both have the same numbers."""
        return float(re.findall(r"\d+", candidate) == re.findall(r"\d+", reference))

    found = gn.stress(testset, same_number, perturb=["number", "swap"])
    assert detected(found)["wrong numbers"] == 1.0


def test_scores_that_are_read_are_stressed(testset, tmp_path):
    pairs = tmp_path / "pairs.tsv"
    gn.stress(testset, "bleu", perturb=["number", "lower"], save_pairs=pairs)
    read = gn.formats.read_pairs(pairs)
    rows = ["system\tsegment\tscore"]
    rows += [f"good\t{n}\t1" for n in range(1, len(read) + 1)]
    rows += [
        f"bad\t{n}\t{int(pair.phenomenon == 'missing capitals')}"
        for n, pair in enumerate(read, start=1)
    ]
    (tmp_path / "s.tsv").write_text("\n".join(rows) + "\n")
    found = gn.stress(None, f"scores('{tmp_path / 's.tsv'}')", pairs=[pairs])
    assert detected(found) == {"wrong numbers": 1.0, "missing capitals": 0.0}


def test_an_encoder_is_stressed(testset, tiny_model):
    metric = f"bertscore(model='{tiny_model}', layer=2)"
    found = gn.stress(testset, metric, perturb=["number", "shuffle", "lower"])
    # the tokeniser of the model lower-cases
    assert detected(found)["missing capitals"] == 0.0
    assert all(row["pairs"] == 25 for row in found.rows)


@pytest.mark.parametrize(
    ("family", "model", "needs"),
    [("regression", "cls_final", "both"), ("referenceless", "qe_sparsemax", "source")],
)
def test_learned_metrics_are_stressed_with_what_they_read(request, testset, family, model, needs):
    folder = request.getfixturevalue("oracle")(family, model).folder
    metric = f"comet('{folder}')"
    found = gn.stress(testset, metric, perturb=["number", "cut", "twice"])
    assert {row["pairs"] for row in found.rows} == {25}
    alone = gn.TestSet.from_lists({"a": TEXTS}, TEXTS, language_pair="de-en")
    with pytest.raises(GnomonError, match="source"):
        gn.stress(alone, metric, perturb=["number"])
    if needs == "source":  # without references nothing is split by their words
        without = gn.TestSet(
            name="x",
            references={},
            systems={"a": TEXTS},
            sources=testset.sources,
            language_pair="de-en",
        )
        found = gn.stress(without, metric, perturb=["number"])
        rows = [row for row in found.rows if not row["control"]]
        assert [row["detected_worded"] for row in rows] == [None]
        assert "nearest length" not in {row["metric"] for row in found.rows}
        with pytest.raises(GnomonError, match="reference"):
            gn.stress(without, "bleu", perturb=["number"])


@pytest.mark.usefixtures("chat")
def test_a_judge_is_stressed_and_asked_of_every_text_once(request, testset):
    server = request.getfixturevalue("chat")
    server.reply = lambda body: json.dumps({"score": 90 - 40 * ("Katzen" in fenced(body))})
    found = gn.stress(testset, spec(server), perturb=["untranslated", "swap"])
    rates = detected(found)
    assert rates["exchanged neighbours"] == 0.0
    assert rates["untranslated words"] == 1.0
    texts = 25 + sum(row["pairs"] for row in found.rows if row["metric"] == found.rows[0]["metric"])
    assert server.answered == texts
    gn.stress(testset, spec(server), perturb=["untranslated", "swap"])
    assert server.answered == texts  # answers are kept


def test_a_judge_that_would_cost_more_than_allowed_is_asked_nothing(request, testset):
    server = request.getfixturevalue("chat")
    with pytest.raises(UsageError, match="max_calls"):
        gn.stress(testset, spec(server, max_calls=40), perturb=["lower", "swap"])
    assert server.answered == 0

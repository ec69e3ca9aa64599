"""What metrics say that their numbers depend on, and whether they look at all systems."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from gnomon.core.dependencies import Dependency
from gnomon.metrics import Options, metric, names, parse
from gnomon.metrics.base import Metric
from gnomon.metrics.requirements import requirements

#: what some metrics cannot do without
GIVEN = {
    "bmx": "bmx(chrf)",
    "difficulty": "difficulty(bleu)",
    "judge": "judge('gemba-da', model='m')",
    "scores": "scores('own.tsv')",
    **{
        name: f"{name}('folder')"
        for name in ("bleurt", "comet", "cometkiwi", "metricx", "pear", "unite", "xcomet")
    },
}


@dataclass(frozen=True)
class Strange(Options, Metric):
    """A metric of somebody else, which answers nothing."""

    name: ClassVar[str] = "strange"
    model: str | None = None


@dataclass(frozen=True)
class Answering(Strange):
    """One that says it looks at each system alone."""

    pooled: ClassVar[bool] = False

    def requires(self, language: str | None) -> tuple[Dependency, ...]:
        return (Dependency("package", f"words-{language}"),)


@pytest.mark.parametrize("name", names())
def test_every_built_in_metric_answers(name: str) -> None:
    found: Metric = parse(GIVEN.get(name, name))
    assert found.pooled == (name == "difficulty")
    assert all(isinstance(need, Dependency) for need in found.requires("en"))


def test_a_function_depends_on_its_code() -> None:
    found = metric(lambda candidate, reference: float(candidate == reference), name="exact")
    assert not found.pooled
    assert requirements(found, "en") == (Dependency("code", "exact"),)


def test_a_metric_that_does_not_answer_may_look_at_all_systems() -> None:
    assert Strange().pooled
    assert parse("bmx(chrf)").pooled is False
    assert Dependency("model", "m") in requirements(Strange(model="m"), None)


def test_a_metric_of_a_package_answers_like_a_built_in_one() -> None:
    assert not Answering().pooled
    assert Dependency("package", "words-de") in requirements(Answering(), "de")


def test_what_wraps_a_metric_answers_for_it_too(tmp_path: Path) -> None:
    frozen = tmp_path / "hard.tsv"
    frozen.touch()
    wrapped = parse(f"difficulty(bertscore(model='m', revision='r', layer=1), frozen='{frozen}')")
    assert wrapped.requires("en") == (
        Dependency("file", str(frozen)),
        Dependency("model", "m", "r"),
    )  # type: ignore[attr-defined]  # every built-in metric answers
    assert parse("bmx(difficulty(bleu), p=1, w=0.5)").pooled


def test_the_model_is_that_of_the_language() -> None:
    assert requirements(parse("bertscore"), "en") == (Dependency("model", "roberta-large"),)
    assert requirements(parse("bertscore"), "fi") == (
        Dependency("model", "bert-base-multilingual-cased"),
    )
    one = (Dependency("model", "joeddav/xlm-roberta-large-xnli"),)
    assert requirements(parse("xbertscore"), "en") == requirements(parse("xbertscore"), "fi") == one


def test_synonyms_count_for_english_alone() -> None:
    assert [need.kind for need in requirements(parse("meteor"), "en")] == ["package", "wordnet"]
    assert [need.kind for need in requirements(parse("meteor"), "de")] == ["package"]

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, ClassVar

import pytest

from gnomon.core.errors import SpecError, UnknownNameError, UsageError
from gnomon.metrics import Chrf, Rouge, Ter, describe, metric, names, parse, registry, resolve
from gnomon.metrics.base import Metric

if TYPE_CHECKING:
    from pathlib import Path


def overlap(candidate: str, reference: str) -> float:
    return float(candidate == reference)


@dataclass(frozen=True)
class Wrapper(Metric):
    """A metric that wraps another."""

    positional: ClassVar[str] = "inner"
    name: ClassVar[str] = "wrapper"
    spec: ClassVar[str] = "wrapper"

    inner: object = None
    power: float = 1.0

    def bind(self, testset: object) -> object:
        return testset


WRAPPER = Wrapper()
NOTHING = 3


@pytest.fixture
def offer(monkeypatch: pytest.MonkeyPatch) -> object:
    """Offers entry points as if a package did."""
    monkeypatch.setitem(sys.modules, "offered", sys.modules[__name__])

    def offering(**points: str) -> None:
        group = [
            EntryPoint(name, value, "gnomon.metrics")
            for name, value in ((n.replace("_", "-"), v) for n, v in points.items())
        ]
        monkeypatch.setattr(registry, "entry_points", lambda group=None: group_of(group))

        def group_of(asked: str | None) -> list[EntryPoint]:
            assert asked == "gnomon.metrics"
            return group

    return offering


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("ter", "ter"),
        ("ter(case_sensitive=True, normalized=False)", "ter(case_sensitive=True)"),
        ("ter:case_sensitive=true", "ter(case_sensitive=True)"),
        ("ter(case_sensitive=True)|refs:1|gnomon:1.0.0", "ter(case_sensitive=True)"),
        ("rouge1", "rouge(type='rouge1')"),
        ("rouge2(score='recall')", "rouge(type='rouge2', score='recall')"),
        ("rougeL", "rouge"),
        ("rougeLsum", "rouge(type='rougeLsum')"),
        ("chrf++", "chrf(word_order=2)"),
    ],
)
def test_specs_and_aliases_name_built_in_metrics(text: str, spec: str) -> None:
    assert parse(text).spec == spec
    assert parse(spec) == parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ter(case_sens=True)", "no option 'case_sens'; did you mean 'case_sensitive'?"),
        ("ter(case=True)", "it takes: normalized, no_punct, asian_support, case_sensitive"),
        ("ter(no_punct=1)", "no_punct cannot be 1; it takes True or False"),
        ("rouge(type='rouge9')", "it takes 'rouge1', 'rouge2', 'rougeL', 'rougeLsum'"),
        ("chrf++(word_order=1)", "fixes word_order=2"),
        ("ter(bleu)", "wraps no metric"),
        ("python(bleu)", "takes 'module:function' or 'file.py:function' first"),
        ("python('a:b', wrong=1)", "no option 'wrong'"),
        ("python('a:b', higher_is_better=1)", "it takes True or False"),
        ("python('a:b; import os')", "write module:function or file.py:function"),
    ],
)
def test_wrong_arguments_are_named_with_what_exists(text: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse(text, allow_code=True)
    assert message in str(caught.value)


def test_an_unknown_metric_is_answered_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown metric 'bluee'; did you mean 'bleu'\?"):
        parse("bluee")
    with pytest.raises(UnknownNameError, match="unknown metric 'mets'"):
        parse("mets('comet.tsv')")


@pytest.mark.parametrize("name", ["system.txt", "system a.txt"])
def test_a_file_given_as_a_metric_says_that_references_come_first(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / name).write_text("x\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="references come first: gnomon score REF"):
        parse(name)


def test_code_runs_only_where_it_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine_for_gnomon.py").write_text(
        "def exact(candidate, reference):\n    return candidate == reference\n", encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    path = list(sys.path)
    with pytest.raises(UsageError, match="allow_code="):
        parse("python('mine_for_gnomon:exact')")
    assert "mine_for_gnomon" not in sys.modules
    found = parse("python('mine_for_gnomon:exact', higher_is_better=False)", allow_code=True)
    assert found.name == "exact"
    assert found.spec == "python('mine_for_gnomon:exact', higher_is_better=False)"
    assert parse(found.spec, allow_code=True) == found
    assert sys.path == path
    with pytest.raises(UnknownNameError, match="did you mean 'exact'"):
        parse("python('mine_for_gnomon:exakt')", allow_code=True)
    monkeypatch.delitem(sys.modules, "mine_for_gnomon")


def test_a_module_that_cannot_be_imported_is_named() -> None:
    with pytest.raises(UsageError, match="'no_such_module_here' cannot be imported"):
        parse("python('no_such_module_here:f')", allow_code=True)


def test_metrics_functions_and_specs_resolve_to_metrics() -> None:
    assert resolve("ter") == Ter()
    assert resolve(Ter(no_punct=True)) == Ter(no_punct=True)
    assert resolve(overlap).name == "overlap"
    with pytest.raises(UsageError, match="is no metric"):
        resolve(3)  # type: ignore[arg-type]  # wrong on purpose


def test_every_name_is_described_and_every_built_in_can_be_made() -> None:
    described = {entry.name: entry for entry in describe()}
    assert tuple(described) == names()
    assert described["ter"].options[0] == "normalized=False"
    assert described["ter"].summary.startswith("TER: edits")
    assert described["rouge1"].summary == "short for rouge(type='rouge1')"
    assert {described[name].source for name in ("bleu", "chrf", "rouge", "ter")} == {"built-in"}
    assert parse("rouge") == Rouge()
    assert parse("chrf") == Chrf()


def test_packages_offer_functions_classes_and_objects(offer) -> None:  # type: ignore[no-untyped-def]  # a fixture
    offer(exact_match="offered:overlap", wrapper="offered:Wrapper", made="offered:WRAPPER")
    assert parse("exact-match").spec == "exact-match"
    assert parse("made") is WRAPPER
    wrapped = parse("wrapper(ter, power=2)")
    assert isinstance(wrapped, Wrapper)
    assert (wrapped.inner, wrapped.power) == (Ter(), 2)
    assert set(names()) >= {"exact-match", "wrapper", "made"}
    with pytest.raises(SpecError, match="no option 'pover'; did you mean 'power'"):
        parse("wrapper(ter, pover=2)")
    with pytest.raises(SpecError, match="'exact-match' takes no options"):
        parse("exact-match(x=1)")
    with pytest.raises(UnknownNameError, match="did you mean 'exact-match'"):
        parse("exact-mach")


def test_a_package_cannot_replace_a_built_in_metric(offer, caplog) -> None:  # type: ignore[no-untyped-def]  # fixtures
    offer(ter="offered:overlap")
    assert parse("ter") == Ter()
    assert "offers a metric 'ter' too; it is ignored" in caplog.text
    assert names().count("ter") == 1


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("no_such_module_here:f", "ModuleNotFoundError"),
        ("offered:no_such_name", "AttributeError"),
        ("offered:NOTHING", "neither a metric nor a function"),
        ("builtins:dict", "no dataclass of"),
    ],
)
def test_a_broken_package_is_named_only_when_its_metric_is_asked_for(
    offer,
    value: str,
    problem: str,  # type: ignore[no-untyped-def]  # a fixture
) -> None:
    offer(broken=value)
    assert "broken" in names()
    assert parse("ter") == Ter()
    with pytest.raises(UsageError) as caught:
        parse("broken")
    assert "metric 'broken' of the package" in str(caught.value)
    assert problem in str(caught.value)


def test_two_packages_with_one_name_are_told_apart(offer, caplog, monkeypatch) -> None:  # type: ignore[no-untyped-def]  # fixtures
    points = [
        EntryPoint("twice", "offered:overlap", "gnomon.metrics"),
        EntryPoint("twice", "offered:WRAPPER", "gnomon.metrics"),
    ]
    monkeypatch.setitem(sys.modules, "offered", sys.modules[__name__])
    monkeypatch.setattr(registry, "entry_points", lambda **_: points)
    assert parse("twice").spec == "twice"
    assert "'twice' is offered by" in caplog.text


@pytest.mark.parametrize("name", ["bleu", "python", "chrf++", "two words", "1st"])
def test_a_function_cannot_take_a_name_that_specs_read_otherwise(name: str) -> None:
    with pytest.raises(SpecError, match="name"):
        metric(overlap, name=name)


@pytest.mark.parametrize(
    "spec",
    ["comet22", "COMET-22", "wmt22-comet-da", "Unbabel/wmt22-cometkiwi-da", "cometinho(gpus=1)"],
)
def test_names_of_comets_models_are_answered_by_how_to_convert_them_or_bring_their_scores(spec):
    with pytest.raises(UnknownNameError, match=r"scores\('comet\.json'\)") as error:
        parse(spec)
    assert "unknown" not in str(error.value)
    assert "gnomon setup model" in str(error.value)


@pytest.mark.parametrize("spec", ["comet", "COMET", "comet(device='cpu')"])
def test_comet_without_a_model_says_that_it_wants_one(spec):
    with pytest.raises(SpecError, match=r"comet takes a model first: comet\('FOLDER'\)"):
        parse(spec)


@pytest.mark.parametrize("spec", ["MetricX-24", "BLEURT-20", "gemba_mqm", "yisi"])
def test_metrics_of_other_tools_are_answered_by_how_to_bring_their_scores(spec):
    with pytest.raises(UnknownNameError, match=r"scores\('FILE\.tsv'\)") as error:
        parse(spec)
    assert "unknown" not in str(error.value)


@pytest.mark.parametrize(("spec", "name"), [("MetricX-24", "metricx"), ("BLEURT-20", "bleurt")])
def test_names_of_models_are_answered_by_the_metric_that_takes_their_folder(spec, name):
    with pytest.raises(UnknownNameError, match=rf"{name}\('FOLDER'\)"):
        parse(spec)
    with pytest.raises(SpecError, match=f"{name} takes a model first"):
        parse(name)


@pytest.mark.parametrize("spec", ["bluu", "comprehension", "unity", "gem"])
def test_names_that_nobody_knows_are_still_unknown(spec):
    with pytest.raises(UnknownNameError, match="unknown metric"):
        parse(spec)


@pytest.mark.parametrize("metric", ["bertscore", "xbertscore", "sbert", "moverscore"])
@pytest.mark.parametrize("first", ["'minilm'", "minilm", "'some/folder'"])
def test_a_model_may_come_first_without_its_name(metric, first):
    name = first.strip("'")
    assert parse(f"{metric}({first})").spec == f"{metric}(model='{name}')"


def test_a_model_is_given_once():
    with pytest.raises(SpecError, match="model is given twice"):
        parse("bertscore('minilm', model='other')")

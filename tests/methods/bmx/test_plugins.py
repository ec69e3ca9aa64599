"""Explainers that a package offers by an entry point reach as far as gnomon's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import gnomon as gn
from gnomon import bmx
from gnomon.bmx import explainers
from gnomon.core.errors import SpecError, UnknownNameError, UsageError
from gnomon.metrics import parse
from gnomon.metrics.requirements import requirements
from gnomon.studies import open_engine as engine
from gnomon.studies import plan, read_study, run

if TYPE_CHECKING:
    from pathlib import Path

MODULE = '''
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gnomon.bmx.explainers import PairImportances
from gnomon.metrics import Options


@dataclass(frozen=True)
class Letters(Options):
    """Letters: how many letters a word has."""

    name: ClassVar[str] = "letters"
    blind: ClassVar[bool] = True
    weight: float = 1.0

    @property
    def fields(self):
        return {}

    def bind(self, testset, bound):
        return self

    def look(self, bound, batch, pairs):
        return [PairImportances(*(self._of(side) for side in pair)) for pair in pairs]

    def _of(self, words):
        return np.array([self.weight * len(word) for word in words.words] if words else [])


lost = "no class"
'''


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A package that is installed."""
    place = tmp_path / "installed"
    info = place / "letters-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: letters\nVersion: 1.0\n")
    entries = ("letters = offered_letters:Letters", "lime = offered_letters:Letters")
    broken = ("lost = offered_letters:lost", "absent = no_such_module:Letters")
    lines = "\n".join(["[gnomon.explainers]", *entries, *broken, ""])
    (info / "entry_points.txt").write_text(lines)
    (place / "offered_letters.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(place))


@pytest.fixture
def ts() -> gn.TestSet:
    return gn.TestSet.from_lists({"a": ["the old cat", "a dog"]}, ["the cat", "one dog"])


@pytest.mark.usefixtures("package")
def test_a_packages_explainer_explains_boosts_and_is_judged(ts: gn.TestSet) -> None:
    found = bmx.explanations(ts, "chrf", "letters(weight=2)", sides="candidate")
    assert found.sides[0].importance.tolist() == [6, 6, 6, 2, 6]
    rows = bmx.explain(ts, "chrf", ["letters", "erasure"], faithfulness=True).rows
    assert {row["explainer"] for row in rows} == {"letters", "erasure"}
    (row,) = gn.bmx(ts, "bmx(chrf, explainer='letters', p=1, w=0, sides='candidate')").rows
    assert row["score"] == pytest.approx(2.5)
    assert parse("bmx(chrf, explainer='letters', p=1, w=.5)").spec.startswith("bmx(chrf")


@pytest.mark.usefixtures("package")
def test_a_packages_explainer_is_listed_with_its_package(ts: gn.TestSet) -> None:
    described = {one.name: one.source for one in bmx.describe_explainers()}
    assert (described["letters"], described["lime"]) == ("letters 1.0", "built-in")
    assert bmx.find_explainer("lime").spec == "lime"  # which no package replaces
    (need,) = requirements(bmx.find_explainer("letters"), "en", group=explainers.EXPLAINERS.group)
    assert (need.kind, need.name) == ("package", "letters")


@pytest.mark.usefixtures("package")
def test_a_study_runs_a_packages_explainer(ts: gn.TestSet, tmp_path: Path) -> None:
    ts.write(tmp_path / "set")
    (tmp_path / "s.toml").write_text(
        'metrics = ["chrf"]\n[[testsets]]\npath = "set"\n'
        '[methods.bmx.explain]\nexplainers = "letters"\n'
    )
    assert run(plan(read_study(tmp_path / "s.toml")), engine("here")).failed == {}


@pytest.mark.usefixtures("package")
@pytest.mark.parametrize(
    ("spec", "error", "said"),
    [
        ("lost", UsageError, "of the package letters 1.0"),
        ("absent", UsageError, "No module named 'no_such_module'"),
        ("letters(wait=1)", UnknownNameError, "weight"),
        ("letters(chrf)", SpecError, "options by name only"),
        ("leters", UnknownNameError, "did you mean 'letters'"),
    ],
)
def test_what_a_package_offers_wrongly_is_said(
    spec: str, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        bmx.find_explainer(spec)


def test_without_a_package_its_explainer_is_unknown(ts: gn.TestSet) -> None:
    with pytest.raises(UnknownNameError, match="letters"):
        bmx.explain(ts, "chrf", "letters")


@pytest.mark.usefixtures("package")
def test_the_command_line_lists_a_packages_explainer(capsys: pytest.CaptureFixture[str]) -> None:
    from gnomon.cli import main

    assert main(["list", "explainers", "-f", "tsv"]) == 0
    assert (
        "letters\t\toffered as offered_letters:Letters\tnot known\tletters 1.0"
        in capsys.readouterr().out
    )

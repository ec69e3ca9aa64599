"""Generators by their specs: what there is, what options they have, and those of packages."""

from __future__ import annotations

import inspect
import sys
import types
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import ClassVar

import pytest

import gnomon
from gnomon.cli import main
from gnomon.core.errors import UnknownNameError, UsageError
from gnomon.core.options import fields_of
from gnomon.core.testset import Paraphrase, TestSet
from gnomon.data.formats import read_paraphrases
from gnomon.metrics import catalogue
from gnomon.paraphrase import describe_generators, find_generator
from gnomon.paraphrase.generation import (
    GenerationRequest,
    GeneratorOptions,
    PlainWork,
    generator_classes,
    generator_names,
)


@pytest.mark.parametrize("name", generator_classes())
def test_every_option_of_a_generator_has_help(name: str) -> None:
    kind = generator_classes()[name]
    assert kind.name == name
    assert kind.__doc__
    assert [one.name for one in fields_of(kind).values() if not one.help] == []


def test_a_spec_names_options_and_what_comes_first() -> None:
    found = find_generator("pseudo(chrf, least=20, shared=True)")
    assert (found.quality, found.least, found.shared) == ("chrf", 20.0, True)  # type: ignore[attr-defined]  # its options
    assert find_generator("sampled:top_p=.5,seed=3") == find_generator("sampled(top_p=.5, seed=3)")
    assert find_generator("pseudo('chrf')") == find_generator("pseudo(quality='chrf')")
    with pytest.raises(
        UnknownNameError, match="unknown option of sampled 'beam'; there are: limit"
    ):
        find_generator("sampled(beam=3)")
    with pytest.raises(UsageError, match="is given 'quality' twice"):
        find_generator("pseudo(chrf, quality='ter')")


def test_a_call_in_python_writes_what_the_command_writes(tmp_path: Path) -> None:
    testset = TestSet.from_lists({}, ["the U.S. is here", "no"])
    (tmp_path / "ref.txt").write_text("the U.S. is here\nno\n", encoding="utf-8")
    (tmp_path / "v.txt").write_text("U.S. / USA\n", encoding="utf-8")
    method, files = (
        f"variants('{tmp_path}/v.txt')",
        [tmp_path / name for name in ("a.jsonl", "b.jsonl")],
    )
    known = inspect.signature(gnomon.paraphrase.generate).parameters
    assert {"method", "save", "resume", "n", "model", "filter", "least"} <= set(known)
    found = gnomon.paraphrase.generate(testset, method, save=files[0])
    assert found.tables[0].rows[0]["paraphrases"] == 1
    command = ["paraphrase", "generate", str(tmp_path / "ref.txt"), "--method", method, "-q"]
    assert main([*command, "--save", str(files[1])]) == 0
    assert files[0].read_bytes() == files[1].read_bytes()
    with pytest.raises(UsageError, match="n goes with other methods; variants takes: none"):
        gnomon.paraphrase.generate(testset, method, save=files[0], n=2)
    with pytest.raises(UsageError, match=r"a file name in \.jsonl"):
        gnomon.paraphrase.generate(testset, method, save=tmp_path / "a.txt")


@dataclass(frozen=True)
class Shouting(GeneratorOptions):
    """The references in capitals.

    Attributes:
        mark: what stands at their end.
    """

    name: ClassVar[str] = "shouting"
    mark: str = "!"

    def plan(self, testset: TestSet, request: GenerationRequest) -> PlainWork:
        """What is to be done."""

        def make(part: range) -> list[Paraphrase]:
            (texts,) = testset.references.values()
            said = [(i + 1, texts[i]) for i in part]
            return [Paraphrase(i, text.upper() + self.mark, self.name) for i, text in said if text]

        return PlainWork(testset, self.name, request, make, {"mark": self.mark})


def test_packages_add_generators(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = types.ModuleType("shouting_package")
    module.Shouting = Shouting  # type: ignore[attr-defined]  # what its module holds
    monkeypatch.setitem(sys.modules, "shouting_package", module)
    points = [
        EntryPoint("shouting", "shouting_package:Shouting", "gnomon.generators"),
        EntryPoint("broken", "there_is_no_such_package:x", "gnomon.generators"),
        EntryPoint("beam", "shouting_package:Shouting", "gnomon.generators"),
    ]
    monkeypatch.setattr(
        catalogue, "entry_points", lambda group: [p for p in points if p.group == group]
    )
    assert {*generator_names()} == {*generator_classes(), "broken", "shouting"}
    assert "shouting" in {one.name for one in describe_generators()}
    (tmp_path / "ref.txt").write_text("a b\n", encoding="utf-8")
    saved = str(tmp_path / "p.jsonl")
    base = ["paraphrase", "generate", str(tmp_path / "ref.txt"), "-q", "--save", saved, "--method"]
    assert main([*base, "shouting(mark='?')"]) == 0
    assert [one.text for one in read_paraphrases([saved])] == ["A B?"]
    assert main([*base, "broken"]) == 2
    assert "cannot be used: ModuleNotFoundError" in capsys.readouterr().err
    assert type(find_generator("beam")) is not Shouting

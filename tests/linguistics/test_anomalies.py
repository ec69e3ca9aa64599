"""What looks wrong is said, and nothing else."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest
from tests.told import notes

import gnomon as gn
from gnomon import example
from gnomon.data.formats import sets_in

GREEK = "αλφα βητα γαμμα δελτα εψιλον ζητα ηττα θητα ιωτα καππα λαμδα"


def of_example(**changes: object) -> gn.TestSet:
    """A system, the reference and the source of the bundled example, or what stands for them."""
    testset = gn.TestSet.read(example.path())
    bare = replace(testset, documents=None, domains=None, labels={}, info={}, language_pair=None)
    return replace(bare.select(systems=["apertium-direct"]), **changes)


def parts() -> tuple[list[str], list[str], list[str]]:
    testset = of_example()
    return (
        list(testset.sources or ()),
        [text or "" for text in testset.references["A"]],
        list(testset.systems["apertium-direct"]),
    )


def test_a_system_that_equals_a_reference_is_said() -> None:
    _, reference, output = parts()
    found = notes(of_example(systems={"mine": reference, "other": output}).anomalies)
    assert found == (
        "the output of 'mine' is the same text as the reference 'A'; was one file given twice?",
    )
    twins = of_example(systems={"A": reference, "other": output})  # the reference as a system
    assert notes(twins.anomalies) == ()


def test_swapped_and_foreign_texts_are_said() -> None:
    source, reference, output = parts()
    swapped = of_example(sources=reference, references={"A": source})
    assert "source and references are swapped" in notes(swapped.anomalies)[0]
    wrong = of_example(references={"A": source}, sources=None)
    assert "looks like a different language than the references" in notes(wrong.anomalies)[0]
    given = of_example(references={"A": source}, sources=source)
    assert any("the same text as the source" in one for one in notes(given.anomalies))
    copied = of_example(systems={"copy": source})
    assert any(
        "copy leaves 209 of 209 segments untranslated" in one for one in notes(copied.anomalies)
    )
    assert notes(of_example(systems={"fine": output}).anomalies) == ()


def test_another_script_is_said() -> None:
    source, *_ = parts()
    greek = [f"{GREEK} {i}" for i in range(len(source))]
    found = notes(of_example(systems={"a": greek, "b": greek[::-1]}).anomalies)
    assert "a and b are written in Greek letters, and the references in Latin" in found[0]
    other = notes(of_example(language_pair="es-el").anomalies)
    assert "the reference 'A' is written in Latin letters, which el is not" in other[0]


@pytest.mark.parametrize("segments", [10, 20, 40])
def test_a_few_segments_are_enough_to_see_it_and_do_not_raise_it(segments: int) -> None:
    source, reference, _ = parts()
    whole = gn.TestSet.read(example.path())
    for first in range(0, whole.segments - segments, segments):
        some = range(first, first + segments)
        assert notes(whole.select(segments=some).anomalies) == ()
        swapped = of_example(sources=reference, references={"A": source})
        assert notes(swapped.select(segments=some).anomalies)


def test_names_of_files_that_say_another_role_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("ref", "sysA", "src"):
        (tmp_path / f"{name}.txt").write_text("a b\n", encoding="utf-8")
    with caplog.at_level(logging.WARNING):
        gn.TestSet.from_files(
            references=[tmp_path / "sysA.txt"],
            systems=[tmp_path / "ref.txt", tmp_path / "src.txt"],
        )
    assert "ref is given as a system, and sysA as reference; are they swapped?" in caplog.text
    assert "src is given as a system; the source is named with -s" in caplog.text
    caplog.clear()
    gn.TestSet.from_files(
        references=[tmp_path / "ref.txt"],
        systems=[tmp_path / "sysA.txt"],
        source=tmp_path / "src.txt",
    )
    assert not caplog.records


@pytest.mark.verify
@pytest.mark.slow
def test_no_published_set_is_suspected(shared: Path) -> None:
    looked_at = 0
    for folder in sorted((shared / "data").iterdir()):
        try:
            there = sets_in(folder)
        except gn.GnomonError:
            continue
        for one in there:
            testset = gn.TestSet.read(one.place, language_pair=one.language_pair)
            assert notes(testset.anomalies) == (), one.place
            looked_at += 1
    assert looked_at > 15

from __future__ import annotations

import logging
import os
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon import TestSet
from gnomon.core.errors import DataError, OutputError, UnknownNameError, UsageError
from gnomon.core.human import scale_of
from gnomon.core.spans import MARKERS, ErrorSpan
from gnomon.core.testset import HumanScores, Ranking, SystemInfo
from gnomon.data.formats import read_scores, read_test_set, write_test_set

if TYPE_CHECKING:
    from collections.abc import Mapping

segment = st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"])).filter(
    lambda text: not text.endswith("\r")
)
odd = st.sampled_from(["\u2028", "a\x85b", "\ufeffx", "a\rb", '"q"', "\t", "None", " ", "e\u0301"])
text = segment | odd
cell = st.text(st.characters(exclude_characters="\n\0\t\r", exclude_categories=["Cs"]))
word = st.from_regex(r"[A-Za-zÄé0-9+#-][A-Za-z0-9._ +#-]{0,8}", fullmatch=True).filter(
    lambda name: name.casefold() not in ("system", "document", "domain", "human", "year")
)


def lists(n: int, items: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(items, min_size=n, max_size=n)


def score_of(kind: str) -> st.SearchStrategy[float]:
    return st.just(float("nan")) | st.floats(*scale_of(kind))


def names(low: int, high: int) -> st.SearchStrategy[list[str]]:
    return st.lists(word, min_size=low, max_size=high, unique_by=str.casefold)


@st.composite
def human_scores(
    draw: st.DrawFn, kind: str, systems: list[str], segments: int, rater: str | None
) -> HumanScores:
    level = draw(st.sampled_from(["system", "segment", "document", "domain"]))
    items = tuple(draw(names(1, 3))) if level in ("document", "domain") else ()
    judged = draw(st.lists(st.sampled_from(systems), min_size=1, unique=True))
    width = {"system": 1, "segment": segments}.get(level, len(items))
    values = draw(lists(len(judged), lists(width, score_of(kind))))
    array = np.array(values, dtype=np.float64).reshape(len(judged), width)
    return HumanScores(kind, level, tuple(judged), array, items, rater)


@st.composite
def infos(draw: st.DrawFn) -> SystemInfo:
    extra = draw(st.dictionaries(word, cell.filter(bool), max_size=2))
    fixed = ("year", "architecture", "constrained", "human", "system")
    return SystemInfo(
        year=draw(st.none() | st.integers(0, 3000)),
        architecture=draw(st.none() | cell.filter(bool)),
        constrained=draw(st.none() | st.booleans()),
        human=draw(st.booleans()),
        extra={key: value for key, value in extra.items() if key not in fixed},
    )


@st.composite
def error_spans(
    draw: st.DrawFn, systems: Mapping[str, list[str]], sources: list[str] | None
) -> ErrorSpan:
    system = draw(st.sampled_from(sorted(systems)))
    side = draw(st.sampled_from(["candidate"] if sources is None else ["candidate", "source"]))
    texts = sources if side == "source" and sources is not None else systems[system]
    number = draw(st.integers(0, len(texts) - 1))
    start = draw(st.integers(0, len(texts[number])))
    end = draw(st.integers(start, len(texts[number])))
    rater = draw(st.none() | cell.filter(bool))
    kind = draw(st.sampled_from(["errors", "mqm"]))
    cost = draw(st.none() | st.floats(0, 30))
    sure = draw(st.none() | st.floats(0, 1))
    by = draw(st.sampled_from(MARKERS))
    words = draw(cell), draw(cell)
    return ErrorSpan(system, number, side, start, end, *words, rater, kind, cost, sure, by)


@st.composite
def random_sets(draw: st.DrawFn) -> TestSet:
    n = draw(st.integers(1, 4))
    systems = {name: draw(lists(n, text)) for name in draw(names(1, 4))}
    sources = draw(st.none() | lists(n, text))
    low = 1 if sources is None else 0
    references = {name: draw(lists(n, text | st.none())) for name in draw(names(low, 3))}
    everyone = [*systems, "a judged system without a text"]
    kinds = [(kind, draw(st.none() | word)) for kind in draw(names(0, 3))]
    rows = st.tuples(st.integers(0, n - 1), st.sampled_from(everyone), st.sampled_from(everyone))
    ranked = st.lists(rows, max_size=4).flatmap(
        lambda rows: st.tuples(st.just(tuple(rows)), st.just(()) | st.tuples(*[cell] * len(rows)))
    )
    own = draw(st.lists(st.sampled_from(sorted(systems)), unique=True, max_size=2))
    return TestSet(
        name=draw(segment),
        references=references,
        systems=systems,
        sources=sources,
        language_pair=draw(st.sampled_from([None, "en", "de-en"])),
        info={name: draw(infos()) for name in systems if draw(st.booleans())},
        documents=draw(st.none() | lists(n, cell)),
        domains=draw(st.none() | lists(n, cell)),
        labels={name: draw(lists(n, cell)) for name in draw(names(0, 2))},
        human=tuple(draw(human_scores(kind, everyone, n, rater)) for kind, rater in kinds),
        rankings=tuple(Ranking(f"rank.{kind}", *draw(ranked)) for kind in draw(names(0, 2))),
        errors=tuple(draw(st.lists(error_spans(systems, sources), max_size=3))),
        system_references={s: {"P": draw(lists(n, text | st.none()))} for s in own},
    )


def plain(testset: TestSet, *without: str) -> dict[str, object]:
    """Everything in a test set but its path, in a form that can be compared."""
    parts = {f.name: getattr(testset, f.name) for f in fields(testset) if f.name not in without}
    parts.pop("path")
    for name in ("references", "systems"):
        parts[f"order of {name}"] = list(parts.get(name, ()))
    for name in ("human", "rankings"):
        parts[name] = sorted(map(repr_of, parts[name]))
    parts["info"] = {name: i for name, i in testset.info.items() if i != SystemInfo()}
    parts["errors"] = sorted(map(repr, parts["errors"]))
    return parts


def repr_of(judgement: HumanScores | Ranking) -> str:
    if isinstance(judgement, Ranking):
        return repr(judgement)
    known = (judgement.kind, judgement.level, judgement.systems, judgement.items, judgement.rater)
    return repr((*known, judgement.values.tolist()))


def small(**parts: object) -> TestSet:
    fixed: dict[str, Any] = {"name": "n", "references": {"A": ["x"]}, "systems": {"s": ["y"]}}
    return TestSet(**(fixed | parts))


@given(random_sets(), st.booleans())
def test_a_test_set_that_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, testset: TestSet, compress: bool
) -> None:
    path = tmp_path_factory.mktemp("sets") / "set"
    write_test_set(testset, path, compress=compress)
    assert plain(read_test_set(path)) == plain(testset)


@settings(max_examples=15)
@given(random_sets())
def test_the_same_test_set_gives_the_same_bytes(
    tmp_path_factory: pytest.TempPathFactory, testset: TestSet
) -> None:
    folder = tmp_path_factory.mktemp("sets")
    for name in ("a", "b"):
        write_test_set(testset, folder / name, compress=True)
    files = [file.relative_to(folder / "a") for file in (folder / "a").rglob("*.*")]
    assert files
    for file in files:
        a, b = folder / "a" / file, folder / "b" / file
        assert a.is_dir() or a.read_bytes() == b.read_bytes()


bare = st.from_regex(r"[A-Za-zÄé0-9][A-Za-z0-9_.+#-]{0,8}", fullmatch=True).filter(
    lambda name: name not in ("None", "all", "src")
)


@st.composite
def wmt_sets(draw: st.DrawFn) -> TestSet:
    """Test sets that the layout of mt-metrics-eval can hold."""
    n = draw(st.integers(1, 4))
    listed = st.lists(bare, min_size=1, max_size=3, unique_by=str.casefold)
    systems = sorted(draw(listed))
    refs = sorted({name.replace(".", "_").replace("-", "_") for name in draw(listed)} - {"all"})
    documents = draw(st.none() | lists(n, bare))
    kinds = [(k, lv) for k in draw(listed) for lv in ("system", "segment", "document", "domain")]
    human = []
    for kind, level in draw(st.lists(st.sampled_from(kinds), unique=True, max_size=3)):
        items = {
            "document": tuple(dict.fromkeys(documents or ())),
            "domain": tuple(draw(listed)),
        }.get(level, ())
        width = {"system": 1, "segment": n}.get(level, len(items))
        if width:
            values = np.array(
                draw(lists(len(systems), lists(width, score_of(kind)))), dtype=np.float64
            )
            human.append(HumanScores(kind, level, tuple(systems), values, items))
    return TestSet(
        name="set",
        references={name: draw(lists(n, text)) for name in refs},
        systems={name: draw(lists(n, text)) for name in systems},
        sources=draw(st.none() | lists(n, text)),
        language_pair="de-en",
        documents=documents,
        domains=draw(st.none() | lists(n, bare)),
        human=tuple(human),
    )


@given(wmt_sets())
def test_an_mt_metrics_eval_directory_that_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, testset: TestSet
) -> None:
    path = tmp_path_factory.mktemp("sets") / "set"
    write_test_set(testset, path, layout="mt-metrics-eval")
    again = read_test_set(path / "de-en")
    unordered = ("references", "systems")
    assert plain(replace(again, info={}), *unordered) == plain(testset, *unordered)
    assert dict(again.systems) == dict(testset.systems)
    assert dict(again.references) == dict(testset.references)
    assert {n for n, i in again.info.items() if i.human} == set(again.systems) & set(
        again.references
    )


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"systems": {"s": ["a\nb"]}}, "s.txt: segment 1"),
        ({"systems": {"s": ["a\r"]}}, "must not end in"),
        ({"systems": {"a/b": ["a"]}}, "the system name 'a/b' cannot be a file name"),
        ({"systems": {"..": ["a"]}}, "the system name"),
        ({"systems": {"": ["a"]}}, "the system name"),
        ({"references": {"a\tb": ["a"]}}, "the reference name"),
        ({"labels": {"domain": ["a"]}}, "labels cannot be called 'domain'"),
        ({"labels": {"x": ["a\tb"]}}, "cannot hold a tab"),
        ({"documents": ["a\nb"]}, "no line feed"),
        ({"info": {"s": SystemInfo(extra={"year": "1"})}}, "a fixed column's name"),
        ({"rankings": (Ranking("r", ()), Ranking("r", ()))}, "two sets of judgements"),
        (
            {"human": (HumanScores("k", "system", ("s",), np.ones((1, 1))),) * 2},
            "two sets of scores of one rater",
        ),
        (
            {"human": (HumanScores("../k", "system", ("s",), np.ones((1, 1))),)},
            "the score name",
        ),
        ({"references": {"A": []}, "systems": {}}, "has no segments"),
    ],
)
def test_what_files_cannot_hold_is_refused_and_nothing_is_left(
    tmp_path: Path, parts: dict[str, object], problem: str
) -> None:
    with pytest.raises(DataError, match=problem):
        small(**parts).write(tmp_path / "set")
    assert not list(tmp_path.iterdir())


def test_names_that_the_file_system_confuses_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "exists", lambda self: self.name == "b.txt")
    with pytest.raises(DataError, match=r"cannot tell 'b\.txt'"):
        small(systems={"B": ["x"], "b": ["y"]}).write(tmp_path / "set")


def test_an_empty_directory_is_filled(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    small().write(tmp_path / "set")
    assert TestSet.read(tmp_path / "set").systems == {"s": ("y",)}


def test_what_is_there_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "mine").write_text("x")
    with pytest.raises(OutputError, match="is not empty"):
        small().write(tmp_path / "set")
    with pytest.raises(OutputError, match="is a file"):
        small().write(tmp_path / "set" / "mine")


def test_a_missing_parent_is_said(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="create the folder first"):
        small().write(tmp_path / "no" / "set")


def test_a_link_to_itself_is_no_folder_to_write_to(tmp_path: Path) -> None:
    (tmp_path / "set").symlink_to("set")
    with pytest.raises(OutputError, match="cannot write"):
        small().write(tmp_path / "set")


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match="disk is full"):
        small().write(tmp_path / "set")
    assert not list(tmp_path.iterdir())


def test_an_unknown_layout_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="gnomon, mt-metrics-eval"):
        small().write(tmp_path / "set", layout="wmt")


def test_a_selection_keeps_the_judgements_of_systems_left_out(tmp_path: Path) -> None:
    human = HumanScores("z", "system", ("s", "t"), np.ones((2, 1)))
    testset = small(systems={"s": ["a"], "t": ["b"]}, human=(human,))
    testset.select(systems=["s"]).write(tmp_path / "set")
    again = TestSet.read(tmp_path / "set")
    assert list(again.systems) == ["s"]
    assert again.human[0].systems == ("s", "t")


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"references": {"a.b": ["x"]}}, "the reference name 'a.b'"),
        ({"references": {"a-b": ["x"]}}, "the reference name 'a-b'"),
        ({"references": {"src": ["x"]}}, "the reference name 'src'"),
        ({"references": {"A": [None]}}, "segment 1 lacks reference 'A'"),
        ({"systems": {"a b": ["x"]}}, "the system name 'a b'"),
        ({"documents": ["a b"]}, "the document or domain name 'a b'"),
        (
            {"human": (HumanScores("k", "document", ("s",), np.ones((1, 1)), ("d",)),)},
            "not of the test set's documents",
        ),
    ],
)
def test_what_mt_metrics_eval_cannot_hold_is_refused(
    tmp_path: Path, parts: dict[str, object], problem: str
) -> None:
    with pytest.raises(DataError, match=problem):
        small(language_pair="de-en", **parts).write(tmp_path / "set", layout="mt-metrics-eval")
    assert not list(tmp_path.iterdir())


def test_mt_metrics_eval_needs_a_language_pair(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="language pair of 'n' is not known"):
        small().write(tmp_path / "set", layout="mt-metrics-eval")


def test_what_mt_metrics_eval_lacks_is_left_out_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    testset = small(language_pair="de-en", info={"s": SystemInfo(year=2019)})
    testset = replace(testset, labels={"x": ["1"]}, codes={"sources": {"": ["⟦1⟧"]}})
    testset = replace(testset, logged={"f1": {"s": [0.5]}})
    testset.write(tmp_path / "set", layout="mt-metrics-eval")
    [kept] = (tmp_path / "set" / "metric-scores" / "de-en").iterdir()
    assert read_scores(kept) == {"f1": {("s", 1): 0.5}}
    [warning] = [r.message for r in caplog.records if r.levelno == logging.WARNING]
    assert warning.endswith("what is known of the systems, labels of segments, codes inside texts")


def test_scores_of_logs_and_codes_of_texts_are_written_and_read_again(tmp_path: Path) -> None:
    testset = TestSet(
        "set",
        {"A": ["x", "y"]},
        {"a": ["x", "z"], "b": ["", "y"]},
        sources=["u", "v"],
        logged={"f1": {"a": [0.1, float("1e-9")], "b": [1.0, 0.0]}},
        codes={"sources": {"": ["", "⟦1⟧"]}, "systems": {"a": ["", ""]}},
    )
    testset.write(tmp_path / "set")
    again = TestSet.read(tmp_path / "set")
    assert (again.logged, again.codes) == (testset.logged, testset.codes)
    (tmp_path / "set" / "logged.tsv").write_text("metric\tsystem\tseg\tscore\nf1\ta\t3\t1\n")
    with pytest.raises(DataError, match=r"logged\.tsv:2: seg is '3'"):
        TestSet.read(tmp_path / "set")

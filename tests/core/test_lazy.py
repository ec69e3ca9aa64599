"""What public functions say of arguments of the wrong type."""

from __future__ import annotations

import inspect
import pickle
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gnomon as gn
from gnomon.core.errors import WrongTypeError

PACKAGES = (
    *("bmx", "difficulty", "formats", "judges", "metaeval", "metrics", "muler", "paraphrase"),
    "train",
)


@pytest.fixture(scope="module")
def ts() -> gn.TestSet:
    texts = {"a": ["x y z w", "b c d e"], "b": ["x y z w", "b c d f"]}
    return gn.TestSet.from_lists(texts, ["x y z w", "b c d f"])


def of_testsets() -> Iterator[Any]:
    """The public functions that take a test set, and the place where they take it."""
    for package in PACKAGES:
        home = getattr(gn, package)
        for name in home.__all__:
            function = getattr(home, name)
            if inspect.isfunction(function):
                for place, one in inspect.signature(function).parameters.items():
                    if re.match(r"(Sequence\[)?TestSet\b", str(one.annotation)):
                        yield pytest.param(function, place, id=f"{package}.{name}-{place}")


def fitting(annotation: str, ts: gn.TestSet) -> object:
    kinds = {"TestSet": ts, "Sequence[": [], "Mapping": {}, "Files": [], "Explanations": None}
    return next((value for kind, value in kinds.items() if annotation.startswith(kind)), "text")


@pytest.mark.parametrize(("function", "place"), list(of_testsets()))
def test_every_function_of_a_test_set_says_how_to_read_one(
    ts: gn.TestSet, function: Callable[..., object], place: str
) -> None:
    needed = {
        name: fitting(str(one.annotation), ts)
        for name, one in inspect.signature(function).parameters.items()
        if one.default is one.empty and one.kind is not one.VAR_KEYWORD
    }
    with pytest.raises(WrongTypeError, match=f"{place} must be ") as caught:
        function(**{**needed, place: "newstest2019/de-en"})
    assert "gnomon.TestSet.read('newstest2019/de-en')" in str(caught.value)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda _: gn.score("path", "bleu"), "must be a TestSet; got 'path' (str); read one"),
        (lambda _: gn.compare("path"), "gnomon.TestSet.read('path')"),
        (lambda _: gn.muler("path"), "score: testset must be a TestSet"),
        (lambda _: gn.metaeval("path", ["bleu"]), "must be a TestSet or a list of TestSets"),
        (lambda _: gn.metaeval(["path"], ["bleu"]), "testsets[0] must be a TestSet; got 'path'"),
        (lambda ts: gn.metaeval(ts, levels="system"), "pass ['system']"),
        (lambda ts: gn.compare(ts, baseline=5), "must be a text or None; got 5 (int)"),
        (lambda ts: gn.compare(ts, resamples=1.5), "must be a whole number"),
        (lambda ts: gn.compare(ts, seed="x"), "seed must be a whole number, 0 or more; got 'x'"),
        (lambda ts: gn.compare(ts, confidence="x"), "confidence must be a number"),
        (lambda ts: gn.compare(ts, allow_code="no"), "must be True or False"),
        (lambda ts: gn.muler(ts, features=[5]), "features[0] must be a text; got 5 (int)"),
        (lambda ts: gn.muler(ts, features=["lex:a"], lexicon="a"), "must be a mapping or None"),
        (lambda ts: gn.bmx.explanations(ts, "bleu", systems="a"), "pass ['a']"),
        (lambda ts: gn.metaeval(ts, "bleu", [5]), "gnomon.formats.read_paraphrases"),
        (lambda _: gn.paraphrase.diversity("path"), "sets must be a mapping"),
        (lambda _: gn.study.plan("study.toml"), "gnomon.study.read_study('study.toml')"),
        (lambda _: gn.TestSet.read(5), "path must be a path; got 5 (int)"),
        (lambda _: gn.TestSet.from_files(references=["r"], systems=5), "must be a list of"),
        (lambda ts: ts.select(systems="a"), "pass ['a']"),
        (lambda ts: ts.write(None), "path must be a path; got None"),
        (lambda ts: ts.human_scores(5), "kind must be a text or None"),
        (lambda ts: gn.report.render(ts, "json"), "must be a Finding or a list of Scores"),
        (lambda _: gn.annotate.annotate("text", ["pos:*"]), "texts must be a list of texts"),
        (lambda _: gn.metric(5), "must be a function"),
    ],
)
def test_a_wrong_type_is_named_with_what_is_allowed_and_what_to_do(
    ts: gn.TestSet, call: Callable[[gn.TestSet], object], said: str
) -> None:
    with pytest.raises(WrongTypeError, match=re.escape(said)) as caught:
        call(ts)
    assert isinstance(caught.value, gn.errors.UsageError)
    assert isinstance(caught.value, TypeError)


def test_numbers_and_lists_of_other_libraries_pass(ts: gn.TestSet) -> None:
    assert list(ts.select(systems=np.array(["a"]), segments=np.array([1])).systems) == ["a"]
    one, two = np.int64(50), np.float64(0.9)
    assert gn.compare(ts, "bleu", resamples=one, confidence=two).rows


def test_what_python_itself_says_of_a_call_stays() -> None:
    with pytest.raises(TypeError, match="missing"):
        gn.score()


def test_public_functions_can_be_sent_to_workers() -> None:
    assert pickle.loads(pickle.dumps(gn.score)) is gn.score  # noqa: S301  # our own
    assert gn.score is gn.metrics.score


def test_a_misspelt_name_or_option_is_told_what_was_meant() -> None:
    with pytest.raises(AttributeError, match="no attribute 'compere'; did you mean 'compare'"):
        gn.compere  # noqa: B018
    with pytest.raises(AttributeError, match="'ration'; did you mean 'ratio'"):
        gn.muler.ration  # noqa: B018
    testset = gn.TestSet.from_lists({"a": ["x"], "b": ["y"]}, ["x"])
    with pytest.raises(WrongTypeError, match="takes no 'basline'; did you mean 'baseline'"):
        gn.compare(testset, basline="a")
    with pytest.raises(WrongTypeError, match="takes no 'pth'; did you mean 'path'"):
        gn.formats.read_human(pth="x", testset=testset)

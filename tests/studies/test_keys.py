"""A task's key is made of all that its result depends on, and of nothing else."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gnomon import study
from gnomon.core import registry as methods
from gnomon.core.dependencies import Dependency
from gnomon.core.errors import DataError
from gnomon.studies import needs as _needs
from gnomon.studies.needs import differing, identity, located_spec, step_needs, traits_of
from gnomon.studies.task_runs import Task, execute


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "one"
    (place / "set" / "systems").mkdir(parents=True)
    (place / "set" / "ref.A.txt").write_text("a b\nc d\n")
    for name in ("s", "t"):
        (place / "set" / "systems" / f"{name}.txt").write_text(f"a b\nc {name}\n")
    (place / "own.tsv").write_text("system\tsegment\tscore\ns\t1\t3\ns\t2\t4\nt\t1\t2\nt\t2\t1\n")
    (place / "study.toml").write_text(
        'metrics = ["bleu", "random", "scores(\'own.tsv\')"]\n[[testsets]]\npath = \'set\'\n'
    )
    return place


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """What is known of packages is forgotten before and after."""
    _needs._plain_identity.cache_clear()
    yield
    _needs._plain_identity.cache_clear()


def _tasks(folder: Path) -> dict[str, Task]:
    made = study.plan(study.read_study(folder / "study.toml"))
    return {f"{task.metrics[0]} {task.systems[0]}": task for task in made.tasks}


def _keys(folder: Path) -> dict[str, str]:
    return {name: task.key for name, task in _tasks(folder).items()}


def _changed(before: dict[str, str], after: dict[str, str]) -> set[str]:
    return {name for name in before if before[name] != after[name]}


def test_the_place_of_a_study_does_not_count(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "elsewhere")
    assert _keys(folder) == _keys(tmp_path / "elsewhere")


def test_the_content_of_a_score_file_counts(folder: Path) -> None:
    before = _keys(folder)
    (folder / "own.tsv").write_text((folder / "own.tsv").read_text().replace("3", "5"))
    assert _changed(before, _keys(folder)) == {"scores('own.tsv') s", "scores('own.tsv') t"}


def test_files_in_specs_lie_beside_the_study(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
    made = study.plan(study.read_study(folder / "study.toml"))
    assert study.run(made, study.open_engine("here")).failed == {}
    store = study.Store.open(made.study.store)
    sql = "select system, metric, score from scores where metric like 'scores%' order by 1"
    assert store.query(sql).rows == (
        ("s", "scores('own.tsv')", 3.5),
        ("t", "scores('own.tsv')", 1.5),
    )
    assert str(tmp_path) not in (store.path / "manifest.jsonl").read_text("utf-8")


def _forgotten(*modules: str) -> None:
    """As in a new process."""
    for name in [one for one in sys.modules if one.partition(".")[0] in modules]:
        del sys.modules[name]
    importlib.invalidate_caches()
    _needs._plain_identity.cache_clear()
    traits_of.cache_clear()


_CODE = {
    "own/__init__.py": "",
    "own/metric.py": "from .parts import scale\nfrom constants import FACTOR\n\n"
    "def helper(text):\n    import own.late\n    return own.late.count(text)\n\n"
    "def value(candidate, reference):\n    return scale(helper(candidate)) * FACTOR\n\n"
    "class Stated:\n    def __init__(self, by):\n        self.by = by\n"
    "    def __call__(self, candidate, reference):\n        return self.by\n\n"
    "stated = Stated(2.0)\n",
    "own/parts.py": "def scale(value):\n    return value * 2.0\n",
    "own/late.py": "def count(text):\n    return len(text)\n",
    "constants.py": "import json, numpy\nFACTOR = 3.0\n",
}


@pytest.fixture
def code(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study of functions that take their parts from other modules."""
    monkeypatch.syspath_prepend(str(folder / "code"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    for name, text in _CODE.items():
        (folder / "code" / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / "code" / name).write_text(text)
    _forgotten("own", "constants")
    (folder / "study.toml").write_text(
        "metrics = [\"python('own.metric:value')\", \"python('own.metric:stated')\","
        " \"bmx(python('own.metric:value'))\"]\n"
        "[[testsets]]\npath = 'set'\n[methods.score]\n[methods.muler]\n"
        "scorers = [\"long=python('own.metric:helper')\"]\n"
    )
    return folder


def _keys_of_code(folder: Path) -> set[str]:
    _forgotten("own", "constants")
    read = study.read_study(folder / "study.toml", allow_code=True)
    return {task.key for task in study.plan(read, allow_code=True).tasks}


@pytest.mark.parametrize(
    ("module", "old", "new"),
    [
        ("own/metric.py", "2.0", "4.0"),  # the state of an object
        ("own/metric.py", "(helper", "(1 + helper"),
        ("own/metric.py", "", "__version__ = '2'\n"),
    ],
)
def test_the_code_of_a_function_counts(code: Path, module: str, old: str, new: str) -> None:
    before = _keys_of_code(code)
    assert len(before) == 6 * 2
    file = code / "code" / module
    file.write_text(file.read_text().replace(old, new, 1))
    assert not before & _keys_of_code(code)


def test_the_version_that_a_module_gives_stands_for_its_code(code: Path) -> None:
    file = code / "code" / "own" / "metric.py"
    file.write_text(f"__version__ = '2'\n{file.read_text()}")
    before = _keys_of_code(code)
    file.write_text(file.read_text().replace("2.0", "4.0"))
    assert _keys_of_code(code) == before
    file.write_text(file.read_text().replace("'2'", "'3'"))
    assert not before & _keys_of_code(code)


def test_what_a_function_imports_does_not_count(code: Path) -> None:
    before = _keys_of_code(code)
    (code / "code" / "own" / "late.py").write_text("def count(text):\n    return 1\n")
    (code / "code" / "constants.py").write_text("FACTOR = 4.0\n")
    assert _keys_of_code(code) == before


def test_the_place_of_code_does_not_count(code: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _keys_of_code(code)
    (code / "code").rename(code / "moved")
    monkeypatch.syspath_prepend(str(code / "moved"))
    assert _keys_of_code(code) == before


def test_code_of_scorers_is_not_run_where_that_is_not_allowed(code: Path) -> None:
    _, _, rest = (code / "study.toml").read_text().partition("\n")
    (code / "study.toml").write_text(f"metrics = ['bleu']\n{rest}")
    _forgotten("own", "constants")
    with pytest.raises(DataError, match=r"scorers\[0\]: .*allow_code="):
        study.plan(study.read_study(code / "study.toml"))
    assert "own" not in sys.modules


def test_the_version_of_a_package_counts_where_it_computes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _keys(folder)
    _needs._plain_identity.cache_clear()
    monkeypatch.setattr(_needs, "installed", lambda _: "99")
    assert _changed(before, _keys(folder)) == {"bleu s", "bleu t"}


def _model(folder: Path) -> Path:
    place = folder / "model"
    place.mkdir()
    (place / "config.json").write_text("{}")
    (place / "model.safetensors").write_bytes(b"1")
    return place


def test_the_content_of_a_model_counts(folder: Path) -> None:
    place = _model(folder)
    spec = "bertscore(model='./model', layer=1)"
    (folder / "study.toml").write_text(
        f'metrics = ["bleu", "{spec}"]\n[[testsets]]\npath = "set"\n'
    )
    before = _tasks(folder)
    assert before[f"{spec} s"].made_with[f"model {place}"].startswith("model#")
    (place / "model.safetensors").write_bytes(b"2")
    changed = _changed({k: t.key for k, t in before.items()}, _keys(folder))
    assert changed == {f"{spec} s", f"{spec} t"}


def test_another_model_under_the_same_name_is_refused_by_a_worker(folder: Path) -> None:
    _model(folder)
    (folder / "study.toml").write_text(
        "metrics = [\"bertscore(model='./model', layer=1)\"]\n[[testsets]]\npath = 'set'\n"
    )
    task = next(iter(_tasks(folder).values()))
    (need,) = task.needs
    other = replace(task, needs={need: "model#0000000000000000"})
    with pytest.raises(DataError, match=r"this worker has model .*model#0000000000000000"):
        execute(other)


def test_the_tagger_counts_for_features_that_need_one(folder: Path) -> None:
    (folder / "words.txt").write_text("a\n")
    (folder / "de-en").mkdir()
    shutil.copytree(folder / "set", folder / "de-en", dirs_exist_ok=True)
    (folder / "study.toml").write_text(
        """
metrics = ["bleu"]
[[testsets]]
path = "de-en"
[[methods.muler]]
features = ["pos:NOUN"]
[[methods.muler]]
features = ["lex:w"]
lexicon = {w = "words.txt"}
"""
    )
    made = study.plan(study.read_study(folder / "study.toml"))
    kinds = [sorted(need.kind for need in task.needs) for task in made.tasks]
    assert sorted(kinds) == [["file", "package"]] * 2 + [["package", "tagger"]] * 2


def test_judgements_count_only_for_what_reads_them(folder: Path) -> None:
    text = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(text.replace('"random"', '"difficulty(bleu)"'))
    before = _keys(folder)
    (folder / "set" / "human").mkdir()
    (folder / "set" / "human" / "da.sys.tsv").write_text("system\tscore\ns\t3\nt\t4\n")
    assert _changed(before, _keys(folder)) == {"difficulty(bleu) s"}


def test_a_change_of_one_output_counts_for_its_system(folder: Path) -> None:
    before = _keys(folder)
    (folder / "set" / "systems" / "t.txt").write_text("a b\nc e\n")
    assert _changed(before, _keys(folder)) == {n for n in before if n.endswith(" t")}


def test_metrics_that_look_at_all_systems_are_known() -> None:
    assert not traits_of("bleu", "en").together
    assert not traits_of("bmx(chrf, p=1, w=0.5)", "en").together
    assert traits_of("difficulty(bleu)", "en").together
    assert traits_of("bmx(difficulty(rouge1), p=1, w=0.5)", "en").together


def test_models_of_metrics_and_explainers_are_known() -> None:
    assert Dependency("model", "roberta-large") in traits_of("bertscore", "en").needs
    assert Dependency("model", "bert-base-multilingual-cased") in traits_of("bertscore", "fi").needs
    wrapped = "bmx(bertscore(model='m', revision='r', layer=1), p=1, w=0.5)"
    assert traits_of(wrapped, "en").needs == (Dependency("model", "m", "r"),)
    spec = "bmx(chrf, explainer=\"marginalisation(model='mm')\", p=1, w=0.5)"
    assert set(traits_of(spec, "en").needs) == {
        Dependency("package", "sacrebleu"),
        Dependency("model", "mm"),
    }


@pytest.mark.parametrize(
    ("method", "options", "expected"),
    [
        ("muler", {}, {Dependency("tagger", "en")}),
        ("muler", {"features": ["lex:a", "re:b"]}, set()),
        (
            "muler",
            {"tagger": "spacy:x", "features": ["re:b"]},
            {Dependency("tagger", "spacy:x")},
        ),
        ("difficulty.words", {}, set()),
        ("paraphrase.diversity", {}, set()),
        ("paraphrase.diversity", {"tagger": "x"}, {Dependency("tagger", "x")}),
        ("compare", {}, set()),
    ],
)
def test_results_depend_on_what_options_name(
    method: str, options: dict[str, object], expected: set[Dependency]
) -> None:
    assert {*step_needs(methods.find(method), options, "en", allow_code=False)} == expected


def test_what_is_not_here_has_an_identity_too(tmp_path: Path) -> None:
    for need in (
        Dependency("package", "no-such-package"),
        Dependency("model", str(tmp_path / "none")),
        Dependency("tagger", "spacy:none"),
        Dependency("tagger", "xx"),
        Dependency("file", str(tmp_path / "none")),
    ):
        assert identity(need) == "none"
        assert differing({need: "1"}) == [
            f"has {need.label} none, and the study was planned with 1"
        ]
        assert differing({need: "none"}) == []


def test_only_files_that_are_there_are_located(tmp_path: Path) -> None:
    (tmp_path / "own.tsv").touch()
    for spec in ("bleu", "chrf(word_order=2)", "scores('none.tsv')", "chrf:word_order=2"):
        assert located_spec(spec, tmp_path) == spec
    found = located_spec("difficulty(scores('own.tsv', column='a.b'))", tmp_path)
    assert found == f"difficulty(scores('{tmp_path / 'own.tsv'}', column='a.b'))"


def _wordnet(folder: Path, synonyms: str = "") -> Path:
    """A WordNet without words, or with a noun and its synonym."""
    folder.mkdir(exist_ok=True)
    for part in ("noun", "verb", "adj", "adv"):
        (folder / f"index.{part}").write_text("")
        (folder / f"data.{part}").write_text("")
        (folder / f"{part}.exc").write_text("")
    if synonyms:
        words = synonyms.split()
        lines = [f"{word} n 1 0 1 0 00000000\n" for word in sorted(words)]
        (folder / "index.noun").write_text("".join(lines))
        said = " ".join(f"{word} 0" for word in words)
        (folder / "data.noun").write_text(f"00000000 03 n {len(words):02x} {said} 000 | gloss\n")
    return folder


def test_wordnet_counts_where_meteor_looks_for_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "study.toml").write_text(
        'metrics = ["bleu", "meteor"]\n[[testsets]]\npath = "set"\nlanguage_pair = "de-en"\n'
    )
    keys = []
    for name, synonyms in (("empty", ""), ("small", "c d"), ("copy", "c d")):
        monkeypatch.setenv("WNSEARCHDIR", str(_wordnet(tmp_path / name, synonyms)))
        keys.append(_keys(folder))
    assert _changed(keys[0], keys[1]) == {"meteor s", "meteor t"}
    assert keys[1] == keys[2]  # the place does not count
    (tmp_path / "copy" / "noun.exc").write_text("es e\n")
    assert _changed(keys[2], _keys(folder)) == {"meteor s", "meteor t"}
    (task,) = [one for name, one in _tasks(folder).items() if name == "meteor s"]
    assert "wordnet" in task.made_with
    monkeypatch.setenv("WNSEARCHDIR", str(tmp_path / "empty"))
    with pytest.raises(DataError, match="this worker has wordnet"):
        execute(task)


def test_wordnet_counts_for_english_alone(folder: Path, tmp_path: Path) -> None:
    place = _wordnet(folder / "wn")
    spec = "meteor(wordnet='./wn')"
    for language, kinds in (("de-en", {"package", "wordnet"}), ("en-de", {"package"})):
        (folder / "study.toml").write_text(
            f'metrics = ["{spec}"]\n[[testsets]]\npath = "set"\nlanguage_pair = "{language}"\n'
        )
        tasks = _tasks(folder)
        assert {need.kind for one in tasks.values() for need in one.needs} == kinds
    assert Dependency("wordnet", str(place)) in traits_of(f"meteor(wordnet='{place}')", "en").needs


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("words", "muler]\nfeatures = ['lex:w']\nlexicon = {w = 'words'}"),
        ("rated", "muler]\nfeatures = ['re:x']\npattern = {x = 'a'}\nscorers = ['v=rated']"),
    ],
    ids=["word list", "scorer"],
)
def test_files_in_options_lie_beside_the_study_and_count(
    folder: Path, tmp_path: Path, name: str, method: str
) -> None:
    (folder / "study.toml").write_text(
        f"metrics = ['bleu']\n[[testsets]]\npath = 'set'\n[methods.{method}\n"
    )
    (folder / name).write_text("word\tv\na\t1\n" if "rated" in name else "a\n")
    shutil.copytree(folder, tmp_path / "elsewhere")
    made, before = (study.plan(study.read_study(folder / "study.toml")) for _ in range(2))
    other = study.plan(study.read_study(tmp_path / "elsewhere" / "study.toml"))
    assert {task.key for task in made.tasks} == {task.key for task in other.tasks}
    assert all(str(folder / name) in task.options for task in made.tasks)
    assert all(str(tmp_path) not in task.said for task in made.tasks)
    (folder / name).write_text("word\tv\nb\t2\n" if "rated" in name else "b\n")
    after = study.plan(study.read_study(folder / "study.toml"))
    assert not {task.key for task in before.tasks} & {task.key for task in after.tasks}


def test_words_of_a_list_are_no_files(folder: Path) -> None:
    (folder / "a.b").touch()
    (folder / "vader").touch()
    (folder / "study.toml").write_text(
        "metrics = ['bleu']\n[[testsets]]\npath = 'set'\n[methods.muler]\n"
        "features = ['lex:w']\nlexicon = {w = ['a.b', 'c']}\nscorers = ['sentiment=vader']\n"
    )
    (step,) = study.read_study(folder / "study.toml").steps
    assert step.options["lexicon"] == {"w": ["a.b", "c"]}
    assert step.options["scorers"] == ["sentiment=vader"]


def test_files_of_metrics_are_located_whatever_they_look_like(tmp_path: Path) -> None:
    for name in ("own", "nltk", "wn"):
        (tmp_path / name).touch()
    assert located_spec("scores('own')", tmp_path) == f"scores('{tmp_path / 'own'}')"
    found = located_spec("meteor(alpha=0.8, wordnet='wn')", tmp_path)
    assert found == f"meteor(alpha=0.8, wordnet='{tmp_path / 'wn'}')"


_POOLED = "metrics = ['''difficulty(bleu, pool=\"top:1\", by=\"scores('own.tsv')\")''']"
_SPECS = {"difficulty.score": _POOLED, "difficulty.words": _POOLED}


def _study_of_specs(folder: Path, method: str, options: str) -> None:
    (folder / "set" / "human").mkdir(exist_ok=True)
    (folder / "set" / "human" / "da.seg.tsv").write_text(
        "system\tseg\tscore\ns\t1\t3\ns\t2\t4\nt\t1\t1\nt\t2\t1\n"
    )
    (folder / "study.toml").write_text(
        f"metrics = ['bleu']\n[[testsets]]\npath = 'set'\n[methods.{method}]\n{options}\n"
    )


@pytest.mark.parametrize("method", _SPECS)
@pytest.mark.parametrize("full", [False, True], ids=["beside the study", "in full"])
def test_files_of_metrics_in_options_count(folder: Path, method: str, *, full: bool) -> None:
    own = folder / "own.tsv"
    options = _SPECS[method].replace("own.tsv", str(own)) if full else _SPECS[method]
    _study_of_specs(folder, method, options)
    before = _tasks(folder)
    assert all(Dependency("file", str(own)) in task.needs for task in before.values())
    own.write_text(own.read_text().replace("3", "5"))
    after = _keys(folder)
    assert (
        {name for name, task in before.items() if task.key != after[name]} == set(before) != set()
    )


@pytest.mark.parametrize("method", _SPECS)
def test_the_place_of_metrics_in_options_does_not_count(
    folder: Path, tmp_path: Path, method: str
) -> None:
    _study_of_specs(folder, method, _SPECS[method])
    shutil.copytree(folder, tmp_path / "elsewhere")
    assert _keys(folder) == _keys(tmp_path / "elsewhere")
    for task in _tasks(folder).values():
        assert str(folder / "own.tsv") in str(task.places)
        assert str(tmp_path) not in task.said


def test_a_kind_of_human_scores_among_the_options_is_no_metric(folder: Path) -> None:
    pooled = "metrics = [\"difficulty(bleu, pool='top:1', by='da')\"]"
    _study_of_specs(folder, "difficulty.words", pooled)
    assert all({need.kind for need in one.needs} == {"package"} for one in _tasks(folder).values())


def test_tables_name_metrics_in_options_as_the_study_does(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="needs duckdb: pip install 'gnomon[study]'")
    _study_of_specs(folder, "difficulty.score", _POOLED)
    made = study.plan(study.read_study(folder / "study.toml"))
    assert study.run(made, study.open_engine("here")).failed == {}
    store = study.Store.open(made.study.store)
    assert str(tmp_path) not in (store.path / "manifest.jsonl").read_text("utf-8")
    sql = "select distinct metric from difficulty"
    assert {one for (one,) in store.query(sql).rows} == {
        "difficulty(bleu, pool='top:1', by='scores(\\'own.tsv\\')')",
    }
    assert not [one for (one,) in store.query(sql).rows if str(tmp_path) in one]


@pytest.mark.parametrize(
    ("language", "package"), [("ja", "mecab-python3"), ("ko", "mecab-ko"), ("ja", "ipadic")]
)
def test_the_packages_of_a_tokeniser_count_where_it_is_taken(
    folder: Path, monkeypatch: pytest.MonkeyPatch, language: str, package: str
) -> None:
    (folder / "study.toml").write_text(
        'metrics = ["bleu", "chrf"]\n[[testsets]]\npath = "set"\n'
        f'language_pair = "en-{language}"\n[methods.score]\n[methods.compare]\n'
    )

    def with_version(version: str) -> dict[str, str]:
        def installed(name: str) -> str:
            if name == package and not version:
                raise _needs.PackageNotFoundError(name)
            return version if name == package else "1"

        monkeypatch.setattr(_needs, "installed", installed)
        _needs._plain_identity.cache_clear()
        made = study.plan(study.read_study(folder / "study.toml"))
        return {task.label: task.key for task in made.tasks}

    changed = _changed(with_version(""), with_version("1.0"))
    assert {one.split(" of ")[0] for one in changed} == {"score bleu", "compare bleu, chrf"}
    other = folder / "study.toml"
    other.write_text(other.read_text().replace(f"en-{language}", "en-de"))
    assert not _changed(with_version(""), with_version("1.0"))

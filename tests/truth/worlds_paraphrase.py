"""Worlds of paraphrases: styles that a reference lacks, noise, holes, outputs as references."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
from tests.told import cut_texts
from tests.truth.scripts import damaged, sentences
from tests.truth.worlds import bundled, planted, references, world

import gnomon as gn
from gnomon.core.findings import Finding
from gnomon.core.human import HumanScores
from gnomon.core.records import table
from gnomon.core.testset import Paraphrase
from gnomon.metaeval.agreement_verdict import metaeval_verdict
from gnomon.paraphrase.generation.verdict import GeneratedRow, generate_verdict
from gnomon.paraphrase.training.verdict import Trained, train_verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.messages import Message

_SYSTEMS = 12
_GAINS = [
    "metaeval.gains.differ",
    "metaeval.gains.undecided",
    "metaeval.gains.own_output",
    "metaeval.edits",
]


@cache
def styles(
    segments: int = 90, *, documents: int = 30, systems: int = _SYSTEMS, people: str = "errors"
) -> tuple[gn.TestSet, tuple[Paraphrase, ...]]:
    """Systems that write in one of two styles, the reference in the first, a paraphrase in both.

    Args:
        segments: how many.
        documents: how many, of equal size.
        systems: how many, which make more and more errors.
        people: what people judge by: "errors", or "nothing" (their scores are drawn).
    """
    draw = np.random.default_rng(11)
    own = [[f"w{n}" for n in draw.integers(0, 60, 16)] for _ in range(segments)]
    other = [[f"{word}b" for word in words] for words in own]
    outputs, errors = {}, np.zeros((systems, segments))
    style = draw.permutation(np.linspace(0.1, 0.9, systems))
    for k in range(systems):
        texts = []
        for i in range(segments):
            words = list((other if draw.random() < style[k] else own)[i])
            wrong = draw.random(16) < 0.05 + 0.5 * k / systems
            errors[k, i] = wrong.sum()
            texts.append(
                " ".join("zz" if bad else word for word, bad in zip(words, wrong, strict=True))
            )
        outputs[f"s{k}"] = texts
    said = -errors if people == "errors" else np.random.default_rng(5).normal(size=errors.shape)
    names = tuple(outputs)
    testset = gn.TestSet.from_lists(
        outputs,
        [" ".join(words) for words in own],
        language_pair="de-en",
        documents=[f"d{i * documents // segments}" for i in range(segments)],
        name="styles",
    )
    human = (
        HumanScores("da", "segment", names, said),
        HumanScores("da", "system", names, said.mean(axis=1, keepdims=True)),
    )
    made = tuple(Paraphrase(i + 1, " ".join(words), "human") for i, words in enumerate(other))
    return replace(testset, human=human), made


def gain(testset: gn.TestSet, made: Sequence[Paraphrase], **options: object) -> Finding:
    given = {"statistics": ["pearson"], "groupings": ["none"], "resamples": 200, **options}
    return gn.metaeval(testset, "bleu", list(made), n=[1], **given)


@world(
    "paraphrases in a style that half of the outputs have",
    says=["metaeval.gains.differ"],
    silent=_GAINS,
)
def another_style() -> Finding:
    return gain(*styles())


@world(
    "people's scores are drawn at random",
    says=["metaeval.gains.undecided"],
    silent=_GAINS,
)
def drawn_people() -> Finding:
    return gain(*styles(people="nothing"))


@world(
    "segments of eight documents",
    says=["metaeval.gains.differ", "metaeval.gains.undecided", "data.few"],
    silent=_GAINS,
)
def few_documents() -> Finding:
    return gain(*styles(documents=8))


@world(
    "a tenth of the segments have no paraphrase",
    says=["metaeval.gains.missing"],
    silent=["metaeval.gains.own_output", "data.few"],
)
def holes() -> Finding:
    testset, made = styles()
    return gain(testset, [one for one in made if one.segment % 10])


@world(
    "the outputs of a judged system as paraphrases",
    says=["metaeval.gains.own_output"],
    silent=_GAINS,
)
def own_outputs() -> Finding:
    testset, _ = styles()
    texts = testset.systems["s3"]
    return gain(testset, [Paraphrase(i + 1, text, "s3") for i, text in enumerate(texts)])


@world(
    "people's scores are rates of edits",
    says=["metaeval.edits"],
    silent=_GAINS,
    without=["agrees better"],
)
def edits() -> Finding:
    testset, made = styles()
    human = tuple(replace(one, kind="hter") for one in testset.human)
    return gain(replace(testset, human=human), made)


@world(
    "four systems and twenty segments",
    says=["data.few"],
    silent=_GAINS,
)
def few_systems() -> Finding:
    return gain(*styles(20, documents=20, systems=4))


@world(
    "outputs that are the reference",
    says=["paraphrase.coverage.matches"],
    silent=["paraphrase.coverage.lacks"],
    without=["araphrases"],
)
def nothing_lacks() -> Finding:
    return gn.paraphrase.coverage(planted({"a": references(), "b": references()}, segments=40))


@world(
    "Chinese outputs with nine in ten of the characters",
    says=["paraphrase.coverage.matches"],
    without=["words", "match 1", "match 2", "match 3", "match 4"],
)
def chinese_characters() -> Finding:
    own = sentences("zh", 40)
    outputs = {name: damaged(own, "zh", 0.1, seed) for name, seed in (("甲", 3), ("乙", 4))}
    return gn.paraphrase.coverage(gn.TestSet.from_lists(outputs, own, name="planted"))


@world(
    "systems that share words which references lack",
    says=["paraphrase.coverage.lacks", "paraphrase.coverage.matches"],
    without=["araphrases", "All systems"],
)
def lacking() -> Finding:
    return gn.paraphrase.coverage(bundled())


@world(
    "two systems that share words which references lack",
    says=["paraphrase.coverage.lacks"],
    without=["100%"],
)
def both_systems() -> Finding:
    return gn.paraphrase.coverage(bundled().select(systems=list(bundled().systems)[:2]))


@world(
    "paraphrases beside the reference",
    says=["paraphrase.coverage.matches"],
    silent=["paraphrase.diversity.*"],
)
def coverage() -> Finding:
    return gn.paraphrase.coverage(*styles())


@world(
    "sets of ninety segments",
    says=["paraphrase.diversity.sets"],
    silent=["data.few", "paraphrase.coverage.matches"],
)
def diversity() -> Finding:
    return gn.paraphrase.diversity(styles()[0])


@world(
    "sets of nine segments",
    says=["paraphrase.diversity.sets", "data.few"],
)
def diversity_of_few() -> Finding:
    testset = styles()[0].select(segments=list(range(9)))
    return gn.paraphrase.diversity(testset)


def methods(*made: tuple[str, range, str], segments: int = 60) -> Finding:
    """Adequacy of methods that put a word behind some references."""
    testset = planted({"a": references()}, segments=segments)
    (own,) = testset.references.values()
    every = [
        Paraphrase(i + 1, f"{own[i]} {behind}", name)
        for name, places, behind in made
        for i in places
    ]
    return gn.paraphrase.diversity(every, testset, metrics="chrf")


@world(
    "one method changes a word, the other adds ten",
    says=["paraphrase.adequacy.nearest"],
    silent=["paraphrase.adequacy.*"],
)
def one_nearer() -> Finding:
    return methods(("small", range(60), "qq"), ("large", range(60), "qq " * 10))


@world(
    "two methods that do the same",
    says=["paraphrase.adequacy.undecided"],
    silent=["paraphrase.adequacy.*", "data.few"],
    without=["Paraphrases of different"],
)
def equally_near() -> Finding:
    return methods(("one", range(60), "qq"), ("two", range(60), "zz"))


@world(
    "one method",
    says=["paraphrase.adequacy.undecided"],
    silent=["paraphrase.adequacy.*"],
    without=["cannot tell"],
)
def one_method() -> Finding:
    return methods(("one", range(60), "qq"))


@world(
    "methods of unlike segments",
    says=["paraphrase.adequacy.undecided"],
    silent=["paraphrase.adequacy.*"],
    without=["cannot tell"],
)
def other_segments() -> Finding:
    return methods(("small", range(40), "qq"), ("large", range(20, 60), "qq " * 10))


@world(
    "a method of five segments",
    says=["data.few", "paraphrase.adequacy.undecided"],
    silent=["paraphrase.adequacy.*"],
    without=["cannot tell"],
)
def few_segments() -> Finding:
    return methods(("small", range(60), "qq"), ("few", range(5), "qq " * 10))


def generated(**counts: int) -> list[Message]:
    """What is said of a run that made paraphrases, by its counts."""
    names = ("paraphrases", "segments", "bare", "short", "unreachable", "empty", "copies")
    row = {**dict.fromkeys((*names, "duplicates", "inadequate"), 0), **counts}
    made = table("made", "Made", GeneratedRow, [GeneratedRow(method="beam", **row)])
    return list(generate_verdict(Finding("paraphrase generate", "Made", (made,), {})))


@world(
    "a run that made what was asked for",
    says=["paraphrase.generate.made"],
    silent=["data.*"],
    without=["Caution", "fewer"],
)
def all_made() -> list[Message]:
    return generated(paraphrases=100, segments=20)


@world(
    "a run whose filters left fewer than was asked for",
    says=["paraphrase.generate.made"],
)
def fewer_made() -> list[Message]:
    return generated(paraphrases=90, segments=20, short=10, copies=10)


@world(
    "a run that copied all references",
    says=["paraphrase.generate.made"],
    without=["none was dropped"],
)
def nothing_made() -> list[Message]:
    return generated(copies=100)


def trained(*rows: Trained) -> list[Message]:
    """What is said of runs of training."""
    made = table("training", "A run", Trained, rows)
    return list(train_verdict(Finding("paraphrase train", "A run", (made,), {})))


@world("nothing was trained", silent=["paraphrase.train.trained", "paraphrase.generate.made"])
def no_run() -> list[Message]:
    return trained()


@world("a run of training", says=["paraphrase.train.trained"], silent=["paraphrase.codes.coded"])
def run() -> list[Message]:
    row = Trained(
        folder="made", steps=100, epochs=5, seconds=1.0, loss=1.5, bleu=30.0, stopped="steps"
    )
    return trained(row)


@world("random codes", says=["paraphrase.codes.coded"], without=["separates nothing"])
def codes() -> Finding:
    return coded(k=4)


@world(
    "one code for all sentences",
    says=["paraphrase.codes.coded"],
    without=["one of"],
)
def one_code() -> Finding:
    return coded(k=1)


def coded(k: int) -> Finding:
    """Codes by chance of the references of the example."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "ref.txt"
        file.write_text("\n".join(references()) + "\n", encoding="utf-8")
        return gn.paraphrase.codes([file], kind="random", k=k)


@world(
    "a model that reads the beginnings of texts",
    says=["score.cut"],
    silent=["metaeval.gains.missing", "metaeval.gains.own_output"],
)
def beginnings() -> list[Message]:
    found = gain(*styles())
    return list(metaeval_verdict(replace(found, notices=(cut_texts(3, 90),))))

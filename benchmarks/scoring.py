"""Scores as sacreBLEU defines them, against sacreBLEU.

``python benchmarks/scoring.py`` prints the table and writes it to ``benchmarks/scoring.md``. It
uses WMT19 en-de where the folder named by ``GNOMON_SHARED`` (default ``../shared``) holds it, else
the bundled example. The peer sees texts that it has not seen (its caches are emptied first).
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from _measure import ROUNDS, Row, commands, compare, fresh, program, wmt, write
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp
from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

import gnomon as gn
from gnomon.metrics import bind
from gnomon.metrics.tokenise import tokenise

if TYPE_CHECKING:
    from collections.abc import Callable

#: sacreBLEU's chrF and TER are slow: they score this many segments of each system
_SOME = 200
#: a fresh process that reads a reference and outputs and scores them
_READ = (
    "import sys\nread = lambda file: open(file, newline='\\n').read().split('\\n')[:-1]\n"
    "reference, *outputs = map(read, sys.argv[1:])\n"
)
_FIRST = (
    _READ
    + "import gnomon as gn\n"
    + "systems = {str(n): texts for n, texts in enumerate(outputs)}\n"
    + "gn.score(gn.TestSet.from_lists(systems, reference), 'bleu')"
)
_FIRST_PEER = (
    _READ
    + "from sacrebleu.metrics import BLEU\n"
    + "for texts in outputs: BLEU().corpus_score(texts, [reference])"
)


def empty_caches() -> None:
    """Make sacreBLEU forget the texts of the round before."""
    Tokenizer13a.__call__.cache_clear()
    TokenizerRegexp.__call__.cache_clear()
    TercomTokenizer.__call__.cache_clear()


def sentences(
    task: str,
    data: gn.TestSet,
    spec: str,
    peer: Callable[[], object],
    *,
    with_checks: bool = False,
) -> Row:
    """Sentence scores of all systems; sacreBLEU looks for no wrong files, as ``gn.score`` does."""
    chosen = np.arange(data.segments)
    if "bleu" not in spec:  # spread over the set: its texts may grow or shrink
        chosen = np.linspace(0, data.segments - 1, _SOME).astype(int)
    some = data.select(segments=chosen.tolist())
    references = some.references["A"]

    def theirs() -> object:
        score = peer().sentence_score  # type: ignore[attr-defined]
        return [
            [score(c, [r]).score for c, r in zip(texts, references, strict=True)]
            for texts in some.systems.values()
        ]

    def ours() -> object:
        testset = ready.pop()
        if with_checks:
            return gn.score(testset, spec).segments
        return bind(testset, spec)[1].segments(testset.batch())

    ready = [fresh(data) for _ in range(ROUNDS)]

    def same(found: object, expected: object) -> float:
        from _measure import largest

        return largest(found[:, chosen], expected)  # type: ignore[index]

    k = len(data.systems)
    return compare(
        task,
        "sacreBLEU's `sentence_score`",
        "sentence",
        (ours, k * data.segments),
        (theirs, k * some.segments),
        same=same,
        prepare=empty_caches,
    )


def known_tokens(data: gn.TestSet) -> Row:
    """Sentence scores of texts whose tokens are at hand: integers here, strings there."""
    references = data.references["A"]
    peer = BLEU(effective_order=True, tokenize="none")

    def theirs() -> object:
        return [
            [peer.sentence_score(c, [r]).score for c, r in zip(texts, references, strict=True)]
            for texts in data.systems.values()
        ]

    ready = []
    for _ in range(ROUNDS):
        again = fresh(data)
        _, metric = bind(again, "bleu(tokenize='none')")
        metric.texts.tokens.tokenise(again.batch().texts)  # type: ignore[attr-defined]
        ready.append((metric, again.batch()))

    def ours() -> object:
        metric, batch = ready.pop()
        return metric.segments(batch)

    work = len(data.systems) * data.segments
    return compare(
        f"sentence BLEU, tokens at hand, {len(data.systems)} systems",
        "sacreBLEU's `sentence_score`, `tokenize='none'`",
        "sentence",
        (ours, work),
        (theirs, work),
    )


def tokenised(data: gn.TestSet) -> gn.TestSet:
    """The texts as 13a's tokens with a space between."""

    def joined(texts: list[str]) -> list[str]:
        table = tokenise(texts, "13a")
        return [" ".join(table.strings(number)) for number in range(len(texts))]

    systems = {name: joined(list(texts)) for name, texts in data.systems.items()}
    references = joined([str(text) for text in data.references["A"]])
    return gn.TestSet.from_lists(systems, references, language_pair=data.language_pair)


def error_rates(data: gn.TestSet, one: gn.TestSet) -> list[Row]:
    """TER of sentences, also split by Tercom's rules, and of paragraphs."""
    paragraphs = wmt("wmt24/en-cs", systems=1)
    rules = "ter(normalized=True, no_punct=True, asian_support=True)"
    split = partial(TER, normalized=True, no_punct=True, asian_support=True)
    return [
        sentences(f"sentence TER, {len(data.systems)} systems", data, "ter", TER),
        sentences("sentence TER, 1 system", one, "ter", TER),
        sentences("the same, every rule of Tercom's tokeniser", one, rules, split),
        sentences(f"TER of paragraphs ({paragraphs.name}), 1 system", paragraphs, "ter", TER),
    ]


def files(data: gn.TestSet, folder: Path) -> tuple[Path, list[Path]]:
    """The reference and the systems as files."""
    reference = folder / "ref.txt"
    reference.write_text("".join(f"{t}\n" for t in data.references["A"]), encoding="utf-8")
    systems = []
    for name, texts in data.systems.items():
        systems.append(folder / f"{name}.txt")
        systems[-1].write_text("".join(f"{t}\n" for t in texts), encoding="utf-8")
    return reference, systems


def main() -> None:
    """Measure, print, write the table."""
    data = wmt("wmt19/en-de")
    single = wmt("wmt19/en-de", systems=1)
    k = len(data.systems)
    # imported before the clock runs, as sacreBLEU is
    gn.score(wmt("wmt19/en-de", systems=3, segments=20), "bleu")
    gn.score(wmt("wmt19/en-de", systems=3, segments=20), "chrf")
    gn.score(wmt("wmt19/en-de", systems=3, segments=20), "ter")
    bleu = partial(BLEU, effective_order=True)
    rows = [
        sentences(f"sentence BLEU from raw text, {k} systems", data, "bleu", bleu),
        sentences("sentence BLEU from raw text, 1 system", single, "bleu", bleu),
        sentences(
            f"the same, {k} systems, and a look for wrong files",
            data,
            "bleu",
            bleu,
            with_checks=True,
        ),
        sentences(
            f"sentence BLEU of tokenised text, {k} systems",
            tokenised(data),
            "bleu(tokenize='none')",
            partial(bleu, tokenize="none"),
        ),
        known_tokens(tokenised(data)),
        sentences(f"sentence chrF2, {k} systems", data, "chrf", CHRF),
        *error_rates(data, single),
    ]
    with tempfile.TemporaryDirectory() as folder:
        reference, systems = files(data, Path(folder))
        gnomon, sacrebleu = program("gnomon"), program("sacrebleu")
        base = [reference, "-i"]
        rows += [
            commands(
                f"the command: BLEU of 1 system x {data.segments}",
                "`sacrebleu`",
                [gnomon, "score", *base, systems[0], "-m", "bleu"],
                [sacrebleu, *base, systems[0], "-m", "bleu"],
            ),
            commands(
                f"the command: BLEU and chrF of {k} systems x {data.segments}",
                "`sacrebleu`",
                [gnomon, "score", *base, *systems, "-m", "bleu", "chrf"],
                [sacrebleu, *base, *systems, "-m", "bleu", "chrf"],
                rounds=2,
            ),
            commands(
                f"the first call in a process: BLEU of 3 systems x {data.segments}",
                "sacreBLEU's `corpus_score`",
                [sys.executable, "-c", _FIRST, reference, *systems[:3]],
                [sys.executable, "-c", _FIRST_PEER, reference, *systems[:3]],
            ),
        ]
    note = (
        f"{data.name}, {data.segments} segments; CPU time of one thread per sentence or command,"
        f" medians of {ROUNDS} interleaved rounds (commands: of 5, 2 and 5, after one that does"
        f" not count). sacreBLEU's chrF and TER score {_SOME} segments of each system, spread over"
        " the set."
    )
    write("scoring", rows, note)


if __name__ == "__main__":
    main()

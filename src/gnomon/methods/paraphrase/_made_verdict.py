"""What is said of what was made: constraints, paraphrases, models, codes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.core.verdicts import Claim, amount, counted, listed, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gnomon.core.findings import Finding, Statement

_IN_FULL = 3

_SHARED_WORDS = Claim(
    "paraphrase.constraints.found",
    "At least {share} of the systems use {grams} in {segments} that the references lack; most often"
    " {common}. Whether these are right is for people to say",
    "undecided",
    "counts of n-grams in outputs and references",
)
_VARIANTS = Claim(
    "paraphrase.constraints.variants",
    "The list has variants of words of {segments}, {grams} in all; most often {common}",
    "undecided",
    "counts of variants",
)
_NO_SHARED_WORDS = Claim(
    "paraphrase.constraints.none",
    "No words were found that the references lack",
    "undecided",
    "no n-gram is in enough outputs (or in the list) and in no reference",
)
CONSTRAINTS_CLAIMS = (_SHARED_WORDS, _VARIANTS, _NO_SHARED_WORDS)
_MADE = Claim(
    "paraphrase.generate.made",
    "{method} made {made} of {segments}; {dropped}. Whether they keep the meaning is for gnomon"
    " paraphrase adequacy",
    "undecided",
    "counts of the run",
)
_NOTHING_MADE = Claim(
    "paraphrase.generate.nothing",
    "{method} made no paraphrase; {dropped}",
    "caution",
    "no paraphrase is left",
)
_FEWER_MADE = Claim(
    "paraphrase.generate.fewer",
    "fewer paraphrases were left than were asked for, {times}",
    "caution",
    "counts of the run",
)
GENERATE_CLAIMS = (_MADE, _NOTHING_MADE, _FEWER_MADE)
_PLANNED = Claim(
    "paraphrase.train.plan",
    "Training would take {updates} for each pass over {pairs}, with {dev} held out; nothing was"
    " trained",
    "undecided",
    "counts of the plan",
)
_TRAINED = Claim(
    "paraphrase.train.trained",
    "The model was trained for {updates} ({epochs} whole passes){held_out}. How good its"
    " paraphrases are is not tested",
    "undecided",
    "the last state of the run",
)
TRAIN_CLAIMS = (_PLANNED, _TRAINED)
_CODED = Claim(
    "paraphrase.codes.coded",
    "{coded} of {sentences} of {file} have one of {codes}{spread}",
    "undecided",
    "counts of codes",
)
_ONE_CODE = Claim(
    "paraphrase.codes.one_code",
    "all sentences of {file} that have a code have the same one, which separates nothing",
    "caution",
    "one code is used",
)
CODES_CLAIMS = (_CODED, _ONE_CODE)


def constraints_verdict(finding: Finding) -> Iterator[Statement]:
    """How many n-grams most systems use that references lack, and the commonest."""
    rows = list(enumerate(finding.rows))
    segments = len({row["segment"] for _, row in rows})
    if not rows:
        yield _NO_SHARED_WORDS.said()
        return
    counts: dict[str, int] = {}
    for _, row in rows:
        counts[str(row["constraint"])] = counts.get(str(row["constraint"]), 0) + 1
    counts = {gram: n for gram, n in counts.items() if any(map(str.isalnum, gram))} or counts
    common = sorted(counts, key=lambda gram: -counts[gram])[:3]
    named = listed([f"“{gram}” ({counted(counts[gram], 'time')})" for gram in common])
    shares = [share for _, row in rows if (share := number(row["share"])) is not None]
    yield (_SHARED_WORDS if shares else _VARIANTS).said(
        {finding.tables[0].name: [at for at, _ in rows[:_IN_FULL]]},
        share=f"{min(shares, default=0):.0%}",
        grams=counted(len(rows), "n-gram"),
        segments=counted(segments),
        common=named,
    )


def generate_verdict(finding: Finding) -> Iterator[Statement]:
    """How many paraphrases were made, and how many were dropped."""
    row = finding.rows[0]
    counts = {
        name: int(number(row[name]) or 0)
        for name in ("paraphrases", "segments", "empty", "copies", "duplicates", "inadequate")
    }
    made, segments = counts.pop("paraphrases"), counts.pop("segments")
    dropped = [f"{n:,} {name}" for name, n in counts.items() if n]
    parts: dict[str, Any] = {
        "method": row["method"],
        "segments": counted(segments),
        "dropped": f"dropped: {listed(dropped, most=4)}" if dropped else "none was dropped",
    }
    rows = {finding.tables[0].name: [0]}
    if made:
        yield _MADE.said(rows, made=counted(made, "paraphrase"), **parts)
    else:
        yield _NOTHING_MADE.said(rows, **parts)
    short = int(number(row["short"]) or 0)
    if short:
        yield _FEWER_MADE.said(rows, times=counted(short, "time"))


def train_verdict(finding: Finding) -> Iterator[Statement]:
    """What a model has learnt, or what its training would take."""
    row = finding.rows[0]
    rows = {finding.tables[0].name: [0]}
    if "folder" not in row:
        pairs, dev, steps = (int(number(row[name]) or 0) for name in ("pairs", "dev", "steps"))
        yield _PLANNED.said(
            rows,
            updates=counted(steps, "update"),
            pairs=counted(pairs, "pair"),
            dev=f"{dev:,}",
        )
        return
    steps, epochs = (int(number(row[name]) or 0) for name in ("steps", "epochs"))
    loss, bleu = number(row["loss"]), number(row["bleu"])
    told = [
        *([] if loss is None else [f"a loss of {amount(loss)} nats per piece"]),
        *([] if bleu is None else [f"BLEU {bleu:.1f}"]),
    ]
    yield _TRAINED.said(
        rows,
        updates=counted(steps, "update"),
        epochs=epochs,
        held_out=f"; on pairs that were held out it has {listed(told)}" if told else "",
    )


def codes_verdict(finding: Finding) -> Iterator[Statement]:
    """How evenly sentences spread over codes."""
    for at, row in enumerate(finding.rows):
        n, coded, used = (int(number(row[name]) or 0) for name in ("sentences", "coded", "used"))
        even, largest = number(row["perplexity"]), number(row["largest"])
        if coded and used == 1:
            yield _ONE_CODE.said({finding.tables[0].name: [at]}, file=row["file"])
            continue
        spread = ""
        if even is not None and largest is not None:
            spread = f", as even as {even:.1f} of one size; the commonest has {largest:.1%} of them"
        yield _CODED.said(
            {finding.tables[0].name: [at]},
            coded=f"{coded:,}",
            sentences=counted(n, "sentence"),
            file=row["file"],
            codes=counted(used, "code"),
            spread=spread,
        )

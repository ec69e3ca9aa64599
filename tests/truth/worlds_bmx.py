"""Worlds of `gnomon bmx`: grids of correlations in which it is known what explanations add."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from tests.told import cut_texts
from tests.truth import scripts
from tests.truth.worlds import bundled, outputs, planted, world

import gnomon as gn
from gnomon import bmx
from gnomon.bmx import Experiment, Grids
from gnomon.bmx.verdict import tune_verdict
from gnomon.core.human import HumanScores
from gnomon.core.spans import ErrorSpan
from gnomon.messages import message

if TYPE_CHECKING:
    from gnomon.core.findings import Finding
    from gnomon.messages import Message

P, W = np.array([-1.0, 0.0, 1.0]), np.array([0.0, 0.5, 1.0])
PAIRS = ("de-en", "fr-en", "cs-en", "fi-en", "ru-en")
METRICS = ("chrf", "bleu")
NONE: dict[str, Any] = {"resamples": 0}


def grids(
    gain: float,
    *,
    control: float | None = None,
    scatter: float = 0.01,
    pairs: tuple[str, ...] = PAIRS,
    metrics: tuple[str, ...] = METRICS,
    sides: str = "both",
    seed: int = 1,
) -> Grids:
    """Experiments in which explanations by erasure add so much to the correlation of a metric.

    Args:
        gain: that every w below 1 adds, at every p.
        control: what the random explainer adds; none for no controls.
        scatter: deviation of the gain of language pairs.
        pairs: language pairs.
        metrics: metrics.
        sides: whose words were explained.
        seed: of the scatter.
    """
    draw = np.random.default_rng(seed)
    experiments, correlations = [], []
    explainers = {"erasure": gain, **({} if control is None else {"random": control})}
    for explainer, added in explainers.items():
        for pair in pairs:
            own = added + scatter * draw.normal()
            for metric in metrics:
                experiments.append(Experiment("planted", explainer, metric, pair, sides))
                correlations.append(np.full((len(P), len(W)), 0.5) + own * (W < 1))
    return Grids(tuple(experiments), P, W, np.array(correlations))


def joined(*several: Grids) -> Grids:
    """All experiments of several grids."""
    experiments = tuple(one for grid in several for one in grid.experiments)
    return Grids(experiments, P, W, np.concatenate([grid.correlations for grid in several]))


def tuned(data: Any, **options: Any) -> Finding:
    """What the search finds in grids."""
    return bmx.tune(data, **{**NONE, **options})


@world(
    "explanations that help",
    says=["bmx.tune.differs"],
    silent=["bmx.*"],
    without=["less in r"],
)
def explanations_help() -> Finding:
    return tuned(grids(0.1, control=0.0))


@world(
    "explanations that harm",
    says=["bmx.tune.differs"],
    silent=["bmx.tune.*"],
    without=["more in r"],
)
def explanations_harm() -> Finding:
    return tuned(grids(-0.1))


@world(
    "explanations that harm less than random ones",
    says=["bmx.tune.differs"],
    silent=["bmx.tune.*"],
    without=["With explanations"],
)
def random_ones_harm_more() -> Finding:
    return tuned(grids(-0.1, control=-0.3))


@world("explanations that add nothing", says=["bmx.tune.undecided"], silent=["bmx.tune.*"])
def explanations_add_nothing() -> Finding:
    return tuned(grids(0.0, seed=3))


@world(
    "random numbers that explanations seem to help, beside metrics that they do not",
    says=["bmx.tune.undecided"],
    silent=["bmx.tune.*"],
    without=["15 experiments", "20 experiments"],
)
def a_random_metric_is_a_control() -> Finding:
    return tuned(joined(grids(0.0, seed=3), grids(0.3, metrics=("random", "random(seed=2)"))))


@world(
    "explanations of both sides that help, and of outputs alone that do not",
    says=["bmx.tune.differs", "bmx.tune.undecided"],
    silent=["bmx.tune.*"],
)
def sides_apart() -> Finding:
    return tuned(joined(grids(0.1), grids(0.0, sides="candidate", seed=3)))


def _judged(segments: int = 40) -> gn.TestSet:
    told = bundled().select(
        systems=["apertium-direct", "apertium-french"], segments=list(range(segments))
    )
    chrf = gn.score(told, "chrf").segments
    human = chrf + 5 * np.random.default_rng(1).normal(size=chrf.shape)
    return replace(told, human=(HumanScores("quality", "segment", tuple(told.systems), human),))


@world("one test set", says=["bmx.tune.halves"], silent=["bmx.tune.differs"])
def one_test_set() -> Finding:
    return bmx.tune(_judged(), "chrf", "erasure", resamples=0)


@world(
    "human scores that count edits",
    says=["metaeval.circular"],
    silent=["bmx.tune.*"],
)
def edits() -> Finding:
    told = _judged()
    human = (replace(told.human[0], kind="hter"),)
    return bmx.tune(replace(told, human=human), "chrf", "erasure", resamples=0)


@world(
    "post-edits as references",
    says=["metaeval.circular"],
    silent=["bmx.tune.*"],
)
def post_edits() -> Finding:
    told = _judged()
    references = {"postedit": next(iter(told.references.values()))}
    return bmx.tune(replace(told, references=references), "chrf", "erasure", resamples=0)


@world(
    "human scores that count edits, on one of six test sets",
    says=["metaeval.circular", "bmx.tune.differs"],
    silent=["bmx.tune.undecided"],
)
def edits_on_one_set() -> Finding:
    circular = message("metaeval.circular", metrics=["chrF"], left_out=False, why="edits")
    draw, offsets = np.random.default_rng(4), np.arange(0, 201, 5)
    made = []
    for pair in (*PAIRS, "tr-en"):
        score, shown = draw.normal(size=(2, 40))
        made.append(
            bmx.Explained(
                Experiment("planted", "erasure", "chrf", pair),
                score,
                np.repeat(shown, 5) + 5,
                offsets,
                score + shown + 0.5 * draw.normal(size=40),
                notices=(circular,) if pair == "tr-en" else (),
            )
        )
    return tuned(made)


def _collapsing() -> Finding:
    made = grids(0.1)
    collapsed = np.full((len(made.experiments), len(P)), 0.9)
    return tuned(replace(made, collapsed=collapsed))


@world(
    "importances that are all equal, so that every weight gives the metric",
    says=["bmx.tune.undecided"],
    silent=["bmx.tune.*"],
    without=["above", "below", "less"],
)
def equal_importances() -> Finding:
    draw, offsets = np.random.default_rng(4), np.arange(0, 201, 5)
    scores = {pair: draw.normal(size=40) for pair in PAIRS}
    return tuned(
        [
            bmx.Explained(
                Experiment("planted", "erasure", "chrf", pair),
                score,
                np.full(200, 0.5),
                offsets,
                score + draw.normal(size=40),
            )
            for pair, score in scores.items()
        ]
    )


@world("a power mean that collapses", says=["bmx.tune.collapsed"], silent=["bmx.tune.*"])
def collapsed() -> Finding:
    return _collapsing()


@world("two systems under a boosted metric", says=["score.reranked"], silent=["bmx.score.*"])
def ranks() -> Finding:
    return bmx.score(_judged(10), "chrf")


@world(
    "one system, whose power mean collapses",
    says=["bmx.score.collapsed"],
    silent=["score.reranked"],
)
def collapsed_scores() -> Finding:
    return bmx.score(
        planted({"a": outputs()}, segments=10), "bmx(chrf, explainer='erasure', p=-1.4, w=0.4)"
    )


@world(
    "a metric that reads beginnings alone",
    says=["score.cut"],
    silent=["bmx.tune.undecided"],
)
def cut() -> list[Message]:
    made = tuned(grids(0.1))
    notices = (*made.notices, cut_texts(2, 90))
    return list(tune_verdict(replace(made, notices=notices)))


def marked(
    count: int, *, errors: str, seed: int = 2, documents: int | None = None, systems: str = "a"
) -> Finding:
    """Outputs that lack nothing but one word, which people marked, or another one."""
    told = bundled()
    (texts,) = told.references.values()
    chosen = [str(text) for text in texts if len(str(text).split()) > 6][:count]
    wrong = [" ".join([*(own := text.split())[:3], "zzqx", *own[4:]]) for text in chosen]
    made = planted(dict.fromkeys(systems, wrong), against=chosen)
    spans, draw = [], np.random.default_rng(seed)
    for n, text in enumerate(wrong):
        words = text.split()
        word = words.index("zzqx") if errors == "right" else int(draw.integers(len(words)))
        start = len(" ".join(words[:word])) + (word > 0)
        end = start + len(words[word])
        spans += [ErrorSpan(name, n, "candidate", start, end, "", "major") for name in systems]
    of = None if documents is None else tuple(f"d{n % documents}" for n in range(len(wrong)))
    told = replace(made, errors=tuple(spans), documents=of)
    return bmx.explain(told, "chrf", "erasure", errors=True)


@world(
    "words that people marked and that lower the score",
    says=["bmx.explain.marks", "bmx.explain.words"],
    silent=["data.few"],
    without=["cannot tell", "so few"],
)
def marked_words() -> Finding:
    return marked(40, errors="right")


@world(
    "marks that have nothing to do with what lowers the score",
    says=["bmx.explain.marks"],
    silent=["data.few"],
    without=["above random", "below random", "so few"],
)
def marks_at_random() -> Finding:
    return marked(40, errors="random")


@world(
    "sentences with marked words of ten documents",
    says=["bmx.explain.marks"],
    without=["above random", "below random"],
)
def marks_of_few_documents() -> Finding:
    return marked(40, errors="right", documents=10)


@world(
    "ten sentences with marked words",
    says=["bmx.explain.marks", "data.few"],
    without=["above random", "below random", "cannot tell"],
)
def few_marked_words() -> Finding:
    return marked(10, errors="right")


@world(
    "40 sentences with marked words of ten segments",
    says=["bmx.explain.marks", "data.few"],
    without=["documents", "above random", "below random", "cannot tell"],
)
def marked_words_of_few_segments() -> Finding:
    return marked(10, errors="right", systems="abcd")


@world(
    "outputs that are the references",
    says=["data.few"],
    silent=["bmx.explain.*"],
)
def nothing_lowers_the_score() -> Finding:
    (texts,) = bundled().references.values()
    return bmx.explain(
        planted({"a": [str(text) for text in texts]}, segments=10), "chrf", "erasure"
    )


@world(
    "Chinese characters that lower chrF",
    says=["bmx.explain.words"],
    without=["Words that"],
)
def chinese_characters() -> Finding:
    own = scripts.sentences("zh", 40)
    outputs_made = {"甲": [text[:4] + text[6:] + text[4:6] for text in own]}
    return bmx.explain(gn.TestSet.from_lists(outputs_made, own, name="planted"), "chrf", "erasure")

"""Worlds of what people say: campaigns whose systems differ, or do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from tests.truth.campaigns import campaign, judged, with_judgements
from tests.truth.worlds import world

import gnomon as gn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnomon.core.findings import Finding

_TWO = {"A": 80.0, "B": 60.0}
_EQUAL = {"A": 70.0, "B": 70.0}


@world(
    "two systems far apart",
    says=["human.compare.prefers"],
    silent=["human.compare.*"],
)
def far_apart() -> Finding:
    return gn.human.compare(campaign(_TWO, length=5, leniency=0.5, documents=60))


@world(
    "two equal systems, documents judged as wholes",
    says=["human.compare.undecided", "human.compare.unit"],
    silent=["human.compare.prefers", "human.compare.alike", "data.few"],
)
def equal_systems() -> Finding:
    return gn.human.compare(
        campaign(_EQUAL, together=20, noise=5, length=10, seed=4, leniency=0.0), raters="ignore"
    )


@world(
    "one system better than two others",
    says=["human.compare.prefers"],
    silent=["human.compare.undecided", "human.compare.alike"],
    without=["cannot be told apart"],
)
def one_first() -> Finding:
    return gn.human.compare(campaign({"A": 80, "B": 60, "C": 59}, documents=60))


@world(
    "two systems better than a third",
    says=["human.compare.prefers"],
    silent=["human.compare.undecided", "human.compare.alike"],
    without=["to the next", "prefer A to B", "prefer B to A"],
)
def two_first() -> Finding:
    return gn.human.compare(campaign({"A": 80, "B": 80, "C": 50}, documents=60))


@world(
    "one person scores all outputs of three systems alike",
    says=["human.compare.alike"],
    silent=["human.compare.*"],
    without=["highest"],
)
def one_person_says_the_same() -> Finding:
    return gn.human.compare(
        campaign({"A": 50, "B": 50, "C": 50}, noise=0, raters=1, leniency=0.0, together=0)
    )


@world(
    "one person scores all outputs of two systems alike",
    says=["human.compare.alike"],
    silent=["human.compare.*"],
    without=["higher"],
)
def one_person_says_the_same_of_two() -> Finding:
    return gn.human.compare(
        campaign({"Ä": 50, "乙": 50}, noise=0, raters=1, leniency=0.0, together=0)
    )


@world(
    "three equal systems",
    says=["human.compare.undecided"],
    silent=["human.compare.prefers", "human.compare.against", "human.compare.alike"],
)
def three_equal() -> Finding:
    return gn.human.compare(campaign({"A": 70, "B": 70, "C": 70}))


@world(
    "three systems against a baseline",
    says=["human.compare.against"],
    silent=["human.compare.prefers", "human.compare.undecided"],
)
def against_a_baseline() -> Finding:
    testset = campaign({"A": 80, "B": 60, "C": 40}, documents=60)
    return gn.human.compare(testset, baseline="B")


@world("twelve documents", says=["data.few"], silent=["human.compare.*"])
def few_documents() -> Finding:
    return gn.human.compare(campaign(_TWO, documents=12))


@world(
    "people of its own for each system",
    says=["human.compare.leniency"],
    silent=["human.*"],
    without=["nothing says who judged", "judged one system alone", "prefer"],
)
def own_people() -> Finding:
    said = judged(list(_TWO.values()), documents=60)
    return gn.human.compare(
        with_judgements(["A", "B"], said._replace(rater=said.rater + 100 * said.system))
    )


@world(
    "two pairs of systems, each judged by people of its own",
    says=["human.compare.prefers", "human.compare.leniency"],
    silent=["human.compare.*"],
    without=["prefer A to C", "prefer A to B and", "cannot be told apart"],
)
def people_of_two_pairs() -> Finding:
    said = judged([90, 70, 50, 30], documents=60)
    people = said.rater + 100 * (said.system > 1)
    return gn.human.compare(with_judgements(["A", "B", "C", "D"], said._replace(rater=people)))


@world(
    "two thirds of the raters judge one system",
    says=["human.compare.leniency"],
    silent=["human.*"],
    without=["nothing says who judged", "people of its own", "prefer"],
)
def one_system_each() -> Finding:
    said = judged(list(_TWO.values()), documents=60)
    rater = np.where(said.rater < 4, said.rater, said.rater + 100 * said.system)
    return gn.human.compare(with_judgements(["A", "B"], said._replace(rater=rater)))


@world(
    "nobody says who judged, and in which documents",
    says=["human.compare.leniency", "human.no_documents"],
    silent=["human.compare.raters", "human.compare.unit"],
    without=["judged one system alone", "people of its own", "different segments"],
)
def anonymous() -> Finding:
    return gn.human.compare(campaign(_TWO, named_raters=False, named_documents=False))


@world(
    "each system judged on segments of its own",
    says=["human.compare.undecided", "human.compare.short"],
    silent=["data.few", "human.compare.prefers"],
)
def unequal_segments() -> Finding:
    said = judged([70, 70, 70], documents=60)
    draw = np.random.default_rng(3)
    return gn.human.compare(
        with_judgements(["A", "B", "C"], said, without=draw.random(len(said.score)) < 0.7)
    )


@world(
    "two systems judged in half of the documents each, a third in twelve",
    says=["human.compare.prefers", "data.few"],
    silent=["human.compare.undecided", "human.compare.leniency", "human.compare.short"],
    without=["to B and C", "to C", "A: 12 documents"],
)
def a_third_in_few_documents() -> Finding:
    said = judged([90, 50, 10], documents=60)
    first, last = np.array([[0, 28, 0], [33, 60, 12]])[:, said.system]
    there = (said.document >= first) & (said.document < last)
    return gn.human.compare(with_judgements(["A", "B", "C"], said, without=~there))


@world(
    "the worst outputs of one of two equal systems are not judged",
    says=["human.compare.alike"],
    silent=["human.compare.prefers", "human.compare.raters"],
    without=["different segments"],
)
def bad_ones_not_judged() -> Finding:
    said = judged([70, 70], documents=60, leniency=0.0, together=0.0, noise=0.0)
    worst = said.score < np.quantile(said.score, 0.25)
    return gn.human.compare(with_judgements(["A", "B"], said, without=worst & (said.system == 1)))


def _one_rater(scores: Sequence[Sequence[float]]) -> Finding:
    """Two equal systems; one of twelve people gives each these scores in turn."""
    said = judged([70, 70], documents=60)
    given = np.array(scores)[said.system, said.segment % len(scores[0])]
    score = np.where(said.rater == 3, given, said.score)
    return gn.human.compare(with_judgements(["A", "B"], said._replace(score=score)))


@world(
    "one of twelve people answers by system",
    says=["human.compare.raters"],
    silent=["human.compare.leniency"],
    without=["lowest or the highest"],
)
def one_answers_by_system() -> Finding:
    return _one_rater([[90, 93, 88], [60, 63, 58]])


@world(
    "one of twelve people gives 100 and 0 alone",
    says=["human.compare.raters"],
    silent=["human.compare.leniency"],
    without=["by system"],
)
def one_gives_the_ends_alone() -> Finding:
    return _one_rater([[-99, 199, 199]] * 2)


def _few_to_compare_with(scores: Sequence[Sequence[float]], often: int) -> Finding:
    """Like this answer one of four people, and the others nearly; eight judge too little."""
    said = judged([99, 30], documents=60)
    answers = np.array(scores)[said.system, said.segment % len(scores[0])]
    usual = (said.rater < 4) & (said.segment % 10 < often)
    score = np.where((said.rater == 3) | usual, answers, said.score)
    rater = said.rater + 100 * ((said.rater > 3) & (said.segment % 2 == 1))
    return gn.human.compare(with_judgements(["A", "B"], said._replace(score=score, rater=rater)))


@world(
    "the one who answers by system is like the others whose judgements suffice",
    says=["human.compare.prefers"],
    silent=["human.compare.raters"],
)
def others_answer_by_system() -> Finding:
    return _few_to_compare_with([[99, 98, 97], [30, 31, 32]], often=0)


@world(
    "the one who gives 100 and 0 alone is like the others whose judgements suffice",
    says=["human.compare.prefers"],
    silent=["human.compare.raters"],
)
def others_give_the_ends_alone() -> Finding:
    return _few_to_compare_with([[299, 299, -199], [-199, -199, 299]], often=9)


@world(
    "the second of two planned analyses",
    says=["human.compare.analysis"],
    silent=["data.few", "human.compare.undecided"],
)
def second_look() -> Finding:
    return gn.human.compare(campaign(_TWO, documents=70), interim="2/2")


@world(
    "a plan by a campaign with documents and raters",
    says=["human.plan.takes", "human.plan.shows"],
    silent=["human.plan.*", "human.no_documents"],
)
def plan_by_campaign() -> Finding:
    return gn.human.plan(campaign(_TWO, documents=60), difference=[5])


@world(
    "a plan by a campaign without documents, nor raters, one rater for all systems asked for",
    says=[
        "human.plan.takes",
        "human.no_documents",
        "human.plan.same_rater_unknown",
        "human.plan.shows",
    ],
    silent=["human.plan.*"],
)
def plan_without_documents() -> Finding:
    testset = campaign(_TWO, named_documents=False, named_raters=False)
    return gn.human.plan(testset, difference=[5], same_rater=True)


@world(
    "a plan with analyses, one rater for all systems",
    says=["human.plan.cheaper", "human.plan.takes"],
    silent=["human.no_documents", "human.plan.same_rater_unknown", "human.plan.beyond"],
)
def plan_with_looks() -> Finding:
    return gn.human.plan(protocol="esa", difference=[2], interim_analyses=5, same_rater=True)


@world(
    "a difference that nobody can pay for",
    says=["human.plan.beyond"],
    silent=["human.plan.takes", "human.plan.cheaper", "human.plan.shows"],
)
def plan_beyond() -> Finding:
    return gn.human.plan(protocol="esa", difference=[0.0001])

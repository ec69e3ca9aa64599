"""Worlds of what people say: campaigns whose systems differ, or do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from tests.truth.campaigns import Judged, campaign, judged, with_judgements
from tests.truth.worlds import world

import gnomon as gn

if TYPE_CHECKING:
    from gnomon.core.findings import Finding

_TWO = {"A": 80.0, "B": 60.0}
_EQUAL = {"A": 70.0, "B": 70.0}


@world("two systems far apart", says=["people.compare.prefers"], silent=["people.compare.*"])
def far_apart() -> Finding:
    return gn.people.compare(campaign(_TWO, length=5, leniency=0.5, documents=60))


@world(
    "two equal systems, documents judged as wholes",
    says=["people.compare.undecided", "people.compare.documents"],
    silent=["people.compare.prefers", "people.compare.leads", "people.compare.few"],
)
def equal_systems() -> Finding:
    return gn.people.compare(
        campaign(_EQUAL, together=20, noise=5, length=10, seed=4, leniency=0.0), raters="ignore"
    )


@world(
    "one system better than two others",
    says=["people.compare.first"],
    silent=["people.compare.leads", "people.compare.all_undecided", "people.compare.undecided"],
)
def one_first() -> Finding:
    return gn.people.compare(campaign({"A": 80, "B": 60, "C": 59}, documents=60))


@world(
    "two systems better than a third",
    says=["people.compare.leads"],
    silent=["people.compare.first", "people.compare.all_undecided", "people.compare.prefers"],
)
def two_first() -> Finding:
    return gn.people.compare(campaign({"A": 80, "B": 80, "C": 50}, documents=60))


@world(
    "three equal systems",
    says=["people.compare.all_undecided"],
    silent=["people.compare.first", "people.compare.leads", "people.compare.against"],
)
def three_equal() -> Finding:
    return gn.people.compare(campaign({"A": 70, "B": 70, "C": 70}))


@world(
    "three systems against a baseline",
    says=["people.compare.against"],
    silent=["people.compare.first", "people.compare.leads", "people.compare.all_undecided"],
)
def against_a_baseline() -> Finding:
    testset = campaign({"A": 80, "B": 60, "C": 40}, documents=60)
    return gn.people.compare(testset, baseline="B")


@world(
    "lenient and strict raters",
    says=["people.compare.saves"],
    silent=["people.compare.costs", "people.compare.own_people", "people.compare.no_raters"],
)
def lenient() -> Finding:
    testset = campaign({"A": 80, "B": 60, "C": 50}, leniency=20, together=4, documents=60)
    return gn.people.compare(testset)


@world(
    "raters who do not differ, taken for lenient and strict",
    says=["people.compare.costs"],
    silent=["people.compare.saves"],
)
def alike() -> Finding:
    testset = campaign({"A": 80, "B": 60}, leniency=0, raters=40, documents=40, together=15)
    return gn.people.compare(testset, raters="adjust", ridge=0.001)


@world("twelve documents", says=["people.compare.few"], silent=["people.compare.*"])
def few_documents() -> Finding:
    return gn.people.compare(campaign(_TWO, documents=12))


@world(
    "documents of very different length",
    says=["people.compare.effective"],
    silent=["people.compare.few", "people.compare.no_documents"],
)
def uneven() -> Finding:
    said = judged(list(_TWO.values()), documents=30, length=10)
    small = said.document > 5
    kept = ~small | (said.segment % 10 == 0)
    numbers = np.unique(said.segment[kept])
    shorter = Judged(*(part[kept] for part in said))
    shorter = shorter._replace(segment=np.searchsorted(numbers, shorter.segment))
    return gn.people.compare(with_judgements(["A", "B"], shorter))


@world(
    "people of its own for each system",
    says=["people.compare.own_people"],
    silent=["people.compare.one_system", "people.compare.saves", "people.compare.no_raters"],
)
def own_people() -> Finding:
    said = judged(list(_TWO.values()), documents=60)
    return gn.people.compare(
        with_judgements(["A", "B"], said._replace(rater=said.rater + 100 * said.system))
    )


@world(
    "two thirds of the raters judge one system",
    says=["people.compare.one_system"],
    silent=["people.compare.own_people", "people.compare.saves", "people.compare.no_raters"],
)
def one_system_each() -> Finding:
    said = judged(list(_TWO.values()), documents=60)
    rater = np.where(said.rater < 4, said.rater, said.rater + 100 * said.system)
    return gn.people.compare(with_judgements(["A", "B"], said._replace(rater=rater)))


@world(
    "nobody says who judged, and in which documents",
    says=["people.compare.no_raters", "people.compare.no_documents"],
    silent=["people.compare.own_people", "people.compare.documents", "people.compare.effective"],
)
def anonymous() -> Finding:
    return gn.people.compare(campaign(_TWO, named_raters=False, named_documents=False))


@world(
    "a metric of random numbers",
    says=["people.compare.flat"],
    silent=["people.compare.costs"],
)
def random_metric() -> Finding:
    def numbers(candidate: str, _reference: str) -> float:
        return -float(candidate.endswith("A"))  # constant within each system

    testset = campaign({"A": 80, "B": 60}, leniency=0)
    return gn.people.compare(testset, numbers, raters="ignore")


@world(
    "each system judged on segments of its own",
    says=["people.compare.unequal"],
    silent=["people.compare.few", "people.compare.prefers"],
)
def unequal_segments() -> Finding:
    said = judged([70, 70, 70], documents=60)
    draw = np.random.default_rng(3)
    return gn.people.compare(
        with_judgements(["A", "B", "C"], said, without=draw.random(len(said.score)) < 0.7)
    )


@world(
    "ninety segments",
    says=["people.compare.single"],
    silent=["people.compare.few", "people.compare.unequal"],
)
def ninety_segments() -> Finding:
    return gn.people.compare(campaign(_TWO, documents=45, length=2))


@world(
    "the second of two planned looks",
    says=["people.compare.look"],
    silent=["people.compare.few", "people.compare.undecided"],
)
def second_look() -> Finding:
    return gn.people.compare(campaign(_TWO, documents=70), look="2/2")


@world(
    "a plan by a campaign with documents and raters",
    says=["people.plan.takes", "people.plan.interval", "people.plan.shows"],
    silent=["people.plan.*"],
)
def plan_by_campaign() -> Finding:
    return gn.people.plan(campaign(_TWO, documents=60), difference=[5])


@world(
    "a plan by a campaign without documents, nor raters, one rater for all systems asked for",
    says=[
        "people.plan.takes",
        "people.plan.no_documents",
        "people.plan.same_rater_unknown",
        "people.plan.interval",
        "people.plan.shows",
    ],
    silent=["people.plan.*"],
)
def plan_without_documents() -> Finding:
    testset = campaign(_TWO, named_documents=False, named_raters=False)
    return gn.people.plan(testset, difference=[5], same_rater=True)


@world(
    "a plan with looks, one rater for all systems",
    says=["people.plan.looks", "people.plan.same_rater", "people.plan.takes"],
    silent=["people.plan.no_documents", "people.plan.same_rater_unknown", "people.plan.beyond"],
)
def plan_with_looks() -> Finding:
    return gn.people.plan(protocol="esa", difference=[2], looks=5, same_rater=True)


@world(
    "a difference that nobody can pay for",
    says=["people.plan.beyond"],
    silent=["people.plan.takes", "people.plan.looks", "people.plan.interval", "people.plan.shows"],
)
def plan_beyond() -> Finding:
    return gn.people.plan(protocol="esa", difference=[0.0001])

"""Worlds of trained metrics and of a study's pages: what was learnt, and what is said of all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from tests.truth.worlds import world

from gnomon.core.findings import Finding
from gnomon.core.records import columns_of, table
from gnomon.studies.folder import FinishedTask
from gnomon.studies.study_pages import untested
from gnomon.train.rows import HeldOutRow, LearnedSetRow, TrainedMetricRow
from gnomon.train.verdict import train_metric_verdict

if TYPE_CHECKING:
    from gnomon.core.records import Record
    from gnomon.messages import Message

R = TypeVar("R", bound="Record")


def row(kind: type[R], **cells: Any) -> R:
    """A row whose other cells are 0."""
    return kind(**{**dict.fromkeys((column.name for column in columns_of(kind)), 0), **cells})


def trained(
    r: float | None,
    ends: tuple[float, float] = (0.4, 0.6),
    *,
    chrf: float = 0.3,
    lead: tuple[float, float] = (0.1, 0.3),
    groups: int = 40,
    stopped: str = "patience",
) -> list[Message]:
    """What is said of a metric that has this r on what was held out, where chrF has another."""
    shared = {"test_set": "set", "human": "da", "outputs": 200, "groups": groups}
    learned = {"metric": "comet('made')", "pearson": r, "intervals": {"pearson": ends}}
    chrf_row = {"metric": "chrf", "pearson": chrf, "intervals": {"difference": lead}}
    held = [
        row(HeldOutRow, **shared, **learned, difference=None),
        row(HeldOutRow, **shared, **chrf_row, difference=(r or 0) - chrf),
    ]
    made = row(TrainedMetricRow, folder="made", stopped=stopped, best=5, passes=5)
    tables = (
        table("metric", "Metric", TrainedMetricRow, [made]),
        table("held_out", "Held out", HeldOutRow, held, confidence=0.95),
        table("sets", "Sets", LearnedSetRow, [row(LearnedSetRow, test_set="set", human="da")]),
    )
    return list(train_metric_verdict(Finding("train metric", "Metric", tables, {})))


@world(
    "a metric that leads on the outputs that chose its pass",
    says=["train.metric.held_out"],
    silent=["train.metric.*"],
    without=["better"],
)
def leads() -> list[Message]:
    return trained(0.5)


@world(
    "a metric that chrF beats on the outputs that chose its pass",
    says=["train.metric.held_out", "train.metric.worse"],
    silent=["train.metric.*"],
)
def is_beaten() -> list[Message]:
    return trained(0.5, chrf=0.7, lead=(-0.3, -0.1))


@world(
    "the same, of eight documents",
    says=["train.metric.held_out"],
    silent=["train.metric.*"],
)
def of_few_documents() -> list[Message]:
    return trained(0.5, chrf=0.7, lead=(-0.3, -0.1), groups=8)


@world(
    "a metric that says one thing of all outputs",
    says=["train.metric.nothing"],
    silent=["train.metric.*"],
    without=["may be 0"],
)
def learnt_nothing() -> list[Message]:
    return trained(None)


@world(
    "a metric of chance, in the last of its passes",
    says=["train.metric.held_out", "train.metric.nothing", "train.metric.last_pass"],
    silent=["train.metric.*"],
    without=["nothing was learnt"],
)
def learnt_little() -> list[Message]:
    return trained(0.05, (-0.1, 0.2), stopped="epochs")


def task(*systems: str) -> FinishedTask:
    """A task of a study that said nothing."""
    return FinishedTask(
        key="-".join(systems),
        method="muler",
        testset="set",
        metrics=("bleu",),
        systems=systems,
        rows={},
        checksums={},
        schemas={},
        notices=(),
        signatures={},
        seconds=1.0,
        made_with={},
        gnomon="",
        finished="",
        options="",
    )


@world(
    "a study that looked at systems one by one",
    says=["study.one_by_one"],
    silent=["train.metric.*"],
    without=["together = true", "[methods"],
)
def one_by_one() -> list[Message]:
    return [said for one in untested("set", [task("a"), task("b")]) for said in one.verdict]


@world(
    "a study that looked at systems together, or at one alone",
    silent=["study.one_by_one"],
)
def together() -> list[Message]:
    tasks = ([task("a", "b")], [task("a")])
    return [said for done in tasks for one in untested("set", done) for said in one.verdict]

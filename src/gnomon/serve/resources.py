"""Requests and answers of the API: each structure once, read by its types and described by them."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from gnomon.serve.comparison import USUAL_METRICS, GateRequest, Spec
from gnomon.serve.job_table import JobState  # noqa: TC001  # msgspec reads it
from gnomon.serve.problems import MessageData  # noqa: TC001  # msgspec reads it

__all__ = [
    "ComparisonData",
    "ComparisonRequest",
    "GateData",
    "StepData",
    "VerdictData",
]

Pair = Annotated[str, Meta(pattern=r"^[a-z]{2,3}(_[A-Za-z]+)?(-[a-z]{2,3}(_[A-Za-z]+)?)?$")]


class ComparisonRequest(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The request of a comparison of texts; everything has a default."""

    title: Annotated[str, Meta(max_length=200, description="What to call the comparison.")] = ""
    language_pair: Annotated[
        Pair | None,
        Meta(description="As de-en, or en where the source's language is not known."),
    ] = None
    metrics: Annotated[
        list[Spec],
        Meta(min_length=1, max_length=20, description="Specs of metrics, as chrf(word_order=2)."),
    ] = msgspec.field(default_factory=lambda: [*USUAL_METRICS])
    methods: Annotated[
        list[Literal["muler", "score"]], Meta(description="What runs after the comparison.")
    ] = []
    gate: GateRequest | None = None


class StepData(msgspec.Struct, kw_only=True):
    """The progress of one method."""

    method: str
    title: str
    state: JobState
    stage: str = ""
    done: int = 0
    total: int = 0
    said: Annotated[str, Meta(description="Why it was refused, or failed.")] = ""
    remedy: Annotated[str | None, Meta(description="What to do about it.")] = None


class VerdictData(msgspec.Struct, kw_only=True):
    """A method's verdict."""

    method: str
    title: str
    sentences: list[MessageData]


class GateData(msgspec.Struct, kw_only=True):
    """The outcome of a comparison's gate."""

    state: Annotated[
        Literal["waiting", "passed", "failed", "undecided"],
        Meta(description="Not decided: the texts do not allow to say whether an output is worse."),
    ]
    said: Annotated[str, Meta(description="What failed, or why nothing can be said.")] = ""


class ComparisonData(msgspec.Struct, kw_only=True):
    """A comparison: how far it is, and what was found."""

    id: Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]
    title: str
    state: JobState
    made: Annotated[str, Meta(description="When, in UTC.")]
    page: Annotated[str, Meta(description="The address of its page, below that of the server.")]
    systems: list[str]
    metrics: list[str]
    language_pair: str | None = None
    segments: int = 0
    ahead: Annotated[
        int | None, Meta(description="How many run or start before it, while it is queued.")
    ] = None
    steps: list[StepData] = []
    verdict: Annotated[
        list[VerdictData], Meta(description="What was found so far, method by method.")
    ] = []
    gate: GateData | None = None

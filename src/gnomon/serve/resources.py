"""What the API takes and gives: each structure once, read by its types and described by them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from gnomon.serve.comparison import USUAL_METRICS
from gnomon.serve.job_table import JobState  # noqa: TC001  # msgspec reads it
from gnomon.serve.problems import MessageData  # noqa: TC001  # msgspec reads it

__all__ = [
    "ComparisonData",
    "ComparisonRequest",
    "GateData",
    "GateDifference",
    "GateRequest",
    "StepData",
    "TextRequest",
    "VerdictData",
]

Name = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^\S(.*\S)?$")]
Spec = Annotated[str, Meta(min_length=1, max_length=1000)]
Pair = Annotated[str, Meta(pattern=r"^[a-z]{2,3}(_[A-Za-z]+)?(-[a-z]{2,3}(_[A-Za-z]+)?)?$")]
Draws = Annotated[int, Meta(ge=0, le=10_000)]
Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]
First = Annotated[int, Meta(ge=1, le=10_000_000)]
Texts = Annotated[list[str], Meta(min_length=1)]


class GateRequest(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """When a comparison counts as failed: an output is significantly worse than the baseline."""

    baseline: Annotated[
        Name | None,
        Meta(description="The system that no other may be worse than; needed for three or more."),
    ] = None
    metrics: Annotated[
        list[Spec],
        Meta(description="The metrics that decide; all of the request by default."),
    ] = []
    min_drop: Annotated[
        float, Meta(ge=0, description="Smallest drop that fails, in units of the metric.")
    ] = 0.0


class ComparisonRequest(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What is asked of texts; everything has a default."""

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
        dict[str, dict[str, Any]],
        Meta(description="Further methods with their options; compare comes first."),
    ] = {}
    resamples: Annotated[Draws | None, Meta(description="Draws for intervals and tests.")] = None
    seed: Annotated[Seed | None, Meta(description="Of all draws.")] = None
    first: Annotated[First | None, Meta(description="How many segments, from the first.")] = None
    gate: GateRequest | None = None


class TextRequest(ComparisonRequest, kw_only=True, forbid_unknown_fields=True):
    """A comparison with its texts, segment by segment; all have as many."""

    references: Annotated[
        dict[Name, Texts], Meta(min_length=1, description="Good translations, by name.")
    ]
    outputs: Annotated[
        dict[Name, Texts], Meta(min_length=1, description="The translations to compare, by system.")
    ]
    source: Annotated[Texts | None, Meta(description="The original text.")] = None


class StepData(msgspec.Struct, kw_only=True):
    """How far one method is."""

    method: str
    title: str
    state: JobState
    stage: str = ""
    done: int = 0
    total: int = 0
    said: Annotated[str, Meta(description="Why it was refused, or failed.")] = ""
    remedy: Annotated[str | None, Meta(description="What to do about it.")] = None


class VerdictData(msgspec.Struct, kw_only=True):
    """What a method found."""

    method: str
    title: str
    sentences: list[MessageData]


class GateDifference(msgspec.Struct, kw_only=True):
    """A system beside the baseline of a gate, under one metric."""

    system: str
    metric: str
    difference: Annotated[float | None, Meta(description="In units of the metric.")]
    low: float | None
    high: float | None
    p: Annotated[float | None, Meta(description="Corrected for the number of comparisons.")]
    verdict: str | None


class GateData(msgspec.Struct, kw_only=True):
    """Whether a comparison passed its gate."""

    state: Annotated[
        Literal["waiting", "passed", "failed", "undecided"],
        Meta(description="Not decided: the texts do not allow to say whether an output is worse."),
    ]
    said: Annotated[str, Meta(description="What failed, or why nothing can be said.")] = ""
    baseline: str | None = None
    differences: list[GateDifference] = []


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

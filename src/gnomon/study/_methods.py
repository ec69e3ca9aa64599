"""Which methods a study can run: all that take a test set and give scores or a finding."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Union

from gnomon import methods
from gnomon.errors import UnknownNameError
from gnomon.study._types import file_type, hint_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gnomon.faults import Fault
    from gnomon.stored import Marker, Standing, StoredRows, StoredView


#: names of files in a study, where a method takes what these hold
_FILES: Any = Union[str, Sequence[str]]  # noqa: UP007  # a value

#: options that belong to a run and not to a study
_OF_THE_RUN = frozenset(
    {
        *("allow_code", "cache", "paraphrased", "paraphrases", "progress", "save"),
        *("segment_scores", "systems", "testset", "testsets"),
        # what files of scores say, a study names by specs and test sets
        *("human_format", "lower_is_better", "score_column", "scores"),
    }
)


@dataclass(frozen=True)
class Method:
    """How a study calls a method.

    Attributes:
        function: where it lives, ``module:name``.
        tables: what its tables are called in a store, by their names within a finding; the first
            table of a finding is under "".
        metrics: how it takes metrics: one per call, all at once, or not at all.
        parameter: the name of its parameter for metrics.
        given: what its first arguments are: a test "set"; the set without "paraphrases" and all of
            these; the sets of "wordings" among references, paraphrases and outputs; or the set
            "before and after" paraphrases.
        by_system: what it says of a system does not depend on the other systems.
        human: it reads people's scores; or the option that makes it read them.
        judged: it has nothing to say where people said nothing.
        systems: it needs systems.
        tagged: it looks at linguistic features.
        reuses: whether it takes scores of other tasks: of all metrics, or of those "costly" ones
            whose corpus scores are means.
        specs: its options that are specs of metrics, or lists of them.
        more: a typed dictionary of further options, ``module:name``.
        usual: options that a study sets otherwise than the function does.
        check: where the function lives that tells what the method would refuse, ``module:name``; it
            takes the outline of a test set (None: not known yet), the metrics under the method's
            own name for them, and options by name, and yields faults.
    """

    function: str
    tables: Mapping[str, str]
    metrics: Literal["one", "all", "none"] = "one"
    parameter: str = "metric"
    given: Literal["set", "paraphrases", "wordings", "before and after"] = "set"
    by_system: bool = False
    human: bool | str = False
    judged: bool = False
    systems: bool = True
    tagged: bool = False
    reuses: Literal["", "all", "costly"] = ""
    specs: tuple[str, ...] = ()
    more: str = ""
    usual: Mapping[str, object] = field(default_factory=dict)
    check: str = ""

    @property
    def paraphrased(self) -> bool:
        """Whether it has nothing to say without paraphrases."""
        return self.given in ("paraphrases", "before and after")

    def reads_people(self, options: Mapping[str, object]) -> bool:
        """Whether what people said goes into the results."""
        return bool(options.get(self.human)) if isinstance(self.human, str) else self.human

    def load(self) -> Callable[..., Any]:
        """The function itself."""
        found: Callable[..., Any] = _load(self.function)
        return found

    @property
    def registered(self) -> methods.Method | None:
        """What the registry says of it, where it is there."""
        found: methods.Method | None = getattr(self.load(), "method", None)
        return found

    def checks(self) -> Callable[..., Iterator[Fault]]:
        """The function that tells what the method would refuse."""
        made = getattr(self.load(), "method", None)
        if made is not None:
            return lambda outline, **options: made.faults(outline, options)
        found: Callable[..., Iterator[Fault]] = _load(self.check)
        return found

    def table(self, name: str, *, first: bool) -> str:
        """What a table of a finding is called in a store."""
        main = self.tables[""]
        return main if first else self.tables.get(name, f"{main}_{name.replace(' ', '_')}")


# segments to be read by people are not kept: a page reads the texts themselves
_NO_EXAMPLES: Mapping[str, object] = {"examples": 0}

METHODS: Mapping[str, Method] = {
    "score": Method(
        "gnomon.metrics:score",
        {"": "scores", "segments": "segments"},
        parameter="metrics",
        by_system=True,
        check="gnomon.metrics.registry:check_score",
    ),
    "muler.score": Method(
        "gnomon.muler:score",
        {"": "muler"},
        parameter="metrics",
        by_system=True,
        tagged=True,
        usual=_NO_EXAMPLES,
        check="gnomon.muler._score:check_score",
    ),
    "muler.sentences": Method(
        "gnomon.muler:sentences",
        {"": "muler_sentences"},
        metrics="none",
        by_system=True,
        tagged=True,
        usual=_NO_EXAMPLES,
        check="gnomon.muler._sentences:check_sentences",
    ),
    "muler.discrepancy": Method(
        "gnomon.muler:discrepancy",
        {"": "muler_discrepancy"},
        metrics="none",
        by_system=True,
        tagged=True,
        check="gnomon.muler._discrepancy:check_discrepancy",
    ),
    "muler.validate.range": Method(
        "gnomon.muler.validate:range",
        {"": "muler_range"},
        parameter="metrics",
        by_system=True,
        tagged=True,
        check="gnomon.muler.validate._initials:check_parts",
    ),
    "muler.validate.frequency": Method(
        "gnomon.muler.validate:frequency",
        {"": "muler_frequency"},
        parameter="metrics",
        by_system=True,
        tagged=True,
        check="gnomon.muler.validate._initials:check_parts",
    ),
    "muler.validate.specificity": Method(
        "gnomon.muler.validate:specificity",
        {"": "muler_specificity"},
        parameter="metrics",
        by_system=True,
        tagged=True,
        check="gnomon.muler.validate._specificity:check_specificity",
    ),
    "difficulty.score": Method(
        "gnomon.difficulty:score",
        {"": "difficulty"},
        parameter="metrics",
        human=True,
        specs=("other_metrics", "pool_by"),
        check="gnomon.difficulty._requests:check_score",
    ),
    "difficulty.words": Method(
        "gnomon.difficulty:words",
        {"": "difficulty_words"},
        parameter="metrics",
        human=True,
        specs=("pool_by",),
        usual={**_NO_EXAMPLES, "occurrences": True},
        check="gnomon.difficulty._requests:check_words",
    ),
    "bmx.explain": Method(
        "gnomon.bmx:explain",
        {"": "importance"},
        parameter="metrics",
        by_system=True,
        human="errors",
        usual={"examples": 0},
        check="gnomon.bmx._explain:check_explain",
    ),
    "paraphrase.gain": Method(
        "gnomon.paraphrase:gain",
        {"": "paraphrase_gain"},
        metrics="all",
        parameter="metrics",
        given="paraphrases",
        human=True,
        specs=("adequacy",),
        check="gnomon.paraphrase.gains._gain:check_gain",
    ),
    "paraphrase.diversity": Method(
        "gnomon.paraphrase:diversity",
        {"": "paraphrase_diversity"},
        metrics="none",
        given="wordings",
        systems=False,
        check="gnomon.paraphrase._diversity:check_diversity",
    ),
    "paraphrase.coverage": Method(
        "gnomon.paraphrase:coverage",
        {"": "paraphrase_coverage"},
        metrics="none",
        given="before and after",
        check="gnomon.paraphrase._coverage:check_coverage",
    ),
    "metaeval": Method(
        "gnomon.metaeval:metaeval",
        {"": "agreement"},
        metrics="all",
        parameter="metrics",
        human=True,
        judged=True,
        reuses="all",
        check="gnomon.metaeval.agreement:check_metaeval",
    ),
    "compare": Method(
        "gnomon.metaeval:compare",
        {"": "comparisons"},
        metrics="all",
        parameter="metrics",
        reuses="costly",
        check="gnomon.metaeval.comparison:check_compare",
    ),
}


def method(name: str) -> Method:
    """The method of that name.

    Raises:
        UnknownNameError: a study has no such method.
    """
    if name not in METHODS:
        raise UnknownNameError("method of a study", name, METHODS)
    return METHODS[name]


@cache
def options_of(name: str) -> Mapping[str, inspect.Parameter]:
    """The options of a method that a study may set, beside its metrics."""
    found = method(name)
    own = inspect.signature(found.load()).parameters.values()
    named = [one for one in own if one.kind is one.KEYWORD_ONLY or one.default is not one.empty]
    left_out = _OF_THE_RUN | ({found.parameter} if found.metrics != "none" else set())
    further = _load(found.more).__annotations__ if found.more else ()
    more = [inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=None) for key in further]
    return {one.name: one for one in (*named, *more) if one.name not in left_out}


@cache
def hints_of(name: str) -> Mapping[str, Any]:
    """The types of the options that a study may set, as far as files can give them."""
    found = method(name)
    made = getattr(found.load(), "method", None)
    if made is not None:
        hints = {key: file_type(made.options[key].kind) for key in options_of(name)}
        return hints | {key: _FILES for key in ("labels", "trees") if key in hints}
    home = vars(importlib.import_module(inspect.unwrap(found.load()).__module__))
    further = _load(found.more).__annotations__ if found.more else {}
    said = {key: one.annotation for key, one in options_of(name).items()}
    hints = {key: hint_of(further.get(key, one), home) for key, one in said.items()}
    return hints | {key: _FILES for key in ("labels", "trees") if key in hints}


class StoredSide(NamedTuple):
    """What a study shows of a method's rows beside the tables themselves.

    Attributes:
        answers: the question that it answers; empty where that is not known.
        tagged: it looks at linguistic features.
        views: further tables of its rows.
        marks: what marks texts.
        standing: how good systems are.
    """

    answers: str = ""
    tagged: bool = False
    views: tuple[StoredView, ...] = ()
    marks: Callable[[StoredRows], Marker | None] | None = None
    standing: Standing | None = None


@cache
def stored_side(name: str) -> StoredSide:
    """What a method declares of its rows in a store; nothing where it is not installed here."""
    if name not in methods.names():
        return StoredSide()
    found = methods.find(name)
    return StoredSide(found.answers, found.tagged, found.views, found.marks, found.standing)


def _load(place: str) -> Any:  # whatever stands there
    module, name = place.split(":")
    return getattr(importlib.import_module(module), name)

"""Test sets: texts, translations, and human judgements of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from gnomon.core import notebook
from gnomon.core.batch import Batch
from gnomon.core.errors import (
    DataError,
    FormatError,
    LengthMismatchError,
    UnknownNameError,
    UsageError,
)
from gnomon.core.human import (
    LEVELS,
    HumanScores,
    Judgements,
    OutputLookedAt,
    Ranking,
    RepeatedScore,
    kinds,
    only_kind,
    scale_of,
    segment_scores,
    select_segments,
    system_scores,
)
from gnomon.core.lazy import checked
from gnomon.core.manifest import imported
from gnomon.core.outline import outline_of
from gnomon.core.scores import list_names
from gnomon.core.scripts import unspaced_language
from gnomon.core.signature import content_hash
from gnomon.core.spans import ErrorSpan
from gnomon.messages import noted
from gnomon.messages.audiences import Named

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    import numpy as np
    from numpy.typing import NDArray

    from gnomon.core.alignments import Alignment
    from gnomon.core.outline import Outline
    from gnomon.messages import Message

__all__ = [
    "ErrorSpan",
    "HumanScores",
    "Paraphrase",
    "ParaphraseSet",
    "Ranking",
    "SystemInfo",
    "TestSet",
    "TestSetSummary",
]

T = TypeVar("T")

_SHOWN_KINDS = 6
_HUNDRED = 100


@dataclass(frozen=True)
class SystemInfo:
    """Facts of a system beside its output.

    Attributes:
        year: year of the submission.
        architecture: free text ("transformer", "rule-based").
        constrained: trained on the data of the task only.
        human: the "system" is a human translator.
        extra: further columns of ``systems.tsv``.
    """

    year: int | None = None
    architecture: str | None = None
    constrained: bool | None = None
    human: bool = False
    extra: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Paraphrase:
    """A further reference for one segment.

    Attributes:
        segment: 1-based segment.
        text: the paraphrase.
        method: how it was made ("beam", "human", "pseudo").
        system: the only system that it is a reference for; ``None``: for all.
        score: what the maker says of it; higher is better.
        seed: seed of its maker, if that draws.
        model: the model or command that made it.
        path: the file that it was read from.
        line: its 1-based line there.
    """

    segment: int
    text: str
    method: str = "paraphrase"
    system: str | None = None
    score: float | None = None
    seed: int | None = None
    model: str | None = None
    path: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)

    def error(self, problem: str) -> DataError:
        """An error that names file and line, where it was read from a file."""
        if not self.path:
            return DataError(f"paraphrase {self.text[:40]!r} ({self.method}): {problem}")
        return FormatError(problem, path=self.path, line=self.line)


@dataclass(frozen=True)
class ParaphraseSet:
    """The paraphrases of one method among the references of a test set."""

    method: str  # how they were made
    n: int  # how many a segment has at most (and a system, if they are output-specific)
    count: int  # how many there are
    segments: int  # how many segments have one
    identity: str  # hash of their texts and places; equal paraphrases have equal ones

    def __str__(self) -> str:
        """The form of signatures: ``METHOD*N@HASH``."""
        return f"{self.method}*{self.n}@{self.identity}"


@dataclass(frozen=True)
class TestSetSummary:
    """Counts of a test set; see :meth:`TestSet.summary`."""

    name: str
    language_pair: str | None
    segments: int
    sources: bool
    references: Mapping[str, int]
    systems: int
    human_systems: int
    documents: int
    domains: tuple[str, ...]
    human_scores: tuple[str, ...]
    empty: Mapping[str, int]


@dataclass(frozen=True, repr=False)
class TestSet:
    """Sources, references and the outputs of systems, segment by segment. Immutable.

    Lengths are checked here, once: whatever takes a test set may rely on them.

    Attributes:
        name: what to call it in tables.
        references: name -> one text per segment; ``None`` where a segment lacks this reference.
        systems: name -> one text per segment.
        sources: one text per segment, or none.
        language_pair: "de-en", or a single language "en", or unknown.
        info: what is known of the systems, by name.
        documents: the document of each segment.
        domains: the domain of each segment.
        labels: further labels of the segments, by kind.
        human: scores that people gave.
        rankings: relative rankings that people gave.
        errors: error spans that people marked.
        looked_at: outputs that somebody looked at for errors, be there one or none, where nothing
            else says so.
        repeated: scores beyond those of ``human``, of outputs that a person scored again.
        logged: scores that came with the outputs (in the log of an evaluation), metric -> system ->
            one per segment; NaN where there is none.
        codes: placeholders of what stands inside the texts and is none (``⟦1⟧``), of "sources"
            (under ""), "references" and "systems" that may have some: name -> one per segment.
        units: of systems that were read from a file of translation units, system -> the file -> the
            id of the unit of each segment.
        system_references: references of one system alone (output-specific paraphrases), system ->
            reference name -> texts; these come beside ``references``.
        path: the file or directory that it was read from.
        paraphrases: which references are paraphrases: reference name -> method.
        alignments: how outputs were joined and cut that had more or fewer lines, by system.

    Raises:
        LengthMismatchError: two parts have unequal numbers of segments.
        DataError: there is no reference and no source, a part is given for an unknown system, or
            references or systems are no mapping from names to texts.
    """

    __test__ = False  # pytest: this is no test

    name: str
    references: Mapping[str, Sequence[str | None]]
    systems: Mapping[str, Sequence[str]]
    sources: Sequence[str] | None = None
    language_pair: str | None = None
    info: Mapping[str, SystemInfo] = field(default_factory=dict)
    documents: Sequence[str] | None = None
    domains: Sequence[str] | None = None
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    human: tuple[HumanScores, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    errors: tuple[ErrorSpan, ...] = ()
    system_references: Mapping[str, Mapping[str, Sequence[str | None]]] = field(
        default_factory=dict
    )
    path: str | None = None
    paraphrases: Mapping[str, str] = field(default_factory=dict)
    looked_at: tuple[OutputLookedAt, ...] = ()
    repeated: tuple[RepeatedScore, ...] = ()
    logged: Mapping[str, Mapping[str, Sequence[float]]] = field(default_factory=dict)
    codes: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    alignments: Mapping[str, Alignment] = field(default_factory=dict)
    units: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _freeze(self)
        _check_types(self)
        _check_parts(self)

    def __hash__(self) -> int:
        by_name = (frozenset(self.references.items()), frozenset(self.systems.items()))
        return hash((self.name, self.language_pair, self.sources, self.documents, *by_name))

    def __getstate__(self) -> dict[str, object]:
        """The fields that were given; computed ones are left out, but the script of the whole."""
        names = (*(part.name for part in fields(self)), "_written_in")
        return {n: _unfreeze_views(self.__dict__[n]) for n in names if n in self.__dict__}

    def __setstate__(self, state: Mapping[str, object]) -> None:
        self.__dict__.update(state)
        _freeze(self)

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        *,
        language_pair: str | None = None,
        systems: Sequence[str] | None = None,
        references: Sequence[str] | None = None,
        human: Literal["all", "readable"] = "all",
    ) -> TestSet:
        """Read a test set: a directory, or a set as its publisher distributes it.

        Args:
            path: a directory in gnomon's layout or mt-metrics-eval's, where ``DIR/de-en`` names
                one pair; or a file or directory of a published format (``gnomon list formats``).
            language_pair: which pair, where the directory holds several.
            systems: names of the systems to read, in the order wanted; all by default.
            references: names of the references to read; all by default.
            human: "readable" leaves out files of human judgements, beside the texts, that cannot
                be read, with a warning.

        Raises:
            MissingFileError: there is no such file or directory.
            FormatError: a file is not UTF-8, is binary, or is not of its format.
            DataError: no references are there, or counts differ.
            UnknownNameError: a named system or reference is not there.
            UsageError: several sets are there.
        """
        return _reader("gnomon.data.formats:read_test_set")(
            path,
            language_pair=language_pair,
            systems=systems,
            references=references,
            human=human,
        )

    @classmethod
    def from_files(
        cls,
        *,
        references: Sequence[str | PathLike[str]],
        systems: Sequence[str | PathLike[str]],
        source: str | PathLike[str] | None = None,
        language_pair: str | None = None,
    ) -> TestSet:
        """Read plain text files of one segment per line (``.gz`` allowed, ``-`` = standard input).

        A system's name is its file name without ``.txt`` and ``.gz``. A folder among ``systems``
        stands for all files in it.

        Raises:
            MissingFileError: a file is missing.
            FormatError: a file is not UTF-8, or is binary.
            LengthMismatchError: files have unequal numbers of lines; both are named.
            DataError: two systems have the same name.
        """
        return _reader("gnomon.data.formats:read_plain")(
            references=references, systems=systems, source=source, language_pair=language_pair
        )

    @classmethod
    def from_lists(
        cls,
        systems: Mapping[str, Sequence[str]],
        references: Sequence[str] | Sequence[Sequence[str | None]],
        *,
        sources: Sequence[str] | None = None,
        language_pair: str | None = None,
        name: str = "test set",
        documents: Sequence[str] | None = None,
        domains: Sequence[str] | None = None,
    ) -> TestSet:
        """Build a test set from Python lists.

        Args:
            systems: name -> one text per segment.
            references: one text per segment, or, sentence-major, one list of texts per segment
                (lists may differ in length). Transposed lists are recognised by their shape, and
                so cannot be where there are as many references as segments.
            sources: one text per segment.
            language_pair: "de-en" or "en".
            name: what to call it.
            documents: the document of each segment.
            domains: the domain of each segment.

        Raises:
            DataError: the references are transposed (one list per reference).
            LengthMismatchError: unequal numbers of segments.

        >>> ts = TestSet.from_lists({"a": ["x y"]}, [["x y", "x z"]])
        >>> list(ts.references)
        ['1', '2']
        """
        _check_lists(systems, references)
        return cls(
            name=name,
            references=_name_references(references, systems),
            systems=systems,
            sources=sources,
            language_pair=language_pair,
            documents=documents,
            domains=domains,
        )

    @classmethod
    def from_frame(
        cls,
        frame: object,
        *,
        reference: str | Sequence[str] | Mapping[str, str] = (),
        systems: str | Sequence[str] | Mapping[str, str] = (),
        source: str | None = None,
        system_column: str | None = None,
        candidate: str | None = None,
        segment_column: str | None = None,
        document: str | None = None,
        domain: str | None = None,
        labels: Sequence[str] | Mapping[str, str] = (),
        language_pair: str | None = None,
        name: str = "data frame",
    ) -> TestSet:
        """Build a test set from a data frame: a row per segment, or per system and segment.

        ``a.b`` names the key ``b`` inside the column ``a`` (``translation.de``). Where neither
        source nor reference is named, columns of the usual names are taken: source or src,
        reference or ref, mt.

        Args:
            frame: of pandas, polars or pyarrow, a data set of Hugging Face, a mapping of columns
                to lists, or a list of mappings. NaN and None in a reference say that the segment
                lacks it.
            reference: column of the reference; several, or name -> column, for several references.
            systems: columns of the systems likewise, for one row per segment.
            source: column of the sources.
            system_column: column of the system's name, for one row per system and segment.
            candidate: column of the output, with ``system_column``.
            segment_column: column that names the segment, with ``system_column``.
            document: column of the documents.
            domain: column of the domains.
            labels: columns of further labels, or name -> column.
            language_pair: "de-en" or "en".
            name: what to call the test set.

        Raises:
            UsageError: it is no data frame, or the columns do not make a test set.
            FormatError: a column is missing, or a cell holds something else than a text.
            DataError: it has no rows, or systems have unequal numbers of segments.

        >>> ts = TestSet.from_frame({"ref": ["x y"], "a": ["x"]}, reference="ref", systems=["a"])
        >>> ts
        <TestSet 'data frame': 1 segment, 1 reference, 1 system>
        """
        return _reader("gnomon.data.formats:read_frame")(
            frame,
            name=name,
            source=source,
            references=[reference] if isinstance(reference, str) else reference,
            systems=[systems] if isinstance(systems, str) else systems,
            system_column=system_column,
            candidate=candidate,
            segment_column=segment_column,
            document=document,
            domain=domain,
            labels=labels,
            language_pair=language_pair,
        )

    def write(self, path: str | PathLike[str], *, layout: str = "gnomon") -> None:
        """Write the test set as a directory.

        Args:
            path: a directory that does not exist yet, or is empty.
            layout: "gnomon" or "mt-metrics-eval".

        Raises:
            OutputError: the directory cannot be written, or is not empty.
            UsageError: the layout is unknown, or needs a language pair that is not given.
        """
        imported("gnomon.data.formats:write_test_set")(self, path, layout=layout)

    def align(
        self,
        outputs: Mapping[str, Sequence[str]] | Sequence[str | PathLike[str]],
        *,
        by: str | PathLike[str] | None = None,
        model: str | None = None,
    ) -> TestSet:
        """The same test set with further outputs, which may have more or fewer lines than segments.

        Lines are joined, cut, left out and added where that makes them most like a guide; see
        ``alignments``. Outputs with a line for each segment stay as they are.

        Args:
            outputs: files, or lines by the name of their system.
            by: the guide: a file or the name of a text of the test set, or "source"; by default the
                system most like the first reference, else this reference, else the source.
            model: an encoder of sentences in both languages, for sources; by default a common one
                if it is there, else lengths count.

        Raises:
            LengthMismatchError: an output leaves out more than half of the segments.
            DataError: more than a quarter of its boundaries are uncertain, its segments stand in
                another order, there is nothing to align it with, or a system of the name is there.

        >>> ts = TestSet.from_lists({}, ["The sun rises.", "The moon sets."])
        >>> both = ts.align({"a": ["The sun rises. The moon sets."]})
        >>> both.systems["a"]
        ('The sun rises.', 'The moon sets.')
        """
        align = _reader("gnomon.alignment.aligning:align_outputs")
        return align(self, outputs, by=by, model=model)

    def with_human(
        self, judgements: Judgements | str | PathLike[str], **options: object
    ) -> TestSet:
        """The same test set with what people said of it, from a file or as it was read.

        Args:
            judgements: a file of any format that :func:`gnomon.formats.read_human` knows, or what
                that function gave.
            options: of ``read_human``: ``format``, ``kind``, ``weights``, ``rename``, ...

        Raises:
            DataError: scores or rankings of this kind (level, rater) are there already.
            GnomonError: whatever ``read_human`` finds wrong in the file.
        """
        if isinstance(judgements, Judgements):
            if options:
                raise UsageError(f"{', '.join(options)}: options are for a file, not Judgements")
            new = judgements
        else:
            new = imported("gnomon.data.formats:read_human")(judgements, self, **options)
        _check_new(self, new)
        return replace(
            self,
            human=self.human + new.scores,
            rankings=self.rankings + new.rankings,
            errors=self.errors + new.errors,
            looked_at=self.looked_at + new.looked_at,
            repeated=self.repeated + new.repeated,
        )

    def human_kinds(self, level: str | None = None) -> tuple[str, ...]:
        """The kinds of human scores at a level; at system level, segment scores count too."""
        return kinds(self.human, level)

    def human_raters(self, kind: str, level: str = "segment") -> tuple[str, ...]:
        """The raters who can be told apart in the scores of a kind."""
        fitting = (h.rater for h in self.human if (h.kind, h.level) == (kind, level))
        return tuple(rater for rater in fitting if rater is not None)

    @checked
    def human_scores(
        self,
        kind: str | None = None,
        level: str = "segment",
        *,
        rater: str | None = None,
        systems: Sequence[str] | None = None,
    ) -> NDArray[np.float64]:
        """People's scores, in the order of the systems; NaN where there are none.

        Args:
            kind: "mqm", "da-z", ...; may be left out where there is only one.
            level: "segment" or "system". System scores that no file gives are the mean over the
                segments that were scored.
            rater: one rater's scores; by default those of all together (the file's own mean, or
                the mean over the raters who scored the segment).
            systems: which systems, in which order; those of the test set by default. Systems
                that people judged but that have no text may be named.

        Returns:
            float64 [K, N] at segment level, float64 [K] at system level. A system without any
            human score is a row of NaN.

        Raises:
            DataError: there are no human scores, or several kinds and none was named.
            UnknownNameError: there is no such kind, level, rater or system.
        """
        if level not in ("segment", "system"):
            raise UnknownNameError("level", level, ("segment", "system"))
        name = only_kind(kind, kinds(self.human, level), f"human {level} scores")
        take = segment_scores if level == "segment" else system_scores
        scores = cast("HumanScores", take(self.human, name, rater))
        for system in systems or ():
            if system not in self.systems and system not in scores.systems:
                raise UnknownNameError("system", system, (*self.systems, *scores.systems))
        values = scores.aligned(list(self.systems) if systems is None else systems)
        return values if level == "segment" else values[:, 0]

    def ranking(self, kind: str | None = None) -> Ranking:
        """The relative rankings of a kind, which may be left out where there is only one.

        Raises:
            DataError: there are no rankings, or several kinds and none was named.
            UnknownNameError: there is no such kind.
        """
        there = {ranking.kind: ranking for ranking in self.rankings}
        return there[only_kind(kind, tuple(there), "rankings")]

    @property
    def segments(self) -> int:
        """Number of segments, N."""
        return _length(self)

    @property
    def source_language(self) -> str | None:
        """The language of the sources, if the pair says it."""
        pair = (self.language_pair or "").split("-")
        return pair[0] if len(pair) == 2 else None

    @property
    def target_language(self) -> str | None:
        """The language of references and outputs: of the pair, else what their script tells."""
        return self.language_pair.split("-")[-1] if self.language_pair else self.written_in

    @property
    def written_in(self) -> str | None:
        """The language that the script of the references tells, where it puts no spaces.

        Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese or Tibetan, by the letters of all
        references (of the outputs, where there is none); found once.
        """
        if "_written_in" not in self.__dict__:
            of_systems = [t for parts in self.system_references.values() for t in parts.values()]
            parts = [*self.references.values(), *of_systems] or list(self.systems.values())
            language = unspaced_language(chain.from_iterable(parts))
            object.__setattr__(self, "_written_in", language)
        return cast("str | None", self.__dict__["_written_in"])

    @checked
    def select(
        self,
        *,
        systems: Sequence[str] | None = None,
        references: Sequence[str] | None = None,
        segments: Sequence[int] | None = None,
    ) -> TestSet:
        """The same test set with some of its systems, references and segments, as ordered here.

        Human scores of systems as such (and of documents and domains) stay as they are.

        Args:
            systems: names; all by default.
            references: names; all by default.
            segments: 0-based numbers, each once; all by default.

        Raises:
            UnknownNameError: a name is not in the test set.
            UsageError: a segment is not in the test set, or is named twice.
        """
        if segments is not None:
            part = self._select_segments(list(segments))
            return part.select(systems=systems, references=references)
        chosen = {n: pick("system", n, self.systems) for n in systems or self.systems}
        refs = {n: pick("reference", n, self.references) for n in references or self.references}
        of_systems = {n: r for n, r in self.system_references.items() if n in chosen}
        info = {n: i for n, i in self.info.items() if n in chosen}
        aligned = {n: a for n, a in self.alignments.items() if n in chosen}
        return self._replace_parts(
            systems=chosen,
            references=refs,
            system_references=of_systems,
            info=info,
            alignments=aligned,
        )

    def with_paraphrases(
        self,
        paraphrases: Sequence[Paraphrase] | Sequence[str | PathLike[str]],
        *,
        n: int | None = None,
        methods: Sequence[str] | None = None,
        original: bool = True,
    ) -> TestSet:
        """The same test set with paraphrases as further references, for any metric.

        Paraphrase k of a method becomes the reference ``METHOD.k``; segments may have any number
        of them. Those that belong to one system are references of that system alone.

        Args:
            paraphrases: files (see :func:`gnomon.formats.read_paraphrases`), or what they hold.
            n: how many of each method are taken, the first ones of each segment; all by default.
            methods: which methods; all by default.
            original: keep the references that are there; False: paraphrases alone.

        Raises:
            DataError: a paraphrase is of a segment or a system that is not there, a reference of
                that name is there already, or a segment would have no reference.
            FormatError: a file is not what it should be, or has too few or too many lines.
            UnknownNameError: there is no such method.
            UsageError: n is below 1.
        """
        return _reader("gnomon.data.formats:add_paraphrases")(
            self, paraphrases, n=n, methods=methods, original=original
        )

    @property
    def paraphrase_sets(self) -> tuple[ParaphraseSet, ...]:
        """The paraphrases among the references, by method; what signatures say of them."""
        return tuple(_paraphrase_set(self, m) for m in dict.fromkeys(self.paraphrases.values()))

    def _select_segments(self, segments: list[int]) -> TestSet:
        wrong = [i for i in segments if not 0 <= i < self.segments]
        if wrong or len(set(segments)) < len(segments):
            raise UsageError(
                f"segment {wrong[0]} is not there; there are {self.segments}, counted from 0"
                if wrong
                else "a segment is named twice"
            )

        def pick_texts(part: Mapping[str, Sequence[T]]) -> dict[str, list[T]]:
            return {name: [texts[i] for i in segments] for name, texts in part.items()}

        def row(part: Sequence[str] | None) -> list[str] | None:
            return None if part is None else [part[i] for i in segments]

        every = Judgements(self.human, self.rankings, self.errors, self.looked_at, self.repeated)
        said = select_segments(every, segments)
        return self._replace_parts(
            references=pick_texts(self.references),
            systems=pick_texts(self.systems),
            sources=row(self.sources),
            documents=row(self.documents),
            domains=row(self.domains),
            labels=pick_texts(self.labels),
            human=said.scores,
            rankings=said.rankings,
            errors=said.errors,
            looked_at=said.looked_at,
            repeated=said.repeated,
            system_references={name: pick_texts(r) for name, r in self.system_references.items()},
            logged={metric: pick_texts(scores) for metric, scores in self.logged.items()},
            codes={role: pick_texts(codes) for role, codes in self.codes.items()},
            alignments={name: one.select(segments) for name, one in self.alignments.items()},
            units={name: pick_texts(ids) for name, ids in self.units.items()},
        )

    def _replace_parts(self, **parts: object) -> TestSet:
        """Some of the test set, whose script stays that of the whole."""
        changed = replace(self, **cast("Any", parts))
        if self.language_pair is None:
            object.__setattr__(changed, "_written_in", self.written_in)
        return changed

    def batch(self) -> Batch:
        """All systems and segments as distinct texts and indices; built once."""
        kept: Batch | None = self.__dict__.get("_batch")
        if kept is None:
            kept = Batch.build(
                systems=self.systems,
                references=list(self.references.values()),
                sources=self.sources,
                language_pair=self.language_pair or self.written_in,
                system_references={n: list(r.values()) for n, r in self.system_references.items()},
                paraphrases=_paraphrase_signature(self),
            )
            object.__setattr__(self, "_batch", kept)
        return kept

    @property
    def outline(self) -> Outline:
        """Its outline, without the texts; computed once."""
        kept: Outline | None = self.__dict__.get("_outline")
        if kept is None:
            kept = outline_of(self)
            object.__setattr__(self, "_outline", kept)
        return kept

    @property
    def anomalies(self) -> tuple[Message, ...]:
        """Anomalies of it, though it can be read; looked for once."""
        if "_anomalies" not in self.__dict__:
            anomalies = imported("gnomon.linguistics.faults.files:anomalies")(self)
            object.__setattr__(self, "_anomalies", anomalies)
        return cast("tuple[Message, ...]", self.__dict__["_anomalies"])

    @property
    def untranslated(self) -> tuple[Message, ...]:
        """Which systems have many outputs that are no translations; looked for once.

        Many are more than 1 in 100, so that of fewer segments nothing is said.
        """
        if self.segments < _HUNDRED:
            return ()
        if "_untranslated" not in self.__dict__:
            found = imported("gnomon.linguistics.faults.floor:untranslated")(self)
            object.__setattr__(self, "_untranslated", found)
        return cast("tuple[Message, ...]", self.__dict__["_untranslated"])

    @property
    def empty_outputs(self) -> dict[str, int]:
        """Number of empty outputs of each system that has some, by name."""
        counts = {n: t.count("") + sum(map(str.isspace, t)) for n, t in self.systems.items()}
        return {name: n for name, n in counts.items() if n}

    def __repr__(self) -> str:
        pair = f" {self.language_pair}" if self.language_pair else ""
        counts = ", ".join(self._counts_in_words())
        return f"<TestSet {notebook.short_name(self.name)}{pair}: {counts}>"

    def _counts_in_words(self) -> list[str]:
        """Its counts, in few words."""
        counts = [
            (self.segments, "segment"),
            (len(self.references), "reference"),
            (len(self.systems), "system"),
        ]
        parts = [notebook.counted(number, what) for number, what in counts]
        said = [*self.human_kinds(), *(ranking.kind for ranking in self.rankings)]
        parts += ["source"] if self.sources is not None else []
        parts += [f"human {' '.join(said[:_SHOWN_KINDS])}"] if said else []
        return parts

    def _repr_html_(self) -> str:
        """Its counts and anomalies."""
        summary = self.summary()
        rows = [
            ["language pair", summary.language_pair or "not given"],
            ["segments", str(summary.segments)],
            ["source", "yes" if summary.sources else "no"],
            ["references", list_names(list(summary.references)) or "none"],
            ["systems", f"{summary.systems}: {list_names(list(self.systems))}"],
            ["documents", str(summary.documents)],
            ["domains", list_names(list(summary.domains)) or "none"],
            ["human scores", list_names(list(summary.human_scores)) or "none"],
        ]
        doubts = [f"<p><em>{notebook.escape(noted(one))}</em></p>" for one in self.anomalies]
        table = notebook.html_table([("Part", False), ("Holds", False)], rows)
        return notebook.html_box(f"Test set {self.name}", [table, *doubts])

    def summary(self) -> TestSetSummary:
        """Counts of the test set."""
        return TestSetSummary(
            name=self.name,
            language_pair=self.language_pair,
            segments=self.segments,
            sources=self.sources is not None,
            references={n: sum(t is not None for t in r) for n, r in self.references.items()},
            systems=len(self.systems),
            human_systems=sum(i.human for i in self.info.values()),
            documents=len(dict.fromkeys(self.documents or ())),
            domains=tuple(dict.fromkeys(self.domains or ())),
            human_scores=tuple(dict.fromkeys(f"{h.kind}.{h.level}" for h in self.human))
            + tuple(r.kind for r in self.rankings),
            empty=self.empty_outputs,
        )


def _reader(home: str) -> Callable[..., TestSet]:
    """A function of the package ``formats``, which imports this one."""
    reader: Callable[..., TestSet] = imported(home)
    return reader


def pick(kind: str, name: str, among: Mapping[str, T]) -> T:
    """The named one, or an error that lists the names that exist."""
    if name not in among:
        raise UnknownNameError(kind, name, among)
    return among[name]


def _paraphrase_set(testset: TestSet, method: str) -> ParaphraseSet:
    columns = [("", testset.references), *testset.system_references.items()]
    texts = [
        (str(i), system, name, text)
        for system, references in columns
        for name, column in references.items()
        if testset.paraphrases.get(name) == method
        for i, text in enumerate(column)
        if text is not None
    ]
    return ParaphraseSet(
        method=method,
        n=len({name for _, _, name, _ in texts}),
        count=len(texts),
        segments=len({i for i, *_ in texts}),
        identity=content_hash(*chain.from_iterable(texts)),
    )


def _paraphrase_signature(testset: TestSet) -> str:
    """The paraphrases in a signature, and whether the original references are missing."""
    sets = testset.paraphrase_sets
    bare = bool(sets) and set(testset.references) <= set(testset.paraphrases)
    return ",".join([*map(str, sets), *(["no-original"] if bare else [])])


def _length(testset: TestSet) -> int:
    for texts in (*testset.references.values(), *testset.systems.values()):
        return len(texts)
    return len(testset.sources or ())


def _freeze(testset: TestSet) -> None:
    def fix(name: str, value: object) -> None:
        object.__setattr__(testset, name, value)

    for name in ("references", "systems", "labels"):
        parts: Any = getattr(testset, name)
        if not isinstance(parts, Mapping) or any(isinstance(side, str) for side in parts.values()):
            raise DataError(
                f"{name}: give a mapping from names to lists of texts, such as {{'a': ['...']}};"
                " TestSet.from_files reads files"
            )
        fix(name, MappingProxyType({key: tuple(texts) for key, texts in parts.items()}))
    for name in ("sources", "documents", "domains"):
        value = getattr(testset, name)
        if value is not None and (isinstance(value, str) or not isinstance(value, Iterable)):
            raise DataError(f"{name}: give a list with one text per segment; got {value!r:.60}")
        fix(name, None if value is None else tuple(value))
    for name in ("human", "rankings", "errors", "looked_at", "repeated"):
        value = getattr(testset, name)
        if isinstance(value, str) or not isinstance(value, Iterable):
            raise DataError(
                f"{name}: give a tuple; got {value!r:.60} (TestSet.with_human reads files)"
            )
        fix(name, tuple(value))
    fix("info", MappingProxyType(dict(testset.info)))
    fix("paraphrases", MappingProxyType(dict(testset.paraphrases)))
    fix("alignments", MappingProxyType(dict(testset.alignments)))
    for name in ("system_references", "logged", "codes", "units"):
        inner = {
            outer: MappingProxyType({key: tuple(column) for key, column in columns.items()})
            for outer, columns in getattr(testset, name).items()
        }
        fix(name, MappingProxyType(inner))


def _unfreeze_views(part: object) -> object:
    """A part of a test set as pickles take it: mappings in place of the views that freeze them."""
    if isinstance(part, MappingProxyType):
        return {name: _unfreeze_views(inner) for name, inner in part.items()}
    return part


def _texts_by_part(testset: TestSet) -> dict[str, Sequence[object]]:
    parts: dict[str, Sequence[object]] = {}
    parts |= {f"reference {name!r}": texts for name, texts in testset.references.items()}
    parts |= {f"system {name!r}": texts for name, texts in testset.systems.items()}
    if testset.sources is not None:
        parts["the source"] = testset.sources
    for kind, labels in (("documents", testset.documents), ("domains", testset.domains)):
        if labels is not None:
            parts[f"the list of {kind}"] = labels
    parts |= {f"the labels {name!r}": labels for name, labels in testset.labels.items()}
    for system, refs in testset.system_references.items():
        parts |= {f"reference {n!r} of system {system!r}": t for n, t in refs.items()}
    for metric, scores in testset.logged.items():
        parts |= {f"the scores {metric!r} of system {n!r}": s for n, s in scores.items()}
    for role, codes in testset.codes.items():
        parts |= {f"the codes of {role} {name!r}": column for name, column in codes.items()}
    for name, files in testset.units.items():
        parts |= {f"the units of system {name!r}": ids for ids in files.values()}
    return parts


def _check_types(testset: TestSet) -> None:
    """Refuse what is no name and no text; many texts are looked at by their classes alone."""
    names = [("name", testset.name), ("language_pair", testset.language_pair)]
    names += [(attribute, name) for attribute in _NAMED for name in getattr(testset, attribute)]
    checked_names: list[tuple[str, object]] = [*names]
    for attribute, name in checked_names:
        if not (isinstance(name, str) or (name is None and attribute == "language_pair")):
            raise DataError(
                f"{attribute}: names are texts; got {name!r:.60} ({type(name).__name__})"
            )
    lists = {f"references {n!r}": (t, True) for n, t in testset.references.items()}
    lists |= {f"systems {n!r}": (t, False) for n, t in testset.systems.items()}
    lists |= {f"labels {n!r}": (t, False) for n, t in testset.labels.items()}
    for attribute in ("sources", "documents", "domains"):
        lists[attribute] = (getattr(testset, attribute) or (), False)
    for attribute, (texts, lacking) in lists.items():
        kinds = {type(text): text for text in texts}
        for kind, text in kinds.items():
            if not issubclass(kind, str) and not (lacking and text is None):
                missing = "; a system that lacks a segment has an empty text there"
                raise DataError(
                    f"{attribute}: segments are texts; got {text!r:.60} ({kind.__name__}) in"
                    f" segment {texts.index(text) + 1}{missing if text is None else ''}"
                )


#: what is given by name
_NAMED = ("references", "systems", "labels", "info", "paraphrases", "system_references")


def _check_parts(testset: TestSet) -> None:
    parts = _texts_by_part(testset)
    if not testset.references and testset.sources is None:
        raise DataError(f"test set {testset.name!r} has neither references nor sources")
    first, expected = next((name, len(texts)) for name, texts in parts.items())
    for name, texts in parts.items():
        if len(texts) != expected:
            raise LengthMismatchError(
                f"{first} has {expected} segments, {name} has {len(texts)}; all parts of a test set"
                " must be parallel, one segment each",
                counts={first: expected, name: len(texts)},
            )
    for kind, those in (("information", testset.info), ("references", testset.system_references)):
        for system in those:
            if system not in testset.systems:
                raise UnknownNameError(f"system (in {kind})", system, testset.systems)
    _check_human(testset, expected)


def _check_human(testset: TestSet, segments: int) -> None:
    for human in testset.human:
        if human.level not in LEVELS:
            raise UnknownNameError("level of human scores", human.level, LEVELS)
        items = {"system": 1, "segment": segments}.get(human.level, len(human.items))
        if human.values.shape != (len(human.systems), items):
            raise LengthMismatchError(
                f"human scores {human.kind!r} at {human.level} level have shape"
                f" {human.values.shape}; expected {(len(human.systems), items)}"
            )
        low, high = scale_of(human.kind)
        wrong = human.values[(human.values < low) | (human.values > high)]
        if wrong.size:
            raise DataError(
                f"human scores {human.kind!r} at {human.level} level hold {wrong[0]:g}; from"
                f" {low:g} to {high:g} is expected: correct it, or give judgements on another scale"
                " a kind of their own"
            )
        if len(set(human.systems)) < len(human.systems):
            raise DataError(f"human scores {human.kind!r} name a system twice: {human.systems}")
    numbers = [(f"the ranking {r.kind!r}", n) for r in testset.rankings for n, *_ in r.rows]
    numbers += [(f"an error of the kind {e.kind!r}", e.segment) for e in testset.errors]
    numbers += [
        (f"an output checked ({output.kind!r})", output.segment) for output in testset.looked_at
    ]
    for what, number in numbers:
        if not 0 <= number < segments:
            raise DataError(f"{what} is of segment {number}; there are {segments}, counted from 0")


def _check_new(testset: TestSet, new: Judgements) -> None:
    there = {(h.kind, h.level, h.rater) for h in testset.human}
    for human in new.scores:
        if (human.kind, human.level, human.rater) in there:
            by = f" by {human.rater}" if human.rater else ""
            raise DataError(
                f"the test set has {human.kind!r} scores at {human.level} level{by} already; name"
                " the new ones otherwise (",
                Named("--human NAME=FILE", "kind=..."),
                ")",
            )
    for ranking in new.rankings:
        if ranking.kind in {other.kind for other in testset.rankings}:
            raise DataError(
                f"the test set has rankings of the kind {ranking.kind!r} already; name the new"
                " ones otherwise (",
                Named("--human NAME=FILE", "kind=..."),
                ")",
            )


def _check_lists(systems: object, references: object) -> None:
    if not isinstance(systems, Mapping):
        raise DataError(
            f"systems must map names to lists of texts; got {type(systems).__name__}: pass"
            " {'name': texts}"
        )
    rows = {f"system {name!r}": texts for name, texts in systems.items()}
    for what, texts in {**rows, "references": references}.items():
        if isinstance(texts, str) or not isinstance(texts, Sequence):
            raise DataError(f"{what} must be a list with one text per segment; got {texts!r:.60}")
    flat = [t for texts in rows.values() for t in texts]
    for row in cast("Sequence[object]", references):
        flat += [row] if isinstance(row, str) or not isinstance(row, Sequence) else list(row)
    for text in flat:
        if text is not None and not isinstance(text, str):
            raise DataError(f"texts must be strings; got {text!r:.60} ({type(text).__name__})")


def _name_references(
    references: Sequence[str] | Sequence[Sequence[str | None]],
    systems: Mapping[str, Sequence[str]],
) -> dict[str, Sequence[str | None]]:
    if all(isinstance(text, str) for text in references):
        return {"A": [str(text) for text in references]}
    rows = [[row] if isinstance(row, str) else list(row) for row in references]
    segments = len(next(iter(systems.values()), rows))
    width = max((len(row) for row in rows), default=0)
    if len(rows) != segments and all(len(row) == segments for row in rows):
        raise DataError(
            f"references look transposed: {len(rows)} lists of {segments} texts for {segments}"
            " segments. references[i] must list the references of segment i (sentence-major);"
            " pass list(zip(*references))"
        )
    padded = [row + [None] * (width - len(row)) for row in rows]
    return {str(i + 1): [row[i] for row in padded] for i in range(width)}

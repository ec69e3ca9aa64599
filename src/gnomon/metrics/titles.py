"""Short names of metrics for people: a title of the class, and what tells metrics apart.

A metric's class says its title (``title``), and those of settings that have names of their own
(``titles``); classes of packages may do likewise. Specs stay what numbers are made again by.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from gnomon.core.errors import SpecError
from gnomon.metrics.registry import metric_class
from gnomon.metrics.spec import ALIASES, CODE, Spec, format_literal, read_spec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["metric_titles"]

#: how models of packages are named: ``package:NAME/FOLDER``
_PACKAGE = "package:"


class _Title(NamedTuple):
    """A title, and the options that it does not tell, as (option, value)."""

    title: str
    options: tuple[tuple[str, str], ...] = ()


def metric_titles(specs: Iterable[str]) -> dict[str, str]:
    """A short name for each of some metrics that are named together.

    Where the titles of several are equal, the options in which they differ are added, and where
    that does not tell them apart, their specs are kept.

    >>> metric_titles(["bleu", "chrf(word_order=2)", "bertscore(model='a/minilm', layer=5)"])
    {'bleu': 'BLEU', 'chrf(word_order=2)': 'chrF++', "bertscore(model='a/minilm', layer=5)": \
'BERTScore'}
    >>> metric_titles(["ter (turned)", "bleu, mean of segments", "mine, too"])
    {'ter (turned)': 'TER (turned)', 'bleu, mean of segments': 'BLEU, mean of segments', \
'mine, too': 'mine, too'}
    >>> metric_titles(["sbert(model='a/minilm')", "sbert"])
    {"sbert(model='a/minilm')": 'SBERT (minilm)', 'sbert': 'SBERT'}
    """
    named = {spec: _title_of(spec) for spec in specs}
    groups: dict[str, list[str]] = {}
    for spec, title in named.items():
        groups.setdefault(title.title, []).append(spec)
    titles: dict[str, str] = {}
    for several in groups.values():
        texts = {
            spec: _distinct_title(named[spec], [named[s] for s in several]) for spec in several
        }
        tally = Counter(texts.values())
        titles |= {spec: text if tally[text] == 1 else spec for spec, text in texts.items()}
    return {spec: titles[spec] for spec in named}


def _distinct_title(one: _Title, among: Sequence[_Title]) -> str:
    """A title with as many of its options as tell it from the others."""
    others = [other.options for other in among if other is not one]
    differing = [pair for pair in one.options if any(pair not in other for other in others)]
    for n in range(len(differing)):
        if not any(set(differing[: n + 1]) <= set(other) for other in others):
            differing = differing[: n + 1]
            break
    settings = [value if key in ("model", "file") else f"{key}={value}" for key, value in differing]
    return f"{one.title} ({', '.join(settings)})" if settings else one.title


#: a name or spec, and words that tables add to it: "bleu, mean of segments", "ter (turned)"
_ADDED = re.compile(r"(?P<spec>.*[^\s,])(?P<words>, [^()=,]+?(?: \([^()=]*\))?| \([^()=]*\))")


@lru_cache(maxsize=1024)
def _title_of(text: str) -> _Title:
    added = _ADDED.fullmatch(text)
    if added is not None:
        named = _title_of(added["spec"])
        title = text if named.title == added["spec"] else named.title + added["words"]
        return named._replace(title=title)
    try:
        spec = read_spec(text)
    except SpecError:
        return _Title(text)
    # text that begins like a spec may go on as anything
    if str(spec) == text or "(" in text:
        return _title_of_spec(spec)
    return _Title(getattr(metric_class(text), "title", "") or text)


def _title_of_spec(spec: Spec) -> _Title:
    if spec.name in ALIASES:
        whole = ALIASES[spec.name]
        spec = Spec(whole.name, spec.first, (*whole.arguments, *spec.arguments))
    kind = metric_class(spec.name)
    title: str = getattr(kind, "title", "") or spec.name
    options = [(key, value, f"{key}={format_literal(value)}") for key, value in spec.arguments]
    for setting, named in dict(getattr(kind, "titles", {})).items():
        if any(written == setting for _, _, written in options):
            title, options = named, [option for option in options if option[2] != setting]
    rest = [(key, _short(value)) for key, value, _ in options]
    if isinstance(spec.first, Spec):
        inner = _title_of_spec(spec.first)
        title = title.replace("{}", inner.title) if "{}" in title else f"{title} of {inner.title}"
        rest = [*inner.options, *rest]
    elif isinstance(spec.first, tuple):
        title = f"{title} panel of {len(spec.first)}"
        rest = [("members", ", ".join(map(str, spec.first))), *rest]
    elif spec.first is not None:
        title, rest = _opening_title(spec, title), [("file", spec.first), *rest]
    elif "{}" in title and rest:
        (_, named), *rest = rest
        title = title.replace("{}", f"{named} (log)")
    return _Title(spec.name if "{}" in title else title, tuple(rest))


def _opening_title(spec: Spec, title: str) -> str:
    """Title of the non-metric that a spec opens with: a function, a file, a model."""
    text = str(spec.first)
    if spec.name == CODE:
        return text.rpartition(":")[2]
    return title.replace("{}", PurePath(text).stem) if "{}" in title else title


def _short(value: object) -> str:
    """A value of an option; of a model that has a long name the part that people call it by."""
    if not isinstance(value, str):
        return format_literal(value)  # type: ignore[arg-type]  # specs hold literals alone
    if value.startswith(_PACKAGE):
        return value.removeprefix(_PACKAGE).partition("/")[0]
    return value.rstrip("/").rpartition("/")[2] or value

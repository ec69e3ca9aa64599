"""Cautions about data, and the systems that nothing can be said of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from gnomon.messages import message

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gnomon.messages import Message

__all__ = [
    "SAID_FIRST",
    "doubt",
    "doubtful_systems",
    "doubts",
    "fullest",
    "select_messages",
]

#: cautions of data that are said before anything else; of doubtful systems nothing else is said
SAID_FIRST = (
    "data.aligned",
    *("data.doubtful", "data.unread", "data.no_reference", "data.repeated"),
    *("data.untranslated", "data.damaged", "data.favoured", "data.copied"),
)


def doubt(what: str, systems: Sequence[str], **counts: Any) -> Message:
    """Of whose outputs nothing can be said while it is so.

    They are shifted, in another order, repeated, not translated, or in another language.
    """
    said = message("data.doubtful", what=what, systems=list(systems), **counts)
    return said.about(systems=systems)


def select_messages(code: str, notices: Iterable[Message]) -> list[Message]:
    """The messages of a kind among notices, each once."""
    return list(dict.fromkeys(one for one in notices if one.code == code))


def fullest(notices: Iterable[Message]) -> tuple[Message, ...]:
    """Notices, where of cautions of one system's data the one is kept that says most."""
    kept: dict[object, Message] = {}
    for number, one in enumerate(notices):
        key: object = number
        if one.code in ("data.aligned", "data.damaged", "data.favoured"):
            told = one.params
            key = (one.code, one.subjects.get("systems"), told.get("what"), told.get("among"))
        before = kept.get(key)
        if before is None or _count_known(before) < _count_known(one):
            kept[key] = one
    return tuple(kept.values())


def _count_known(said: Message) -> int:
    aligned = said.params.get("aligned") or ()
    told = [said.params, *(one for one in cast("Sequence[Mapping[str, object]]", aligned))]
    return sum(bool(value) for one in told for value in one.values())


def doubts(notices: Iterable[Message]) -> list[Message]:
    """Why nothing can be said of some systems.

    Their outputs are no translations line by line, or many references were made of these.
    """
    told = list(notices)
    favoured = [one for one in select_messages("data.favoured", told) if one.params["stops"]]
    return [*select_messages("data.doubtful", told), *favoured]


def doubtful_systems(notices: Iterable[Message]) -> tuple[str, ...]:
    """The systems of which nothing can be said, as cautions of data say."""
    return tuple(dict.fromkeys(n for one in doubts(notices) for n in one.subjects["systems"]))

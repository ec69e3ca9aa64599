"""Campaigns in which people judge outputs, as annotation tools take them.

===========  ======================================================================================
``pearmut``  a campaign of pearmut: a task for each rater, whose documents are lists of segments
             with the outputs of one or several systems; ``item_id`` is ``DOCUMENT_#_SEGMENT``
``appraise`` batches of Appraise, one for each rater; ``itemID`` counts segments from 0
``tsv``      a row per output: ``rater document segment system shown output score``, to fill in
===========  ======================================================================================

What people answer is read by the formats ``pearmut``, ``appraise`` and ``table`` of judgements.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from gnomon.core.errors import DataError
from gnomon.core.lazy import checked
from gnomon.data.formats._matching import long_code
from gnomon.data.formats.rows import escape_cell, table_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gnomon.core.testset import TestSet

CampaignForm: TypeAlias = Literal["pearmut", "appraise", "tsv"]
_ITEM = "_#_"


class CampaignItem(NamedTuple):
    """An item that one person judges at a time.

    Attributes:
        rater: who.
        document: to which the segments belong; empty where that is not known.
        segments: 0-based.
        systems: whose outputs are shown, in this order.
    """

    rater: str
    document: str
    segments: tuple[int, ...]
    systems: tuple[str, ...]


@checked
def campaign_text(
    testset: TestSet, form: CampaignForm, name: str, items: Sequence[CampaignItem]
) -> str:
    """A campaign as a file of its tool holds it.

    Args:
        testset: the texts.
        form: of which tool.
        name: what the campaign is called.
        items: what is judged, in the order in which each rater sees it.

    Raises:
        DataError: the tool cannot take the names of the systems, or needs what the set lacks.
    """
    tasks: dict[str, list[CampaignItem]] = {}
    for item in items:
        tasks.setdefault(item.rater, []).append(item)
    if form == "pearmut":
        content: object = _pearmut(name, testset, tasks)
    elif form == "appraise":
        content = _appraise(testset, tasks)
    else:
        return table_text(name, _COLUMNS, _rows(testset, tasks))
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _pearmut(
    name: str, testset: TestSet, tasks: Mapping[str, Sequence[CampaignItem]]
) -> dict[str, object]:
    numeric = next((system for system in testset.systems if system.isdigit()), None)
    if numeric is not None:
        raise DataError(
            f"pearmut takes no system whose name is a number, and one is called {numeric!r}; give"
            " its file another name"
        )
    several = any(len(item.systems) > 1 for items in tasks.values() for item in items)
    info = {
        "assignment": "task-based",
        "protocol": "cESA" if several else "ESA",
        "shuffle": False,  # the order of the systems is drawn already
        "users": list(tasks),
    }
    documents = [[_pearmut_document(testset, item) for item in items] for items in tasks.values()]
    return {"campaign_id": name, "info": info, "data": documents}


def _pearmut_document(testset: TestSet, item: CampaignItem) -> list[dict[str, object]]:
    side, texts = _shown(testset)
    return [
        {
            "item_id": f"{item.document or testset.name}{_ITEM}{segment + 1}",
            {"source": "src", "reference": "ref"}[side]: texts[segment] or "",
            "tgt": {system: testset.systems[system][segment] for system in item.systems},
        }
        for segment in item.segments
    ]


def _shown(testset: TestSet) -> tuple[str, Sequence[str | None]]:
    """Texts that raters see beside the outputs: sources, or else the first reference."""
    if testset.sources is not None:
        return "source", testset.sources
    return "reference", next(iter(testset.references.values()))


def segment_of_item(item_id: str) -> int | None:
    """The 0-based segment that an item of a campaign names; None where it names none.

    >>> segment_of_item("news.12_#_7"), segment_of_item("en-cs-3")
    (6, None)
    """
    number = item_id.rpartition(_ITEM)[2]
    named = _ITEM in item_id and number.isascii() and number.isdigit()
    return int(number) - 1 if named and 0 < len(number) < 10 and int(number) else None


def _appraise(
    testset: TestSet, tasks: Mapping[str, Sequence[CampaignItem]]
) -> list[dict[str, object]]:
    source, _, target = (testset.language_pair or "").partition("-")
    if not target or testset.sources is None:
        raise DataError(
            "Appraise shows sources and names both languages: give them with -s FILE and -l de-en"
            " (sources=, language_pair=)"
        )
    return [
        {
            "items": [
                _appraise_item(testset, item, system, segment)
                for item in items
                for system in item.systems
                for segment in item.segments
            ],
            "task": {
                "batchNo": number,
                "randomSeed": 0,
                "requiredAnnotations": 1,
                "sourceLanguage": long_code(source),
                "targetLanguage": long_code(target),
            },
        }
        for number, items in enumerate(tasks.values(), start=1)
    ]


def _appraise_item(
    testset: TestSet, item: CampaignItem, system: str, segment: int
) -> dict[str, object]:
    document = item.document or testset.name
    return {
        "mqm": [],
        "documentID": document,
        "sourceID": testset.language_pair,
        "targetID": system,
        "sourceText": testset.sources[segment] if testset.sources is not None else "",
        "targetText": testset.systems[system][segment],
        "itemType": "TGT",
        "itemID": segment,
        "_item": f"{item.rater} {document} {segment}",
        "isCompleteDocument": False,
    }


_COLUMNS = ("rater", "document", "segment", "system", "shown", "output", "score")


def _rows(
    testset: TestSet, tasks: Mapping[str, Sequence[CampaignItem]]
) -> Iterator[tuple[str, ...]]:
    _, shown = _shown(testset)
    for rater, items in tasks.items():
        for item in items:
            for segment in item.segments:
                original = escape_cell(shown[segment] or "")
                for system in item.systems:
                    output = escape_cell(testset.systems[system][segment])
                    yield rater, item.document, str(segment + 1), system, original, output, ""

"""MuLER: which word classes, names and forms cost you BLEU (or any metric).

The room is callable as its main method: ``gnomon.muler(testset, "bleu", ["pos:*"])`` is
``gnomon.muler.score``. The pure functions are importable beside it:
``gnomon.muler.ratio(base, oracle, anti_oracle)``.
"""

from typing import TYPE_CHECKING

from gnomon.doors import callable_room, door
from gnomon.muler import validate

if TYPE_CHECKING:
    from gnomon.muler._correlate import correlate
    from gnomon.muler._discrepancy import discrepancy
    from gnomon.muler._figures import clipped_ratios, ratio
    from gnomon.muler._judge import judge
    from gnomon.muler._pairs import PairStudy, pairs
    from gnomon.muler._score import score
    from gnomon.muler._sentences import sentences
    from gnomon.muler._sheet import (
        Answer,
        Key,
        Sheet,
        read_answers,
        read_key,
        write_key,
        write_sheet,
    )
    from gnomon.slices import slices

__all__ = [
    "Answer",
    "Key",
    "PairStudy",
    "Sheet",
    "clipped_ratios",
    "correlate",
    "discrepancy",
    "judge",
    "pairs",
    "ratio",
    "read_answers",
    "read_key",
    "score",
    "sentences",
    "slices",
    "validate",
    "write_key",
    "write_sheet",
]


#: where the public names live: imported when asked for
_HOMES = {
    "Answer": "_sheet",
    "Key": "_sheet",
    "PairStudy": "_pairs",
    "Sheet": "_sheet",
    "clipped_ratios": "_figures",
    "correlate": "_correlate",
    "discrepancy": "_discrepancy",
    "judge": "_judge",
    "pairs": "_pairs",
    "ratio": "_figures",
    "read_answers": "_sheet",
    "read_key": "_sheet",
    "score": "_score",
    "sentences": "_sentences",
    "slices": "gnomon.slices",
    "write_key": "_sheet",
    "write_sheet": "_sheet",
}

__getattr__ = door(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


callable_room(__name__, "score")

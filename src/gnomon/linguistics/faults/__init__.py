"""Faults of outputs: no translation, another text's, and what it should have kept."""

from gnomon.linguistics.faults.kinds import (
    Fault,
    FaultKinds,
    Hit,
    fault,
    fault_kinds,
    find_faults,
)
from gnomon.linguistics.faults.texts import REFERENCE, Texts

__all__ = [
    "REFERENCE",
    "Fault",
    "FaultKinds",
    "Hit",
    "Texts",
    "fault",
    "fault_kinds",
    "find_faults",
]

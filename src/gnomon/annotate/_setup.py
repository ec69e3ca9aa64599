"""What a language needs before it can be tagged, and the commands that install it."""

from __future__ import annotations

import importlib.util
import shlex
import subprocess
import sys
from dataclasses import dataclass

from gnomon.annotate._protocol import for_language
from gnomon.annotate._spacy import look_again
from gnomon.errors import MissingDependencyError, UnknownNameError

__all__ = ["MODELS", "SetupPlan", "run_setup", "setup_plan"]

# the smallest pipeline of each language that spaCy's authors publish
MODELS = {
    "ca": "ca_core_news_sm",
    "da": "da_core_news_sm",
    "de": "de_core_news_sm",
    "el": "el_core_news_sm",
    "en": "en_core_web_sm",
    "es": "es_core_news_sm",
    "fi": "fi_core_news_sm",
    "fr": "fr_core_news_sm",
    "hr": "hr_core_news_sm",
    "it": "it_core_news_sm",
    "ja": "ja_core_news_sm",
    "ko": "ko_core_news_sm",
    "lt": "lt_core_news_sm",
    "mk": "mk_core_news_sm",
    "nb": "nb_core_news_sm",
    "nl": "nl_core_news_sm",
    "pl": "pl_core_news_sm",
    "pt": "pt_core_news_sm",
    "ro": "ro_core_news_sm",
    "ru": "ru_core_news_sm",
    "sl": "sl_core_news_sm",
    "sv": "sv_core_news_sm",
    "uk": "uk_core_news_sm",
    "zh": "zh_core_web_sm",
}


@dataclass(frozen=True)
class SetupPlan:
    """What is to be done for a language.

    Attributes:
        language: its code.
        ready: nothing is missing.
        commands: what to run, as lists of arguments.
        text: the same in words, for people.
    """

    language: str
    ready: bool
    commands: tuple[tuple[str, ...], ...]
    text: str


def setup_plan(language: str) -> SetupPlan:
    """Find out what a language lacks; installs nothing.

    Raises:
        UnknownNameError: spaCy's authors publish no pipeline for the language.
    """
    wanted = language.rsplit("-", maxsplit=1)[-1].lower()
    has_spacy = importlib.util.find_spec("spacy") is not None
    try:
        name = for_language(wanted).name if has_spacy else ""
    except MissingDependencyError:
        name = ""
    if name:
        return SetupPlan(wanted, ready=True, commands=(), text=f"{wanted}: {name} is installed")
    if wanted not in MODELS:
        remedy = "labels of any other tagger can be read from CoNLL-U or JSONL files (--labels)"
        raise UnknownNameError("language with a spaCy pipeline", wanted, MODELS, remedy=remedy)
    commands: list[tuple[str, ...]] = []
    if not has_spacy:
        commands.append((sys.executable, "-m", "pip", "install", "spacy>=3.7,<4"))
    commands.append((sys.executable, "-m", "spacy", "download", MODELS[wanted]))
    steps = "\n".join(f"  {shlex.join(command)}" for command in commands)
    text = f"{wanted}: to tag with spacy:{MODELS[wanted]}, these commands install it:\n{steps}"
    return SetupPlan(wanted, ready=False, commands=tuple(commands), text=text)


def run_setup(plan: SetupPlan) -> None:
    """Run the commands of a plan, their output shown.

    Raises:
        MissingDependencyError: a command failed (no network, no right to install).
    """
    for command in plan.commands:
        done = subprocess.run(command, check=False)  # noqa: S603  # our own fixed commands
        if done.returncode:
            raise MissingDependencyError(
                f"`{shlex.join(command)}` failed with exit status {done.returncode}; without a"
                " network, copy the pipeline's wheel from"
                " https://github.com/explosion/spacy-models/releases to this machine and run"
                " `python -m pip install FILE.whl`, or give your own labels (--labels FILE)"
            )
    look_again()

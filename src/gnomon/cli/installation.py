"""Contents of a test set, this installation and the cache; and the needs of a language."""

from __future__ import annotations

import importlib.metadata
import shlex
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias

from gnomon.cli._options import (
    add_command,
    add_data,
    add_output,
    load_references,
    paraphrased,
    show,
    show_rows,
)
from gnomon.cli.progress import stages
from gnomon.core.errors import MissingDependencyError, UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gnomon.cli._options import Subparsers
    from gnomon.core.findings import Cell
    from gnomon.core.testset import TestSet
    from gnomon.learned import LearnedModel
    from gnomon.linguistics import SetupPlan
    from gnomon.metrics.encoders import BertScorePlan

    _Listed: TypeAlias = tuple[tuple[str, ...], Iterable[tuple[str, ...]]]

__all__ = ["add"]


def add(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the commands."""
    _add_info(commands)
    _add_list(commands)
    _add_setup(commands)
    _add_selftest(commands)
    _add_cache(commands)


# ``gnomon info``: what a test set contains.


def _add_info(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "info",
        purpose="describe a test set",
        more="examples:\n  gnomon info -t wmt19/de-en\n  gnomon info ref.txt -i sysA.txt sysB.txt",
    )
    add_data(parser)
    parser.usage = "%(prog)s REF ... [-i SYSTEM ...] [OPTIONS]\n       %(prog)s -t DIR [OPTIONS]"
    add_output(parser)
    parser.set_defaults(run=_info)


def _info(args: argparse.Namespace) -> int:
    """Read the test set and describe it."""
    from gnomon.core.findings import Column, Finding, Table

    args.human_readable = True
    testset = paraphrased(args, load_references(args))
    columns = (Column("part", "Part"), Column("name", "Name"), Column("value", "Holds"))
    table = Table("info", f"Test set {testset.name}", columns, tuple(_rows_of_set(testset)))
    finding = Finding("info", table.title, (table,), signatures={})
    show(args, finding, "info")
    return 0


def _rows_of_set(testset: TestSet) -> list[dict[str, Cell]]:
    from gnomon.core.human import marked_kinds  # which loads numpy

    summary = testset.summary()
    rows: list[tuple[str, str, Cell]] = [
        ("test set", summary.name, testset.path),
        ("language pair", summary.language_pair or "not given", None),
        ("segments", "", summary.segments),
        ("source", "", "yes" if summary.sources else "no"),
        *(("reference", name, f"{n} segments") for name, n in summary.references.items()),
        ("systems", "", summary.systems),
        *(("system", name, _describe_system(testset, name)) for name in testset.systems),
        ("documents", "", summary.documents or "not given"),
        *(("domain", name, _share(testset, name)) for name in summary.domains),
        *(("labels", name, f"{len(set(v))} values") for name, v in testset.labels.items()),
        *(
            ("human scores", f"{kind}, {level} level", _judged(testset, kind, level))
            for kind, level in dict.fromkeys((h.kind, h.level) for h in testset.human)
        ),
        *(("human rankings", r.kind, f"{len(r.rows)} pairs") for r in testset.rankings),
    ]
    spans = Counter(error.kind for error in testset.errors)
    rows += [("error spans", kind, spans[kind]) for kind in marked_kinds(testset)]
    return [{"part": what, "name": name, "value": value} for what, name, value in rows]


def _describe_system(testset: TestSet, name: str) -> str:
    from gnomon.core.scripts import split_words, unit_of_words

    texts, info = testset.systems[name], testset.info.get(name)
    words = [word for text in texts for word in split_words(text)]
    said = [f"{len(words)} {unit_of_words(words)}s"]
    if empty := sum(not text.strip() for text in texts):
        said.append(f"{empty} empty")
    if info is not None:
        said += [str(v) for v in (info.year, info.architecture) if v is not None]
        said += ["human"] if info.human else []
    return ", ".join(said)


def _judged(testset: TestSet, kind: str, level: str) -> str:
    fitting = [h for h in testset.human if (h.kind, h.level) == (kind, level)]
    systems = {name for human in fitting for name in human.systems}
    raters = sum(human.rater is not None for human in fitting)
    counted = {"system": len(systems)} | ({"rater": raters} if raters else {})
    return ", ".join(f"{n} {what}{'s' * (n != 1)}" for what, n in counted.items())


def _share(testset: TestSet, domain: str) -> str:
    return f"{sum(name == domain for name in testset.domains or ())} segments"


# ``gnomon list``: what can be named on the command line.


def _add_list(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "list",
        purpose="list available methods, metrics, models, features, languages and formats",
    )
    parser.add_argument(
        "kind", choices=tuple(_KINDS), metavar="KIND", help=f"one of: {', '.join(_KINDS)}"
    )
    parser.add_argument(
        "folder",
        nargs="*",
        metavar="FOLDER",
        help="with models: your own folders, each a model or a folder of models",
    )
    add_output(parser)
    parser.set_defaults(run=_list)


def _list(args: argparse.Namespace) -> int:
    """Print one kind of names."""
    from gnomon.core.findings import Column, Finding, Table

    if args.folder and args.kind != "models":
        raise UsageError(
            f"{args.folder[0]!r} is one value too many; folders go with: gnomon list models"
        )
    header, rows = _models(args.folder) if args.folder else _KINDS[args.kind]()
    columns = tuple(Column(name, name.capitalize()) for name in header)
    records = tuple(dict(zip(header, row, strict=True)) for row in rows)
    table = Table(args.kind, args.kind.capitalize(), columns, records)
    finding = Finding("list", table.title, (table,), signatures={})
    show(args, finding, "list")
    return 0


def _methods() -> _Listed:
    from gnomon.core import registry as methods
    from gnomon.core.options import describe_reaches

    rows = [
        (
            name,
            " ".join(("gnomon", *name.replace("_", "-").split("."))),
            methods.purpose_of(name),
            describe_reaches(found.options.values()) if (found := methods.installed(name)) else "",
            methods.package_of(name),
        )
        for name in methods.names()
    ]
    return ("name", "command", "purpose", "reaches", "source"), rows


def _metrics() -> _Listed:
    from gnomon import metrics

    return _list_descriptions(metrics.describe())


def _list_descriptions(things: Iterable[Any]) -> _Listed:
    rows = [
        (d.name, ", ".join(d.options), d.summary.replace("``", ""), d.reaches, d.source)
        for d in things
    ]
    return ("name", "options", "description", "reaches", "source"), rows


def _models(folders: Sequence[str] = ()) -> _Listed:
    from gnomon.learned import installed_learned
    from gnomon.models import installed_models

    rows = [
        (
            model.name,
            model.kind,
            str(model.layers),
            model.source,
            model.serves,
            model.languages,
            model.licence,
            _format_bytes(model.bytes),
            _format_bytes(model.memory),
        )
        for model in installed_models(folders)
    ]
    learned = map(_learned_row, installed_learned(folders))
    header = (
        "name",
        "kind",
        "layers",
        "source",
        "used by",
        "languages",
        "licence",
        "disk",
        "memory",
    )
    return header, (*rows, *learned)


def _format_bytes(size: int) -> str:
    if size >= 10**9:
        return f"{size / 1e9:.1f} GB"
    return f"{size / 1e6:.1f} MB" if size else ""


def _learned_row(model: LearnedModel) -> tuple[str, ...]:
    from gnomon.learned.architectures import architecture_of

    return (
        model.name,
        "learned metric",
        str(model.encoder.get("num_hidden_layers", 0)),
        model.origin.get("name", ""),
        f"{architecture_of(model.kind).spec(model.settings)}('{model.name}')",
        "100 languages" if str(model.encoder.get("model_type")).startswith("xlm-roberta") else "",
        model.licence,
        _format_bytes(model.bytes),
        _format_bytes(model.bytes),
    )


def _features() -> _Listed:
    from gnomon import linguistics as annotate

    return ("name", "marks", "languages"), annotate.describe_features()


def _taggers() -> _Listed:
    from gnomon import linguistics as annotate

    return ("name", "language", "state"), annotate.describe_taggers()


def _languages() -> _Listed:
    """List the abilities of each language here, and the commands that add others."""
    from gnomon import linguistics as annotate

    header = ("code", "language", "counted in", "parts of speech", "base forms", "answer phrases")
    rows = annotate.describe_languages()
    return header, [(code, name, _words_of(code), *more) for code, name, *more in rows]


def _words_of(language: str) -> str:
    """Name the words that metrics count in a language."""
    from gnomon.core.scripts import is_unspaced
    from gnomon.metrics.tokenise.tokenisers import tokeniser_needs

    if not is_unspaced(language):
        return "words"
    packages = [needed.name for needed in tokeniser_needs(None, language)]
    try:
        versions = [*map(importlib.metadata.version, packages)]
    except importlib.metadata.PackageNotFoundError:
        return f"characters, by MeCab: pip install 'gnomon[{language}]'"
    return "words by MeCab" if versions else "characters"


def _scorers() -> _Listed:
    from gnomon.linguistics import scorers

    return ("name", "measures", "source"), scorers.describe_scorers()


def _explainers() -> _Listed:
    from gnomon import bmx

    return _list_descriptions(bmx.describe_explainers())


def _generators() -> _Listed:
    from gnomon import paraphrase

    return _list_descriptions(paraphrase.describe_generators())


def _perturbations() -> _Listed:
    from gnomon import stress

    rows = [
        (
            f"{each.name} FEATURE" if "feature" in each.needs else each.name,
            each.phenomenon,
            each.kind,
            each.severity,
            ", ".join(each.languages) or "any",
            each.about,
            each.package,
        )
        for each in stress.describe_perturbations()
    ]
    return ("name", "phenomenon", "kind", "severity", "languages", "description", "source"), rows


def _faults() -> _Listed:
    from gnomon.linguistics.faults.kinds import fault_kinds

    rows = [
        (one.name, one.group, " ".join(one.needs), one.about, one.package)
        for one in fault_kinds().values()
    ]
    return ("name", "group", "needs", "description", "source"), rows


def _formats() -> _Listed:
    from gnomon.data import formats

    return ("name", "reads", "writes", "description"), formats.describe()


_KINDS: Mapping[str, Callable[[], _Listed]] = {
    "methods": _methods,
    "metrics": _metrics,
    "models": _models,
    "features": _features,
    "taggers": _taggers,
    "languages": _languages,
    "scorers": _scorers,
    "explainers": _explainers,
    "generators": _generators,
    "perturbations": _perturbations,
    "faults": _faults,
    "formats": _formats,
}


# ``gnomon setup``: a tagger for a language, a model for BERTScore, a learned metric.


def _add_setup(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "setup",
        purpose="install taggers, and models of BERTScore and learned metrics",
        more="examples:\n  gnomon setup en\n  gnomon setup bertscore\n"
        "  gnomon setup model wmt22-comet-da --encoder xlm-roberta-large",
    )
    parser.add_argument(
        "language",
        metavar="LANGUAGE|bertscore|model",
        help="the code of a language, such as en, whose tagger to install; bertscore for its model;"
        " model to convert the checkpoint of a learned metric",
    )
    parser.add_argument(
        "model",
        nargs="?",
        metavar="CHECKPOINT",
        help="with model: the folder of a COMET checkpoint, or its name on the hub",
    )
    parser.add_argument(
        "--encoder",
        metavar="FOLDER",
        help="with model: the folder of the encoder's config.json and tokenizer.json, or its"
        " name on the hub; by default the one that the checkpoint names",
    )
    parser.add_argument(
        "--vocabulary",
        metavar="FOLDER",
        help="with model: the folder of tokenizer.json, if it is not beside the encoder's"
        " configuration",
    )
    parser.add_argument(
        "--into",
        metavar="FOLDER",
        help="with model: the folder to write; by default one in gnomon's cache, where the metric's"
        " name finds it",
    )
    parser.add_argument("--revision", help="with model: commit, tag or branch on the hub")
    parser.add_argument(
        "-l",
        "--text-language",
        metavar="LANG",
        default="en",
        help="with bertscore: the language of the texts (default: en)",
    )
    parser.add_argument("-y", "--yes", action="store_true", help="install without asking")
    parser.add_argument("--dry-run", action="store_true", help="print the commands, and run none")
    add_output(parser)
    parser.set_defaults(run=_setup)


def _setup(args: argparse.Namespace) -> int:
    """Show the commands, ask, run them; in other formats than text show them only."""
    if args.language == "model":
        return _setup_model(args)
    if args.model is not None:
        raise UsageError("a checkpoint, or its name, is for: gnomon setup model NAME")
    if args.language == "bertscore":
        return _setup_bertscore(args)
    from gnomon import linguistics as annotate

    plan = annotate.setup_plan(args.language)
    if _is_agreed(args, plan, "What a language needs") and not plan.ready:
        annotate.run_setup(plan)
    return 0


def _is_agreed(
    args: argparse.Namespace, plan: SetupPlan | BertScorePlan, title: str, **more: Cell
) -> bool:
    """Show what is to be installed; whether it is wanted."""
    if args.format != "text":
        rows: list[dict[str, Cell]] = [
            {"language": plan.language, "ready": plan.ready, **more, "command": " ".join(command)}
            for command in plan.commands or ((),)
        ]
        show_rows(args, "setup", title, rows)
        return False
    sys.stdout.write(plan.text + "\n")
    return not args.dry_run and (plan.ready or args.yes or _agreed())


def _setup_bertscore(args: argparse.Namespace) -> int:
    """Find an encoder, or install one, and show that it works."""
    from gnomon.metrics.encoders import bertscore_plan, trial

    plan = bertscore_plan(args.text_language)
    if not _is_agreed(args, plan, "What BERTScore needs", spec=plan.spec):
        return 0
    for command in plan.commands:
        _install(command)
    with stages("preparing the model", quiet=args.quiet):
        same, other = trial(plan)
    sys.stdout.write(
        f"Tried: two sentences that mean the same score {same:.2f}, two that do not {other:.2f}.\n"
    )
    return 0


def _install(command: Sequence[str]) -> None:
    """Run a command that installs something, its output shown."""
    import subprocess  # of all commands this one alone needs it

    try:
        done = subprocess.run(command, check=False).returncode  # noqa: S603  # our own fixed ones
    except OSError as error:
        done = error.errno or 1
    if done:
        raise MissingDependencyError(
            f"`{shlex.join(command)}` failed with exit status {done}; without a network, copy the"
            " folder of a model (config.json, model.safetensors, tokenizer.json) to this machine,"
            " and name it: -m \"bertscore('FOLDER', layer=N)\""
        )


def _setup_model(args: argparse.Namespace) -> int:
    """Convert the checkpoint of a learned metric, and tell how specs name it."""
    from gnomon.learned import convert
    from gnomon.learned.architectures import architecture_of
    from gnomon.learned.torch_weights import is_plain

    if args.model is None:
        raise UsageError("which model? gnomon setup model FOLDER, or its name on the hub")
    if is_plain(args.model, args.revision):
        return _setup_weights(args)
    made = convert(
        args.model,
        encoder=args.encoder,
        vocabulary=args.vocabulary,
        into=args.into,
        revision=args.revision,
    )
    metric = architecture_of(made.kind).spec(made.settings)
    row: dict[str, Cell] = {
        "spec": f"{metric}('{made.name}')",
        "class": made.kind,
        "licence": made.licence,
        "identity": made.folder.identity,
        "folder": str(made.folder.path),
    }
    show_rows(args, "setup", "Learned metric", [row])
    return 0


def _setup_weights(args: argparse.Namespace) -> int:
    """Write the weights of BLEURT or MetricX as safetensors, and tell how specs name them."""
    from gnomon.learned import convert_weights
    from gnomon.models import installed_models

    if args.encoder is not None:
        raise UsageError(f"{args.model!r} has no encoder of its own; leave out --encoder")
    made = convert_weights(args.model, into=args.into, revision=args.revision)
    model = installed_models([str(made.path)])[0]
    row: dict[str, Cell] = {
        "spec": model.serves.replace(str(made.path), made.name),
        "licence": model.licence,
        "identity": made.identity,
        "folder": str(made.path),
    }
    show_rows(args, "setup", "Learned metric", [row])
    return 0


def _agreed() -> bool:
    if not sys.stdin.isatty():
        sys.stdout.write("Nothing was installed: run again with --yes to install.\n")
        return False
    sys.stdout.write("Run these commands? [y/N] ")
    sys.stdout.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


# ``gnomon selftest``: check that this installation computes the expected numbers.


_TOLERANCE = 1e-6


def _add_selftest(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "selftest",
        purpose="check that this installation computes the expected numbers",
    )
    add_output(parser)
    parser.set_defaults(run=_selftest)


def _selftest(args: argparse.Namespace) -> int:
    """Compare with the expected numbers; exit 1 if one differs."""
    from gnomon.cli import selftest

    rows: list[dict[str, Cell]] = [
        {**check._asdict(), "correct": abs(check.found - check.expected) <= _TOLERANCE}
        for check in selftest.checks()
    ]
    show_rows(args, "selftest", "Numbers of the bundled example", rows)
    return 0 if all(row["correct"] for row in rows) else 1


# ``gnomon cache``: what is kept between runs.


def _add_cache(commands: Subparsers[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = add_command(commands, "cache", purpose="show or clear the results kept between runs")
    parser.add_argument(
        "action",
        choices=("info", "clear"),
        nargs="?",
        default="info",
        metavar="info|clear",
        help="info: show how much is kept, and where (default); clear: delete it",
    )
    add_output(parser)
    parser.set_defaults(run=_cache)


def _cache(args: argparse.Namespace) -> int:
    """Describe or empty the cache."""
    from gnomon.core.cache import Cache, default_path
    from gnomon.learned.score_store import score_cache

    caches = {
        "tags and explanations": Cache(default_path()),
        "scores of learned metrics": score_cache(),
    }
    rows: list[dict[str, Cell]] = []
    for what, cache in caches.items():
        if args.action == "clear":
            cache.clear()
        stats = cache.stats()
        rows.append(
            {
                "what": what,
                "entries": stats.entries,
                "bytes": stats.bytes,
                "limit": stats.limit,
                "path": str(stats.path),
            }
        )
    show_rows(args, "cache", "What is kept between runs", rows)
    return 0

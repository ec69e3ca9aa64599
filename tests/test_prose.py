"""Sentences go out, never in: what the syntax trees of all modules say of it.

Decisions rest on codes, parameters and subjects of messages, and on fields of errors. Sentences are
made where people read them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import gnomon

SRC = Path(gnomon.__file__).parent

#: functions, and methods, that give text
_RENDER = frozenset({"rendered", "noted", "phrase", "written", "plain", "getdoc"})
#: attributes with text for people, and with several
_TEXTS = frozenset({"said", "title", "help", "reason", "failure", "strerror", "__doc__"})
_SEVERAL = frozenset({"notices", "messages", "verdict", "anomalies"})
#: methods that keep a text what it is, and those that look into it
_KEEPS = frozenset({"strip", "lstrip", "rstrip", "lower", "upper", "casefold"})
_LOOKS = frozenset(
    {"startswith", "endswith", "find", "rfind", "index", "count", "partition", "rpartition"}
    | {"split", "rsplit", "splitlines", "removeprefix", "removesuffix", "replace"}
)
_PATTERNS = frozenset({"search", "match", "fullmatch", "finditer", "findall", "sub", "split"})
_SOURCES = frozenset({"getsource", "getsourcelines"})

#: what reads text all the same, by module and function, and why it must
_ALLOWED = {
    "cli.entry._failed": "libraries hand on the system's words, which begin with its number",
    "core.option_files.parsed_toml": "Python tells the line in words alone before 3.14",
    "core.registry.plain_help": "docstrings are help, where their markup goes",
    "data.formats.unreadable_files.explain": "Arrow and DuckDB have the words without the number",
    "metrics.functions.code_fields": "the code of a user's function is part of what its scores are",
    "metrics.titles._title_of_spec": "a title of ours may be a template",
    "models.decoding.requests._is_out_of_memory": "torch tells it of a processor in words alone",
    "paraphrase.training.vocabulary._remedy": "SentencePiece has no codes",
    "report.charts._choose_view": "a person names a chart by words of its title",
    "serve._api._parse_request": "msgspec tells in words alone where it stopped",
    "serve.problems.word_error": "others' words hold paths of the server, which nobody may see",
}
#: who makes sentences: packages, and functions whatever their module
_SAYS = frozenset({"cli", "messages", "report", "serve"})
_SHOWS = frozenset({"__str__", "__repr__", "_repr_html_"})


class _Reader(ast.NodeVisitor):
    """Finds what looks into text, and what makes it."""

    def __init__(self, module: str) -> None:
        self.where = [module]
        self.names: list[set[str]] = [set()]
        self.errors: list[set[str]] = [set()]
        self.looks: list[str] = []
        self.makes: list[str] = []

    def is_text(self, node: ast.AST | None) -> bool:  # noqa: PLR0911  # a case for each kind
        """Whether an expression is text for people, as far as one function shows."""
        match node:
            case ast.Name(id=name):
                return any(name in names for names in self.names)
            case ast.Attribute(attr=name):
                return name in _TEXTS
            case ast.Call(func=ast.Name(id="str"), args=[argument]):
                signature = isinstance(argument, ast.Attribute) and argument.attr == "signature"
                return signature or self.is_error(argument) or self.is_text(argument)
            case ast.Call(func=ast.Name(id=name)):
                return name in _RENDER
            case ast.Call(func=ast.Attribute(attr=name, value=value)):
                return name in _RENDER or (name in _KEEPS | _LOOKS and self.is_text(value))
            case ast.Subscript(value=value) | ast.NamedExpr(value=value):
                return self.is_text(value)
            case ast.BinOp(left=left, right=right) | ast.IfExp(body=left, orelse=right):
                return self.is_text(left) or self.is_text(right)
            case ast.JoinedStr(values=values):
                inner = [part.value for part in values if isinstance(part, ast.FormattedValue)]
                return any(self.is_error(one) or self.is_text(one) for one in inner)
        return False

    def is_error(self, node: ast.AST) -> bool:
        return isinstance(node, ast.Name) and any(node.id in names for names in self.errors)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        kinds = {a.arg: ast.unparse(a.annotation) for a in node.args.args if a.annotation}
        self.where.append(node.name)
        self.names.append({name for name, kind in kinds.items() if kind == "Message"})
        self.errors.append(
            {n for n, kind in kinds.items() if kind.endswith(("Error", "Exception"))}
        )
        self.generic_visit(node)
        for stack in (self.where, self.names, self.errors):
            stack.pop()

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815  # as ast calls it

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.errors[-1].add(node.name)
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self._bind(target, text=self.is_text(node.value))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self._bind(node.target, text=self.is_text(node.value))

    def visit_For(self, node: ast.For) -> None:
        self._bind_each(node)
        self.generic_visit(node)

    def visit_GeneratorExp(self, node: ast.AST) -> None:
        for part in getattr(node, "generators", ()):
            self._bind_each(part)
        self.generic_visit(node)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp  # noqa: N815

    def _bind_each(self, node: ast.For | ast.comprehension) -> None:
        match node.iter:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                self._bind(node.target, text=name in _SEVERAL)

    def _bind(self, target: ast.AST, *, text: bool) -> None:
        if isinstance(target, ast.Name):
            (self.names[-1].add if text else self.names[-1].discard)(target.id)

    def visit_Compare(self, node: ast.Compare) -> None:
        inside = (ast.In, ast.NotIn)
        if any(
            isinstance(operator, inside) and self.is_text(right)
            for operator, right in zip(node.ops, node.comparators, strict=True)
        ):
            self.looks.append(f"{'.'.join(self.where)}: line {node.lineno}")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        match node.func:
            case ast.Attribute(attr=name, value=value):
                given = name in _PATTERNS and any(map(self.is_text, node.args))
                if given or name in _SOURCES or (name in _LOOKS and self.is_text(value)):
                    self.looks.append(f"{'.'.join(self.where)}: line {node.lineno}")
            case ast.Name(id="rendered" | "noted" | "phrase") if not _SHOWS & {*self.where}:
                self.makes.append(f"{'.'.join(self.where)}: line {node.lineno}")
        self.generic_visit(node)


@cache
def _readers() -> tuple[_Reader, ...]:
    return tuple(map(_reader, sorted(SRC.rglob("*.py"))))


def _reader(path: Path) -> _Reader:
    reader = _Reader(".".join(path.relative_to(SRC).with_suffix("").parts))
    reader.visit(ast.parse(path.read_text(encoding="utf-8")))
    return reader


def _looks() -> Iterator[str]:
    for reader in _readers():
        yield from reader.looks


_READS = """
def named(notices):
    return [one for one in notices if "bleu" in one]
def refused():
    try:
        pass
    except OSError as gone:
        what = str(gone).lower()
        return what.partition(": ")
def of(scores, message):
    return "refs:" in str(scores.signature) or rendered(message)[:3].startswith("no ")
def known(view):
    return re.sub("bleu", "BLEU", view.title)
"""


def test_what_reads_sentences_is_found() -> None:
    reader = _Reader("made")
    reader.visit(ast.parse(_READS))
    found = [place.partition(":")[0] for place in reader.looks]
    assert found == ["made.named", "made.refused", "made.of", "made.of", "made.known"]
    assert reader.makes == ["made.of: line 11"]


def test_nothing_reads_sentences() -> None:
    assert not [place for place in _looks() if place.partition(":")[0] not in _ALLOWED]


def test_what_is_allowed_to_read_text_does_so() -> None:
    assert {place.partition(":")[0] for place in _looks()} == {*_ALLOWED}


def test_sentences_are_made_where_people_read_them() -> None:
    made = (place for reader in _readers() for place in reader.makes)
    assert not [place for place in made if place.partition(".")[0] not in _SAYS]

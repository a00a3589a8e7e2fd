"""The programs of tests/examples that have a finding, written in other ways: is the same found, at the same statements,
in the same sentences but for the names? `make respelled` runs all of them and prints what is lost, new, moved or said
otherwise.
"""

import ast
import builtins
import re
import string
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.recordings.store import kept_traces
from tests.support.explaining import findings_of_traces

ROOT = Path(__file__).parents[2]
BATCH = 32

Block = list[ast.stmt]


@dataclass
class Respelled:
    """A program in another spelling.

    origins: of each of its statements, from the top and from the outside, its number in the first spelling; None where
        it has none there
    names: the new names and the old ones
    """

    source: str
    origins: list[int | None]
    names: dict[str, str] = field(default_factory=dict)


def statements_of(tree: ast.AST) -> Iterator[ast.stmt]:
    """All statements, the outer ones before the inner ones."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.stmt):
            yield child
        yield from statements_of(child)


def numbered(source: str) -> ast.Module:
    """A program whose statements have their numbers."""
    tree = ast.parse(source)
    for number, statement in enumerate(statements_of(tree)):
        statement.origin = number  # type: ignore[attr-defined]
    return tree


def respelled(tree: ast.Module, names: dict[str, str] | None = None) -> Respelled:
    """A changed tree as a program."""
    origins = [getattr(statement, "origin", None) for statement in statements_of(tree)]
    return Respelled(
        ast.unparse(ast.fix_missing_locations(tree)), origins, {new: old for old, new in (names or {}).items()}
    )


def same_statements(source: str, changed: str) -> Respelled:
    """A program that has the statements of another one."""
    return Respelled(changed, [*range(len([*statements_of(ast.parse(source))]))])


def variables_of(tree: ast.Module) -> list[str]:
    """The variables, functions and parameters that may have another name, in order."""
    nodes = list(ast.walk(tree))
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    attributes = {
        id(node)
        for owner in classes
        for child in owner.body
        if not isinstance(child, ast.FunctionDef)
        for node in ast.walk(child)
    }
    methods = {id(child) for owner in classes for child in owner.body}
    names: dict[str, None] = {}
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in attributes:
            names[node.id] = None
        elif isinstance(node, ast.arg):
            names[node.arg] = None
        elif isinstance(node, ast.FunctionDef) and id(node) not in methods:
            names[node.name] = None
    fixed = {node.arg for node in nodes if isinstance(node, ast.keyword)}
    fixed |= {node.id for node in nodes if isinstance(node, ast.Name) and id(node) in attributes}
    fixed |= {node.name for node in nodes if id(node) in methods and isinstance(node, ast.FunctionDef)}
    fixed |= {
        (alias.asname or alias.name).split(".")[0]
        for node in nodes
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    return [name for name in names if name not in fixed and not name.startswith("__")]


def renamed(source: str, new_names: Callable[[list[str], set[str]], dict[str, str]]) -> Respelled:
    """With other names. `new_names` gets the old names and all that the program mentions."""
    tree = numbered(source)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | {
        node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)
    }
    names = new_names(variables_of(tree), used)
    methods = {id(child) for owner in ast.walk(tree) if isinstance(owner, ast.ClassDef) for child in owner.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = names.get(node.id, node.id)
        elif isinstance(node, ast.arg):
            node.arg = names.get(node.arg, node.arg)
        elif isinstance(node, ast.FunctionDef) and id(node) not in methods:
            node.name = names.get(node.name, node.name)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            node.names = [names.get(name, name) for name in node.names]
    return respelled(tree, names)


def in_chinese(source: str) -> Respelled:
    """With a Chinese character before each name."""
    return renamed(source, lambda names, _: {name: f"量{name}" for name in names})


INTENT = re.compile(
    r"best|old|prev|copy|copied|snap|backup|init|orig|before|ref|target|teacher|ema|frozen|saved|clone|start|label|truth|goal|loss",
    re.I,
)
"""Names that say what a thing is meant for, as nothing else in a program does: they are kept where new names say
nothing."""


def meaningless(names: list[str]) -> list[str]:
    """The names that say nothing of what is meant."""
    return [name for name in names if not INTENT.search(name)]


def in_letters(source: str) -> Respelled:
    """With names of one letter."""

    def letters(names: list[str], used: set[str]) -> dict[str, str]:
        free = [letter for letter in string.ascii_letters if letter not in used]
        return dict(zip(meaningless(names), free, strict=False))

    return renamed(source, letters)


def as_builtins(source: str) -> Respelled:
    """With names of functions that Python has and the program does not use."""

    def taken(names: list[str], used: set[str]) -> dict[str, str]:
        free = [
            name for name in dir(builtins) if name.islower() and name.isidentifier() and name not in used | {"print"}
        ]
        return dict(zip(meaningless(names), [name for name in free if not name.startswith("_")], strict=False))

    return renamed(source, taken)


def inserted(source: str, places: Callable[[ast.AST], list[tuple[int, int, bytes]]]) -> Respelled:
    """With text inserted at lines and bytes, but not in f-strings."""
    tree = ast.parse(source)
    formatted = {id(node) for outer in ast.walk(tree) if isinstance(outer, ast.JoinedStr) for node in ast.walk(outer)}
    lines = source.encode().splitlines(keepends=True)
    all_places = [place for node in ast.walk(tree) if id(node) not in formatted for place in places(node)]
    for line, byte, text in sorted(all_places, reverse=True):
        lines[line - 1] = lines[line - 1][:byte] + text + lines[line - 1][byte:]
    return same_statements(source, b"".join(lines).decode())


def in_brackets(source: str) -> Respelled:
    """With brackets around what each attribute is of."""

    def places(node: ast.AST) -> list[tuple[int, int, bytes]]:
        if not isinstance(node, ast.Attribute):
            return []
        of = node.value
        return [(of.lineno, of.col_offset, b"("), (of.end_lineno or 0, of.end_col_offset or 0, b")")]

    return inserted(source, places)


def on_broken_lines(source: str) -> Respelled:
    """With each argument on a line of its own."""

    def places(node: ast.AST) -> list[tuple[int, int, bytes]]:
        arguments: list[Any] = [*node.args, *node.keywords] if isinstance(node, ast.Call) else []
        return [(each.lineno, each.col_offset, b"\n") for each in arguments if not isinstance(each, ast.GeneratorExp)]

    return inserted(source, places)


def on_joined_lines(source: str) -> Respelled:
    """With simple statements of a block beside each other."""
    lines = source.split("\n")
    pairs = [
        pair for block in blocks_of(ast.parse(source)) for pair in pairwise(block) if not any(map(is_compound, pair))
    ]
    for left, right in sorted(pairs, key=lambda pair: pair[0].lineno, reverse=True):
        if left.lineno == left.end_lineno and right.lineno == right.end_lineno == left.lineno + 1:
            lines[left.lineno - 1 : right.lineno] = [f"{lines[left.lineno - 1]}; {lines[right.lineno - 1].strip()}"]
    return same_statements(source, "\n".join(lines))


def is_compound(statement: ast.stmt) -> bool:
    """Whether a statement has others in it."""
    return any(
        isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)
        for child in ast.walk(statement)
        if child is not statement
    )


def blocks_of(tree: ast.AST) -> Iterator[Block]:
    """All blocks of statements, in order."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield block


def with_torch_as_th(source: str) -> Respelled:
    """With `import torch as th`."""
    tree = numbered(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "torch" and alias.asname is None:
                    alias.asname = "th"
                elif alias.name.startswith("torch.") and alias.asname is None:
                    return Respelled(source, [])
        elif isinstance(node, ast.Name) and node.id == "torch":
            node.id = "th"
    return respelled(tree, {"torch": "th"})


def with_nn_imported_otherwise(source: str) -> Respelled:
    """With `from torch import nn` for `torch.nn`, and the other way round."""
    tree = numbered(source)
    has_nn = any(isinstance(node, ast.Name) and node.id == "nn" for node in ast.walk(tree))

    class Exchange(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return ast.Attribute(ast.Name("torch"), "nn") if has_nn and node.id == "nn" else node

        def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
            self.generic_visit(node)
            is_nn = isinstance(node.value, ast.Name) and node.value.id == "torch" and node.attr == "nn"
            return ast.Name("nn") if is_nn and not has_nn else node

    changed = Exchange().visit(tree)
    if not has_nn:
        at = next((k for k, node in enumerate(tree.body) if isinstance(node, ast.Import)), 0)
        changed.body.insert(at + 1, ast.ImportFrom("torch", [ast.alias("nn")], 0))
    return respelled(changed)


def split_imports(tree: ast.Module) -> tuple[Block, Block]:
    """The imports of a program, and the rest."""
    imports: Block = [each for each in tree.body if isinstance(each, ast.Import | ast.ImportFrom)]
    return imports, [each for each in tree.body if not isinstance(each, ast.Import | ast.ImportFrom)]


def wrapped(template: str) -> Callable[[str], Respelled]:
    """With all but the imports in the place of `...` in a template."""

    def wrap(source: str) -> Respelled:
        tree = numbered(source)
        imports, body = split_imports(tree)
        around = ast.parse(template)
        block = next(
            block
            for block in blocks_of(around)
            if any(isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant) for each in block)
        )
        block[:] = body
        return respelled(ast.Module([*imports, *around.body], []))

    return wrap


def in_a_closure(source: str) -> Respelled:
    """With the loop, or the last half, in a function within the function that has the rest."""
    tree = numbered(source)
    imports, body = split_imports(tree)
    at = next((k for k, each in enumerate(body) if isinstance(each, ast.For | ast.While)), max(1, len(body) // 2))
    outer, inner = body[:at], body[at:]
    if not outer or not inner:
        return Respelled(source, [])
    shared = sorted(stored_in(outer) & stored_in(inner))
    declaration: Block = [ast.Nonlocal(shared)] if shared else []
    around = ast.parse("def outer():\n    def inner():\n        ...\n    inner()\nouter()")
    function = around.body[0]
    assert isinstance(function, ast.FunctionDef) and isinstance(function.body[0], ast.FunctionDef)
    function.body[0].body = [*declaration, *inner]
    function.body[:0] = outer
    return respelled(ast.Module([*imports, *around.body], []))


def stored_in(block: Block) -> set[str]:
    """The names that a block binds in its own scope."""
    names = set()
    waiting: list[ast.AST] = [*block]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        waiting += ast.iter_child_nodes(node)
    return names


def with_statements_between(source: str) -> Respelled:
    """With a statement that does nothing after each one."""
    tree = numbered(source)
    for block in [*blocks_of(tree)]:
        if block and isinstance(block[0], ast.stmt):
            block[:] = [each for statement in block for each in (statement, ast.Pass())]
    return respelled(tree)


WAYS: dict[str, Callable[[str], Respelled]] = {
    "Chinese names": in_chinese,
    "one-letter names": in_letters,
    "names of builtins": as_builtins,
    "brackets": in_brackets,
    "broken lines": on_broken_lines,
    "joined lines": on_joined_lines,
    "torch as th": with_torch_as_th,
    "nn otherwise": with_nn_imported_otherwise,
    "function": wrapped("def main():\n    0\nmain()"),
    "method": wrapped("class Job:\n    def run(self):\n        0\nJob().run()"),
    "closure": in_a_closure,
    "comprehension": wrapped("def main():\n    0\n[main() for _ in range(1)]"),
    "between": with_statements_between,
}

Said = tuple[str, str | None, str, int | None, str]
"""A finding: its kind and variant, its severity, its line, its sentence without names, code and lines."""


@dataclass
class Difference:
    """What differs in another spelling."""

    program: str
    way: str
    lost: list[Said]
    new: list[Said]
    moved: list[tuple[Said, Said]]
    reworded: list[tuple[str, str]]


def lines_of(source: str) -> list[tuple[int, int]]:
    """The first and the last line of each statement, the outer ones before the inner ones."""
    return [(each.lineno, each.end_lineno or each.lineno) for each in statements_of(ast.parse(source))]


def said_of(findings: Sequence[dict[str, Any]], source: str, spelled: Respelled | None = None) -> list[Said]:
    """What is found of a program, with the first line of its statement in another spelling, if there is one."""
    spans, places = lines_of(source), [*range(len(lines_of(source)))]
    if spelled is not None:
        number_of = {origin: k for k, origin in enumerate(spelled.origins) if origin is not None}
        spans, places = [*spans, *lines_of(spelled.source)], [len(spans) + number_of.get(k, -1) for k in places]

    def line_of(line: int) -> int | None:
        around = [k for k in range(len(places)) if spans[k][0] <= line <= spans[k][1]]
        return spans[places[around[-1]]][0] if around else None

    def plain(text: str) -> str:
        text = re.sub(r"`[^`]*`", "·", text).replace("· (·)", "·")  # a name, and what the module calls it
        return re.sub(r"\d+", "#", text)

    said = [
        (each["kind"], each["variant"], each["severity"], line_of(each["line"]), plain(each["what"] + each["todo"]))
        for each in findings
    ]
    return [*dict.fromkeys(said)]  # of two statements that are now on one line the same may be said


def difference(program: str, way: str, before: list[Said], after: list[Said]) -> Difference | None:
    """What is lost, new, at another statement or said otherwise; None where nothing is."""
    left, right = [*before], [*after]
    for each in before:
        if each in right:
            left.remove(each)
            right.remove(each)
    found = Difference(program, way, [], [], [], [])
    for each in left:
        same = next((other for other in right if other[:4] == each[:4]), None)
        other = same or next((other for other in right if other[:2] == each[:2]), None)
        if other is None:
            found.lost.append(each)
            continue
        right.remove(other)
        if same:
            found.reworded.append((each[4], other[4]))
        else:
            found.moved.append((each, other))
    found.new = right
    return found if found.lost or found.new or found.moved or found.reworded else None


def programs() -> dict[str, str]:
    """The programs of tests/examples that have a finding, without comments, by name."""
    paths = [
        path for folder in ("silent", "findings") for path in sorted((ROOT / f"tests/examples/{folder}").glob("*.py"))
    ]
    return {f"{path.parent.name}/{path.stem}": ast.unparse(ast.parse(path.read_text("utf-8"))) for path in paths}


def outcome_of(trace: dict[str, Any]) -> tuple[str, str | None]:
    error = trace["outcome"].get("error")
    return trace["outcome"]["status"], error["type"] if error else None


def differences(sources: dict[str, str], ways: Sequence[str]) -> Iterator[tuple[str, int, list[Difference]]]:
    """By way, how many programs run as before in it, and what differs."""
    names = [*sources]
    traces = kept_traces([*sources.values()])
    outcomes = dict(zip(names, map(outcome_of, traces), strict=True))
    found = dict(zip(names, findings_of_traces(traces), strict=True))
    for way in ways:
        compared, differing = 0, []
        for k in range(0, len(names), BATCH):
            part = [name for name in names[k : k + BATCH] if found[name]]
            spelled = {name: WAYS[way](sources[name]) for name in part}
            part = [name for name in part if spelled[name].source != sources[name]]
            runs = kept_traces([spelled[name].source for name in part])
            for name, run, after in zip(part, runs, findings_of_traces(runs), strict=True):
                if outcome_of(run) != outcomes[name]:
                    continue
                compared += 1
                before = said_of(found[name], sources[name], spelled[name])
                one = difference(name, way, before, said_of(after, spelled[name].source))
                differing += [one] if one else []
        yield way, compared, differing


def main() -> None:
    """Print the table. Arguments: take one program of so many; the ways, if not all."""
    every, *wanted = [*sys.argv[1:], "1"] if len(sys.argv) < 2 else sys.argv[1:]
    ways = [way for way in WAYS if not wanted or way in wanted]
    names = [*programs()]
    chosen = {name: source for name, source in programs().items() if names.index(name) % int(every) == 0}
    total: Counter[str] = Counter()
    for way, compared, differing in differences(chosen, ways):
        counts = {
            what: sum(len(getattr(each, what)) for each in differing) for what in ("lost", "new", "moved", "reworded")
        }
        total.update(counts)
        print(
            f"{way:18}{compared:5} programs  " + "  ".join(f"{count} {what}" for what, count in counts.items()),
            flush=True,
        )
        for each in differing:
            for what in ("lost", "new", "moved", "reworded"):
                for item in getattr(each, what):
                    print(f"    {each.program}: {what} {item}", flush=True)
    if total["lost"] or total["new"] or total["moved"]:
        sys.exit(1)


if __name__ == "__main__":
    main()

"""Repairs: changes that let a refused program, or one that asked for CUDA, run without the files and devices it misses.

Every repair is found in the syntax tree, is offered only where the changed text is a program that is refused in fewer
places, and is made by nobody but the reader.
"""

import ast
import re
from collections.abc import Callable

from server.language.cuda import Cuda
from server.language.edits import Edits, edited, moved
from server.language.file_repairs import Opened
from server.language.names import Modules, bound
from server.language.paste import Pasted
from server.language.policy import CLOSED, ELSEWHERE, check
from server.language.text import parsed
from server.language.tree import walk
from server.wire.trace import Refusal, Repair

SHAPE = "4, 4"
MOST = 200
"""Edits of one repair."""

_ARRAYS = {f"numpy.{name}" for name in ("load", "loadtxt", "genfromtxt", "fromfile", "memmap")}
_TABLES = {f"pandas.{name}" for name in ("read_csv", "read_table", "read_excel", "read_json", "read_parquet")}
_SAVES = {f"numpy.{name}" for name in ("save", "savez", "savez_compressed", "savetxt")} | {"torch.save"}
_GREY = ("MNIST", "FashionMNIST", "KMNIST", "EMNIST", "QMNIST")
_CUDA = re.compile(r"CUDA|NVIDIA|accelerator device|_cuda_")


def offered(pasted: Pasted, text: str, refusals: list[Refusal]) -> list[Refusal]:
    """The refusals, each repair with the first one that it settles; `text` is what was pasted."""
    if any(refusal.key in ("syntax", "deep") for refusal in refusals):
        return refusals  # no tree to look at
    tree = parsed(pasted.source)
    out = list(refusals)
    for rule in (_weights, _saves, _arrays, _tables, _pictures, _opened):
        repair = rule(pasted.source, tree)
        at = _settled(pasted.source, repair, out) if repair is not None else None
        if repair is not None and at is not None:
            found = [*out[at].repairs, _beside(repair, pasted, text)]
            out[at] = out[at].model_copy(update={"repairs": found})
    return out


def on_cpu(pasted: Pasted, text: str, message: str) -> list[Repair]:
    """For an error that says that there is no CUDA device: every place at once."""
    if not _CUDA.search(message):
        return []
    tree = parsed(pasted.source)
    edits = Cuda(pasted.source, tree, Modules(walk(tree))).told()
    return [_beside(Repair(key="cuda", edits=edits), pasted, text)] if 0 < len(edits) <= MOST else []


def _beside(repair: Repair, pasted: Pasted, text: str) -> Repair:
    """With the same edits in the pasted text, where there is one."""
    found = moved(repair.edits, pasted.source, pasted.lines, text) if text != pasted.source else None
    return repair if found is None else repair.model_copy(update={"pasted": found})


def _settled(source: str, repair: Repair, refusals: list[Refusal]) -> int | None:
    """The first refusal that is none any more; None where the repaired text is no program or is refused as often."""
    _, left = check(edited(source, repair.edits, repair.shape))
    if len(left) >= len(refusals) or any(refusal.key == "syntax" for refusal in left):
        return None
    lines = {line for edit in repair.edits for line in range(edit.line, edit.end_line + 1)}
    return next((k for k, refusal in enumerate(refusals) if refusal.line in lines), None)


def calls(tree: ast.AST, modules: Modules, path: Callable[[str], bool]) -> list[ast.Call]:
    """The calls of what has such a path; none where they are more than a repair may change."""
    nodes = [node for node in walk(tree) if isinstance(node, ast.Call)]
    found = [node for node in nodes if path(modules.path(node.func) or "")]
    return found if len(found) <= MOST else []


def target(statement: ast.stmt | None, value: ast.AST) -> str | None:
    """The one name that a statement binds to this value."""
    if isinstance(statement, ast.Assign) and statement.value is value and len(statement.targets) == 1:
        name = statement.targets[0]
        return name.id if isinstance(name, ast.Name) else None
    return None


def unused(work: Edits, tree: ast.Module, also: str) -> None:
    """Drop the imports of what is not here where all uses are gone now, or where `also` names their package."""
    for node in walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom) or node in work.gone:
            continue
        paths = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        tops = {path.split(".")[0] for path in paths}
        members = {f"{paths[0]}.{alias.name}" for alias in node.names if isinstance(node, ast.ImportFrom)}
        if not tops <= ELSEWHERE.keys() and not (members and members <= CLOSED.keys()):
            continue
        names = [alias.asname or alias.name.split(".")[0] for alias in node.names]
        found = [use for name in names for use in work.uses(name)]
        if all(use in work.gone for use in found) and (found or tops == {also}):
            work.drop(node)


def _repair(key: str, work: Edits, tree: ast.Module, shape: str | None = SHAPE, also: str = "") -> Repair | None:
    if not 0 < len(work.told()) <= MOST:
        return None
    unused(work, tree, also)
    repair = Repair(key=key, edits=work.told())
    return repair if shape is None else repair.model_copy(update={"shape": shape})


def _weights(source: str, tree: ast.Module) -> Repair | None:
    """`torch.load`: a random tensor; weights for `load_state_dict` are left out, the layers keep the ones they have."""
    modules, work = Modules(walk(tree)), Edits(source, tree)
    drawn = False
    for call in calls(tree, modules, "torch.load".__eq__):
        statement = work.statement(call)
        name = target(statement, call)
        users = [work.statement(use) for use in work.uses(name)] if name else []
        if statement is not None and _state(statement, call):
            work.drop(statement)
        elif statement is not None and users and all(user is not None and _state(user) for user in users):
            work.drop(statement)
            for user in users:
                if user is not None:
                    work.drop(user)
        elif name and any(
            isinstance(work.parent(use), ast.Subscript | ast.Attribute) and not _tensor(work.parent(use))
            for use in work.uses(name)
        ):
            return None  # a dictionary, a module: nobody knows what is in it
        else:
            work.put(call, f"{modules.called('torch', 'torch')}.randn({{shape}})")
            drawn = True
    return _repair("load" if drawn else "weights", work, tree, SHAPE if drawn else None)


def _state(statement: ast.stmt, within: ast.AST | None = None) -> bool:
    """Whether it is a call of `load_state_dict`, with this in its arguments."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    if (
        not isinstance(value, ast.Call)
        or not isinstance(value.func, ast.Attribute)
        or value.func.attr != "load_state_dict"
    ):
        return False
    return within is None or any(part is within for argument in value.args for part in walk(argument))


def _tensor(node: ast.AST | None) -> bool:
    """Whether this can be asked of a tensor: not a key of a dictionary, not a method of modules."""
    if isinstance(node, ast.Subscript):
        return not (isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str))
    return isinstance(node, ast.Attribute) and node.attr not in (
        "state_dict",
        "keys",
        "items",
        "values",
        "parameters",
        "eval",
        "train",
        "get",
    )


def _saves(source: str, tree: ast.Module) -> Repair | None:
    modules, work = Modules(walk(tree)), Edits(source, tree)
    for call in calls(tree, modules, _SAVES.__contains__):
        statement = work.statement(call)
        if isinstance(statement, ast.Expr) and statement.value is call:
            work.drop(statement)
    return _repair("save", work, tree, None)


def _arrays(source: str, tree: ast.Module) -> Repair | None:
    modules, work = Modules(walk(tree)), Edits(source, tree)
    for call in calls(tree, modules, _ARRAYS.__contains__):
        name = target(work.statement(call), call)
        if name and any(
            not _tensor(work.parent(use)) for use in work.uses(name) if isinstance(work.parent(use), ast.Subscript)
        ):
            return None  # an archive of several
        work.put(call, f"{modules.called('numpy', 'np')}.random.randn({{shape}})")
    return _repair("load", work, tree)


def _tables(source: str, tree: ast.Module) -> Repair | None:
    """A table that is only asked for its numbers: `.values`, `.to_numpy()`, `.iloc[…]`."""
    modules, work = Modules(walk(tree)), Edits(source, tree)
    for call in calls(tree, modules, _TABLES.__contains__):
        name = target(work.statement(call), call)
        for table in [*work.uses(name), call]:
            if not _numbers(work, table) and not (table is call and name):
                return None
        work.put(call, f"{modules.called('numpy', 'np')}.random.randn({{shape}})")
    return _repair("table", work, tree)


def _numbers(work: Edits, table: ast.AST) -> bool:
    """Take the way to its numbers off a table; False where something else is asked of it."""
    asked = work.parent(table)
    if not isinstance(asked, ast.Attribute):
        return False
    outer = work.parent(asked)
    if asked.attr == "shape":
        return True
    if asked.attr == "iloc" and isinstance(outer, ast.Subscript):
        work.cut(table, asked)
        return isinstance(work.parent(outer), ast.Attribute) and _numbers(work, outer)
    if asked.attr == "values":
        work.cut(table, asked)
    elif asked.attr == "to_numpy" and isinstance(outer, ast.Call) and outer.func is asked:
        work.cut(table, outer)
    return asked.attr in ("values", "to_numpy")


def _pictures(source: str, tree: ast.Module) -> Repair | None:
    """Data sets of torchvision: random pictures and classes, without the transforms that nobody needs then."""
    modules, work = Modules(walk(tree)), Edits(source, tree)
    torch = modules.called("torch", "torch")
    grey = False
    for call in calls(tree, modules, lambda path: path.startswith("torchvision.datasets.")):
        name = target(work.statement(call), call)
        if any(isinstance(work.parent(use), ast.Attribute) for use in work.uses(name)):
            return None  # its classes, its file names
        grey = grey or (modules.path(call.func) or "").rsplit(".", 1)[1] in _GREY
        work.put(call, f"{torch}.utils.data.TensorDataset({torch}.randn({{shape}}), {torch}.randint(0, 10, ({{n}},)))")
    if not work.told():
        return None
    for node in walk(tree):
        if isinstance(node, ast.Assign) and (modules.path(getattr(node.value, "func", node)) or "").startswith(
            "torchvision.transforms."
        ):
            name = target(node, node.value)
            if name and all(use in work.gone for use in work.uses(name)):
                work.drop(node)
    return _repair("pictures", work, tree, "64, 1, 28, 28" if grey else "64, 3, 32, 32", "torchvision")


def _opened(source: str, tree: ast.Module) -> Repair | None:
    """`open`: a sentence for what is read as text, random numbers for what is unpacked, nothing for what is written."""
    if "open" in bound(walk(tree)):
        return None
    modules, work = Modules(walk(tree)), Edits(source, tree)
    found = Opened(work, modules)
    if not found.change(tree):
        return None
    return _repair(
        "file" if found.drawn else "text" if found.read else "save", work, tree, SHAPE if found.drawn else None
    )

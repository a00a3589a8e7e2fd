"""Repairs: changes that let a refused program, or one that asked for CUDA, run without the files and devices it misses.

Repairs are found in the syntax tree. One is offered only if the changed program has fewer refusals, and is applied only by
the reader.
"""

import ast
import re
from collections.abc import Callable

from server.language.cuda import CudaEdits
from server.language.edits import Edits, apply_edits, map_to_pasted
from server.language.file_repairs import OpenCalls
from server.language.names import ImportedModules, bound_names
from server.language.paste import Pasted
from server.language.policy import CLOSED_MEMBERS, UNAVAILABLE_MODULES, check
from server.language.text import parse
from server.language.tree import walk
from server.wire.trace import Refusal, Repair

SHAPE = "4, 4"
MAX_EDITS = 200
"""Edits of one repair."""

_ARRAYS = {f"numpy.{name}" for name in ("load", "loadtxt", "genfromtxt", "fromfile", "memmap")}
_TABLES = {f"pandas.{name}" for name in ("read_csv", "read_table", "read_excel", "read_json", "read_parquet")}
_SAVES = {f"numpy.{name}" for name in ("save", "savez", "savez_compressed", "savetxt")} | {"torch.save"}
_GREY = ("MNIST", "FashionMNIST", "KMNIST", "EMNIST", "QMNIST")
_CUDA = re.compile(r"CUDA|NVIDIA|accelerator device|_cuda_")


def offer_repairs(pasted: Pasted, text: str, refusals: list[Refusal]) -> list[Refusal]:
    """The refusals, each repair with the first one that it resolves. text: as pasted."""
    if any(refusal.key in ("syntax", "deep") for refusal in refusals):
        return refusals  # no tree to look at
    tree = parse(pasted.source)
    out = list(refusals)
    for rule in (_repair_weights, _repair_saves, _repair_arrays, _repair_tables, _repair_datasets, _repair_open_calls):
        repair = rule(pasted.source, tree)
        at = _first_settled(pasted.source, repair, out) if repair is not None else None
        if repair is not None and at is not None:
            offers = [*out[at].repairs, _with_pasted_edits(repair, pasted, text)]
            out[at] = out[at].model_copy(update={"repairs": offers})
    return out


def cpu_repairs(pasted: Pasted, text: str, message: str) -> list[Repair]:
    """For an error of a missing CUDA device: one repair that changes all uses of CUDA to the CPU."""
    if not _CUDA.search(message):
        return []
    tree = parse(pasted.source)
    edits = CudaEdits(pasted.source, tree, ImportedModules(walk(tree))).sorted_edits()
    return [_with_pasted_edits(Repair(key="cuda", edits=edits), pasted, text)] if 0 < len(edits) <= MAX_EDITS else []


def _with_pasted_edits(repair: Repair, pasted: Pasted, text: str) -> Repair:
    """The repair with the same edits for the pasted text, where that differs from the program."""
    edits = map_to_pasted(repair.edits, pasted.source, pasted.lines, text) if text != pasted.source else None
    return repair if edits is None else repair.model_copy(update={"pasted": edits})


def _first_settled(source: str, repair: Repair, refusals: list[Refusal]) -> int | None:
    """The index of the first refusal that the repair resolves; None if the repaired program has as many refusals or is invalid."""
    _, left = check(apply_edits(source, repair.edits, repair.shape))
    if len(left) >= len(refusals) or any(refusal.key == "syntax" for refusal in left):
        return None
    lines = {line for edit in repair.edits for line in range(edit.line, edit.end_line + 1)}
    return next((k for k, refusal in enumerate(refusals) if refusal.line in lines), None)


def calls_of(tree: ast.AST, modules: ImportedModules, path: Callable[[str], bool]) -> list[ast.Call]:
    """The calls of functions whose dotted path matches; none if they are more than MAX_EDITS."""
    nodes = [node for node in walk(tree) if isinstance(node, ast.Call)]
    matching = [node for node in nodes if path(modules.path(node.func) or "")]
    return matching if len(matching) <= MAX_EDITS else []


def assigned_name(statement: ast.stmt | None, value: ast.AST) -> str | None:
    """The name, if the statement assigns the value to a single one."""
    if isinstance(statement, ast.Assign) and statement.value is value and len(statement.targets) == 1:
        name = statement.targets[0]
        return name.id if isinstance(name, ast.Name) else None
    return None


def drop_unused_imports(work: Edits, tree: ast.Module, also: str) -> None:
    """Comment out imports of unavailable packages whose uses were all removed, or that `also` names."""
    for node in walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom) or node in work.removed:
            continue
        paths = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        tops = {path.split(".")[0] for path in paths}
        members = {f"{paths[0]}.{alias.name}" for alias in node.names if isinstance(node, ast.ImportFrom)}
        if not tops <= UNAVAILABLE_MODULES.keys() and not (members and members <= CLOSED_MEMBERS.keys()):
            continue
        names = [alias.asname or alias.name.split(".")[0] for alias in node.names]
        uses = [use for name in names for use in work.uses(name)]
        if all(use in work.removed for use in uses) and (uses or tops == {also}):
            work.comment_out(node)


def _make_repair(key: str, work: Edits, tree: ast.Module, shape: str | None = SHAPE, also: str = "") -> Repair | None:
    if not 0 < len(work.sorted_edits()) <= MAX_EDITS:
        return None
    drop_unused_imports(work, tree, also)
    repair = Repair(key=key, edits=work.sorted_edits())
    return repair if shape is None else repair.model_copy(update={"shape": shape})


def _repair_weights(source: str, tree: ast.Module) -> Repair | None:
    """`torch.load`: a random tensor; weights for `load_state_dict` are left out, the layers keep the ones they have."""
    modules, work = ImportedModules(walk(tree)), Edits(source, tree)
    drawn = False
    for call in calls_of(tree, modules, "torch.load".__eq__):
        statement = work.statement(call)
        name = assigned_name(statement, call)
        users = [work.statement(use) for use in work.uses(name)] if name else []
        if statement is not None and _loads_state_dict(statement, call):
            work.comment_out(statement)
        elif statement is not None and users and all(user is not None and _loads_state_dict(user) for user in users):
            work.comment_out(statement)
            for user in users:
                if user is not None:
                    work.comment_out(user)
        elif name and any(
            isinstance(work.parent(use), ast.Subscript | ast.Attribute) and not _is_tensor_use(work.parent(use))
            for use in work.uses(name)
        ):
            return None  # a dictionary, a module: nobody knows what is in it
        else:
            work.replace(call, f"{modules.name_of('torch', 'torch')}.randn({{shape}})")
            drawn = True
    return _make_repair("load" if drawn else "weights", work, tree, SHAPE if drawn else None)


def _loads_state_dict(statement: ast.stmt, within: ast.AST | None = None) -> bool:
    """Whether a statement calls `load_state_dict`, with the node `within` in its arguments."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    if (
        not isinstance(value, ast.Call)
        or not isinstance(value.func, ast.Attribute)
        or value.func.attr != "load_state_dict"
    ):
        return False
    return within is None or any(part is within for argument in value.args for part in walk(argument))


def _is_tensor_use(node: ast.AST | None) -> bool:
    """Whether an access is possible on a tensor: not a string key, not a method of modules or dictionaries."""
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


def _repair_saves(source: str, tree: ast.Module) -> Repair | None:
    modules, work = ImportedModules(walk(tree)), Edits(source, tree)
    for call in calls_of(tree, modules, _SAVES.__contains__):
        statement = work.statement(call)
        if isinstance(statement, ast.Expr) and statement.value is call:
            work.comment_out(statement)
    return _make_repair("save", work, tree, None)


def _repair_arrays(source: str, tree: ast.Module) -> Repair | None:
    modules, work = ImportedModules(walk(tree)), Edits(source, tree)
    for call in calls_of(tree, modules, _ARRAYS.__contains__):
        name = assigned_name(work.statement(call), call)
        if name and any(
            not _is_tensor_use(work.parent(use))
            for use in work.uses(name)
            if isinstance(work.parent(use), ast.Subscript)
        ):
            return None  # an archive of several
        work.replace(call, f"{modules.name_of('numpy', 'np')}.random.randn({{shape}})")
    return _make_repair("load", work, tree)


def _repair_tables(source: str, tree: ast.Module) -> Repair | None:
    """A table that is only asked for its numbers: `.values`, `.to_numpy()`, `.iloc[…]`."""
    modules, work = ImportedModules(walk(tree)), Edits(source, tree)
    for call in calls_of(tree, modules, _TABLES.__contains__):
        name = assigned_name(work.statement(call), call)
        for table in [*work.uses(name), call]:
            if not _unwrap_numbers(work, table) and not (table is call and name):
                return None
        work.replace(call, f"{modules.name_of('numpy', 'np')}.random.randn({{shape}})")
    return _make_repair("table", work, tree)


def _unwrap_numbers(work: Edits, table: ast.AST) -> bool:
    """Remove the access to a table's numbers, like `.values`; False where the table is used otherwise."""
    access = work.parent(table)
    if not isinstance(access, ast.Attribute):
        return False
    outer = work.parent(access)
    if access.attr == "shape":
        return True
    if access.attr == "iloc" and isinstance(outer, ast.Subscript):
        work.delete_after(table, access)
        return isinstance(work.parent(outer), ast.Attribute) and _unwrap_numbers(work, outer)
    if access.attr == "values":
        work.delete_after(table, access)
    elif access.attr == "to_numpy" and isinstance(outer, ast.Call) and outer.func is access:
        work.delete_after(table, outer)
    return access.attr in ("values", "to_numpy")


def _repair_datasets(source: str, tree: ast.Module) -> Repair | None:
    """Data sets of torchvision: random pictures and classes, without the transforms that nobody needs then."""
    modules, work = ImportedModules(walk(tree)), Edits(source, tree)
    torch = modules.name_of("torch", "torch")
    grey = False
    for call in calls_of(tree, modules, lambda path: path.startswith("torchvision.datasets.")):
        name = assigned_name(work.statement(call), call)
        if any(isinstance(work.parent(use), ast.Attribute) for use in work.uses(name)):
            return None  # its classes, its file names
        grey = grey or (modules.path(call.func) or "").rsplit(".", 1)[1] in _GREY
        work.replace(
            call, f"{torch}.utils.data.TensorDataset({torch}.randn({{shape}}), {torch}.randint(0, 10, ({{n}},)))"
        )
    if not work.sorted_edits():
        return None
    for node in walk(tree):
        if isinstance(node, ast.Assign) and (modules.path(getattr(node.value, "func", node)) or "").startswith(
            "torchvision.transforms."
        ):
            name = assigned_name(node, node.value)
            if name and all(use in work.removed for use in work.uses(name)):
                work.comment_out(node)
    return _make_repair("pictures", work, tree, "64, 1, 28, 28" if grey else "64, 3, 32, 32", "torchvision")


def _repair_open_calls(source: str, tree: ast.Module) -> Repair | None:
    """`open`: a sentence for what is read as text, random numbers for what is unpacked, nothing for what is written."""
    if "open" in bound_names(walk(tree)):
        return None
    modules, work = ImportedModules(walk(tree)), Edits(source, tree)
    opened = OpenCalls(work, modules)
    if not opened.replace_all(tree):
        return None
    return _make_repair(
        "file" if opened.uses_random else "text" if opened.uses_text else "save",
        work,
        tree,
        SHAPE if opened.uses_random else None,
    )

"""Repairs for programs that use packages which are not here: data sets, tables and downloads become random numbers or text."""

import ast

from gradbox.language.file_repairs import random_array_code, text_read_replacement
from gradbox.language.repair_draft import DEFAULT_SHAPE, RepairDraft
from gradbox.wire.program import Repair

_TABLE_READERS = {f"pandas.{name}" for name in ("read_csv", "read_table", "read_excel", "read_json", "read_parquet")}
_GREYSCALE_SETS = ("MNIST", "FashionMNIST", "KMNIST", "EMNIST", "QMNIST")


def repair_pandas_readers(draft: RepairDraft) -> Repair | None:
    """A table that is only asked for its numbers: `.values`, `.to_numpy()`, `.iloc[…]`."""
    for call in draft.calls_with_path(_TABLE_READERS.__contains__):
        name = draft.assigned_name(call)
        for table in [*draft.reads_of_name(name), call]:
            if not _remove_number_access(draft, table) and not (table is call and name):
                return None
        draft.replace_node(call, random_array_code(draft, call))
    return draft.finish_repair("table", DEFAULT_SHAPE)


def _remove_number_access(draft: RepairDraft, table: ast.AST) -> bool:
    """Remove the access to a table's numbers, like `.values`; False where the table is used otherwise."""
    access = draft.parent_of(table)
    if not isinstance(access, ast.Attribute):
        return False
    outer = draft.parent_of(access)
    if access.attr == "shape":
        return True
    if access.attr == "iloc" and isinstance(outer, ast.Subscript):
        draft.delete_node_end(table, access)
        return isinstance(draft.parent_of(outer), ast.Attribute) and _remove_number_access(draft, outer)
    if access.attr == "values":
        draft.delete_node_end(table, access)
    elif access.attr == "to_numpy" and isinstance(outer, ast.Call) and outer.func is access:
        dtype = [*outer.args[:1], *(keyword.value for keyword in outer.keywords if keyword.arg == "dtype")]
        if dtype:
            draft.replace_between(draft.node_end(table), draft.node_end(outer), f".astype({ast.unparse(dtype[0])})")
        else:
            draft.delete_node_end(table, outer)
    return access.attr in ("values", "to_numpy")


def repair_torchvision_datasets(draft: RepairDraft) -> Repair | None:
    """Data sets of torchvision: random pictures and classes, without the transforms that nobody needs then."""
    grey = False
    for call in draft.calls_with_path(lambda path: path.startswith("torchvision.datasets.")):
        name = draft.assigned_name(call)
        if any(isinstance(draft.parent_of(use), ast.Attribute) for use in draft.reads_of_name(name)):
            return None  # its classes, its file names
        grey = grey or draft.dotted_path(call.func).rsplit(".", 1)[1] in _GREYSCALE_SETS
        pictures, classes = f"{draft.torch}.randn({{shape}})", f"{draft.torch}.randint(0, 10, ({{n}},))"
        if any(_takes_single_items(draft, use) for use in [call, *draft.reads_of_name(name)]):
            draft.replace_node(call, f"list(zip(map({draft.torch}.clone, {pictures}), {classes}.tolist()))")
        else:
            draft.replace_node(call, f"{draft.torch}.utils.data.TensorDataset({pictures}, {classes})")
    if not draft.sorted_edits():
        return None
    for node in draft.nodes:
        if isinstance(node, ast.Assign) and draft.dotted_path(getattr(node.value, "func", node)).startswith(
            "torchvision.transforms."
        ):
            name = draft.assigned_name(node.value)
            if name and all(use in draft.removed for use in draft.reads_of_name(name)):
                draft.comment_out_statement(node)
    return draft.finish_repair("pictures", "64, 1, 28, 28" if grey else "64, 3, 32, 32", "torchvision")


def _takes_single_items(draft: RepairDraft, data: ast.AST) -> bool:
    """Whether a program takes single pictures, which are memory of their own with a number for a class."""
    parent = draft.parent_of(data)
    return (
        (isinstance(parent, ast.Subscript) and parent.value is data)
        or (isinstance(parent, ast.For | ast.comprehension) and parent.iter is data)
        or (
            isinstance(parent, ast.Call)
            and isinstance(parent.func, ast.Name)
            and parent.func.id in ("enumerate", "zip", "iter")
        )
    )


def repair_sklearn_samples(draft: RepairDraft) -> Repair | None:
    """`X, y = make_moons(…)` and the like of sklearn: random points and classes, or values."""
    for call in draft.calls_with_path(lambda path: path.startswith("sklearn.datasets.")):
        statement = draft.enclosing_statement(call)
        pair = (
            isinstance(statement, ast.Assign)
            and statement.value is call
            and isinstance(statement.targets[0], ast.Tuple)
        )
        if not pair or len(statement.targets[0].elts) != 2:  # type: ignore[union-attr]
            return None
        regression = draft.dotted_path(call.func).endswith(("regression", "diabetes", "housing", "friedman1"))
        labels = f"{draft.numpy}.random.randn({{n}})" if regression else f"{draft.numpy}.random.randint(0, 2, {{n}})"
        draft.replace_node(call, f"{draft.numpy}.random.randn({{shape}}), {labels}")
    return draft.finish_repair("samples", "100, 2", "sklearn")


def repair_text_downloads(draft: RepairDraft) -> Repair | None:
    """Text that is fetched from an address becomes a sentence."""
    text = text_read_replacement("read") or ""
    for call in draft.calls_with_path(
        lambda path: path in ("requests.get", "urllib.request.urlopen", "urllib.request.urlretrieve")
    ):
        access = draft.parent_of(call)
        if draft.dotted_path(call.func).endswith("urlretrieve"):
            if not draft.is_whole_statement(call) or len(call.args) < 2:
                return None
            draft.replace_node(call, f'open({ast.unparse(call.args[1])}, "w").write({text})')
        elif isinstance(access, ast.Attribute) and access.attr == "text":
            draft.replace_node(access, text)
        else:
            return None
    return draft.finish_repair("text", None)

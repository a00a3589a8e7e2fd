"""Repairs for tables that pandas would read: they are replaced by random numbers, as one array or column by column."""

import ast

from gradbox.language.file_repairs import random_array_code
from gradbox.language.repair_draft import DEFAULT_SHAPE, RepairDraft
from gradbox.wire.program import Repair

_TABLE_READERS = {f"pandas.{name}" for name in ("read_csv", "read_table", "read_excel", "read_json", "read_parquet")}
_SHOWING_METHODS = ("head", "tail", "info", "describe", "sample")
"""Methods of a table that only display it, if their result is not used."""

_METHODS_OF_BOTH = ("astype", "max", "mean", "min", "std", "sum", "shape", "tolist")
"""Attributes that a column and an array have in common."""

MAX_COLUMNS = 40
"""Columns of a table in a repair."""

DEFAULT_ROWS = "100"


def repair_pandas_readers(draft: RepairDraft) -> Repair | None:
    """Replace a table of which only the numbers are used: `.values`, `.to_numpy()`, `.iloc[…]`."""
    for call in draft.calls_with_path(_TABLE_READERS.__contains__):
        name = draft.assigned_name(call)
        for table in [*draft.reads_of_name(name), call]:
            if not _remove_number_access(draft, table) and not (table is call and name):
                return None
        draft.replace_node(call, random_array_code(draft, call))
    return draft.build_repair("table", DEFAULT_SHAPE)


def repair_pandas_columns(draft: RepairDraft) -> Repair | None:
    """Replace a table whose columns are used by name by a dictionary of arrays."""
    columns: list[str] = []
    for call in draft.calls_with_path(_TABLE_READERS.__contains__):
        name = draft.assigned_name(call)
        uses = draft.reads_of_name(name)
        if name is None or not uses:
            return None
        here = [column for use in uses for column in _column_names(draft.parent_of(use), use)]
        if not here or not all(_replace_use_of_columns(draft, use) for use in uses):
            return None
        here = list(dict.fromkeys(here))
        draft.replace_node(call, f"{{column: {draft.numpy}.random.randn({{n}}) for column in {here!r}}}")
        columns += here
    if not 0 < len(columns) <= MAX_COLUMNS:
        return None
    repair = draft.build_repair("columns", DEFAULT_ROWS)
    return repair and repair.model_copy(update={"args": {"columns": ", ".join(dict.fromkeys(columns))}})


def repair_table_file(draft: RepairDraft) -> Repair | None:
    """Replace a missing table file, if pandas is available, by a table of random numbers with the columns that are
    used."""
    pandas = draft.modules.name_of_imported_module("pandas", "")
    if not pandas:
        return None
    shape, columns = DEFAULT_SHAPE, ""
    for call in draft.calls_with_path(_TABLE_READERS.__contains__):
        uses = draft.reads_of_name(draft.assigned_name(call))
        names = list(dict.fromkeys(column for use in uses for column in _column_names(draft.parent_of(use), use)))
        if 0 < len(names) <= MAX_COLUMNS:
            shape, columns = DEFAULT_ROWS, ", ".join(names)
            numbers = f"{{column: {draft.numpy}.random.randn({{n}}) for column in {names!r}}}"
        else:
            numbers = f"{draft.numpy}.random.randn({{shape}})"
        draft.replace_node(call, f"{pandas}.DataFrame({numbers})")
    repair = draft.build_repair("columns" if columns else "table", shape)
    return repair and repair.model_copy(update={"args": {"columns": columns} if columns else {}})


def _column_names(access: ast.AST | None, table: ast.AST) -> list[str]:
    """The columns in `table["a"]` or `table[["a", "b"]]`."""
    if not isinstance(access, ast.Subscript) or access.value is not table:
        return []
    asked = access.slice.elts if isinstance(access.slice, ast.List) else [access.slice]
    names = [part.value for part in asked if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return names if len(names) == len(asked) else []


def _replace_use_of_columns(draft: RepairDraft, use: ast.Name) -> bool:
    """Make one use of a table take arrays. Returns False if it needs the table itself."""
    access = draft.parent_of(use)
    if not _column_names(access, use):
        return _comment_out_table_display(draft, use)
    outer = draft.parent_of(access) if access is not None else None
    if (
        isinstance(outer, ast.Attribute)
        and outer.attr not in _METHODS_OF_BOTH
        and not _remove_number_access(draft, access)
    ):
        return False
    if isinstance(access, ast.Subscript) and isinstance(access.slice, ast.List):
        if not isinstance(access.ctx, ast.Load):
            return False
        listed = ast.unparse(access.slice)
        draft.replace_node(access, f"{draft.numpy}.stack([{use.id}[column] for column in {listed}], axis=1)")
    return True


def _comment_out_table_display(draft: RepairDraft, use: ast.Name) -> bool:
    """Leave out a statement that only displays the table: `table.head()`, `print(table.describe())`, `print(table)`."""
    at = draft.parent_of(use)
    if isinstance(at, ast.Attribute) and at.attr in _SHOWING_METHODS:
        at = draft.parent_of(at)
        outer = draft.parent_of(at) if at is not None else None
        at = outer if _is_print(outer) else at
    elif not _is_print(at):
        return False
    if not isinstance(at, ast.Call) or not draft.is_whole_statement(at):
        return False
    statement = draft.enclosing_statement(at)
    if statement is not None:
        draft.comment_out_statement(statement)
    return True


def _is_print(node: ast.AST | None) -> bool:
    """Whether a node is a call of `print`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"


def _remove_number_access(draft: RepairDraft, table: ast.AST | None) -> bool:
    """Remove the access to a table's numbers, like `.values`. Returns False if the table is used in another way."""
    access = draft.parent_of(table) if table is not None else None
    if not isinstance(access, ast.Attribute):
        return False
    outer = draft.parent_of(access)
    if access.attr == "shape":
        return True
    if access.attr == "iloc" and isinstance(outer, ast.Subscript):
        draft.delete_node_after(table, access)
        return isinstance(draft.parent_of(outer), ast.Attribute) and _remove_number_access(draft, outer)
    if access.attr == "values":
        draft.delete_node_after(table, access)
    elif access.attr == "to_numpy" and isinstance(outer, ast.Call) and outer.func is access:
        dtype = [*outer.args[:1], *(keyword.value for keyword in outer.keywords if keyword.arg == "dtype")]
        if dtype:
            draft.replace_between(draft.node_end(table), draft.node_end(outer), f".astype({ast.unparse(dtype[0])})")
        else:
            draft.delete_node_after(table, outer)
    return access.attr in ("values", "to_numpy")

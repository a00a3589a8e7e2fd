"""The tables of a run by module and by parameter, for a terminal, for a notebook and as CSV."""

import csv
import io
import math
import unicodedata
from collections.abc import Callable, Container, Iterable, Sequence
from html import escape
from typing import Any, Literal

from gradbox.wire.tables import ModuleRow, ParameterRow, RunTables

TableName = Literal["modules", "parameters"]
TABLE_NAMES: tuple[TableName, ...] = ("modules", "parameters")

MODULE_ORDERS: dict[str, Callable[[ModuleRow], Any]] = {
    "path": lambda row: row.path,
    "type": lambda row: row.type,
    "calls": lambda row: -row.calls,
    "numbers": lambda row: -(row.parameters or 0),
    "trainable": lambda row: -(row.trainable or 0),
    "operations": lambda row: -row.operations,
    "kept": lambda row: -row.kept,
}
PARAMETER_ORDERS: dict[str, Callable[[ParameterRow], Any]] = {
    "path": lambda row: row.name or "",
    "numbers": lambda row: -row.numbers,
    "gradient": lambda row: -norm_sort_key(row.gradient_norm),
    "weight": lambda row: -norm_sort_key(row.weight_norm),
    "updated": lambda row: -row.updated,
}
SORT_COLUMNS = tuple(dict.fromkeys([*MODULE_ORDERS, *PARAMETER_ORDERS]))
"""Columns by which a table can be sorted: numbers in descending order, words alphabetically."""

KIB = 1024


def sorted_tables(tables: RunTables, column: str | None) -> RunTables:
    """The tables, each sorted by the column if it has it."""
    modules, parameters = list(tables.modules), list(tables.parameters)
    if column in MODULE_ORDERS:
        modules.sort(key=MODULE_ORDERS[column])
    if column in PARAMETER_ORDERS:
        parameters.sort(key=PARAMETER_ORDERS[column])
    return tables.model_copy(update={"modules": modules, "parameters": parameters})


def table_lines(tables: RunTables, sentences: dict[str, str], indented: bool = True) -> Iterable[str]:
    """Both tables as text.

    sentences: the page's, in the reader's language
    indented: indent modules by their depth, which fits the order of their calls
    """
    if not tables.whole:
        yield sentences["tables_part"]
        yield ""
    if tables.modules:
        yield from module_lines(tables, sentences, indented)
    else:
        yield sentences["tables_no_modules"]
    yield ""
    if tables.parameters:
        yield from parameter_lines(tables, sentences)
    else:
        yield sentences["tables_no_parameters"]


def module_lines(tables: RunTables, sentences: dict[str, str], indented: bool) -> Iterable[str]:
    """The table by module, and its totals."""
    heading, *rows = module_cells(tables, sentences)
    if indented:
        rows = [["  " * row.depth + first, *rest] for row, (first, *rest) in zip(tables.modules, rows, strict=True)]
    yield from aligned_lines([heading, *rows], right=MODULE_NUMBERS)
    yield totals_text(tables, sentences)


def totals_text(tables: RunTables, sentences: dict[str, str]) -> str:
    totals = tables.totals
    return sentences["tables_totals"].format(
        numbers=count_text(totals.parameters),
        trainable=count_text(totals.trainable),
        operations=count_text(totals.operations),
        kept=bytes_text(totals.kept),
    )


def parameter_lines(tables: RunTables, sentences: dict[str, str]) -> Iterable[str]:
    """The table by parameter."""
    yield from aligned_lines(parameter_cells(tables, sentences), right=PARAMETER_NUMBERS)


MODULE_NUMBERS = frozenset({2, 5, 6, 7, 8, 9})
PARAMETER_NUMBERS = frozenset({2, 4, 5, 6})
"""Columns of numbers, which are right-aligned."""


def module_cells(tables: RunTables, sentences: dict[str, str]) -> list[list[str]]:
    """The headings of the table by module, and its rows."""
    heading = [sentences[f"tables_{name}"] for name in (
        "module", "class", "calls", "in", "out", "numbers", "own", "trainable", "operations", "kept",
    )]  # fmt: skip
    rows = [
        [
            row.path, row.type, str(row.calls), shapes_text(row.inputs), shapes_text(row.outputs),
            count_text(row.parameters), own_parameters_text(row, sentences), count_text(row.trainable),
            count_text(row.operations), bytes_text(row.kept),
        ]
        for row in tables.modules
    ]  # fmt: skip
    return [heading, *rows]


def parameter_cells(tables: RunTables, sentences: dict[str, str]) -> list[list[str]]:
    """The headings of the table by parameter, and its rows."""
    heading = [sentences[f"tables_{name}"] for name in (
        "parameter", "shape", "numbers", "held", "gradient", "weight", "updated", "fate",
    )]  # fmt: skip
    rows = [
        [
            parameter_name(row, sentences),
            shape_text(row.shape),
            count_text(row.numbers),
            holders_text(row, sentences),
            gradient_text(row),
            number_text(row.weight_norm),
            sentences["tables_updated_of"].format(updated=row.updated, steps=row.steps)
            if row.held_by or row.steps
            else "-",
            sentences[f"tables_fate_{row.fate}"],
        ]
        for row in tables.parameters
    ]
    return [heading, *rows]


def run_tables_html(tables: RunTables, sentences: dict[str, str], indented: bool = True) -> str:
    """Both tables for a notebook, with the content and order of `table_lines`, which also explains the arguments."""
    parts = [] if tables.whole else [f"<p>{escape(sentences['tables_part'])}</p>"]
    if tables.modules:
        depths = [row.depth if indented else 0 for row in tables.modules]
        parts.append(table_html(module_cells(tables, sentences), MODULE_NUMBERS, depths))
        parts.append(f"<p>{escape(totals_text(tables, sentences))}</p>")
    else:
        parts.append(f"<p>{escape(sentences['tables_no_modules'])}</p>")
    if tables.parameters:
        parts.append(table_html(parameter_cells(tables, sentences), PARAMETER_NUMBERS, [0] * len(tables.parameters)))
    else:
        parts.append(f"<p>{escape(sentences['tables_no_parameters'])}</p>")
    return "".join(parts)


def table_html(cells: list[list[str]], right: Container[int], depths: Sequence[int]) -> str:
    """One table as HTML.

    right: right-aligned columns
    depths: for each row, how far its name is indented
    """
    heading, *rows = cells
    aligned = [f'style="text-align:{"right" if k in right else "left"}"' for k in range(len(heading))]
    head = "".join(f'<th scope="col" {style}>{escape(text)}</th>' for style, text in zip(aligned, heading, strict=True))
    body = []
    for depth, (name, *rest) in zip(depths, rows, strict=True):
        first = f'<th scope="row" style="text-align:left;padding-left:{depth + 0.5}em">{escape(name)}</th>'
        body.append(
            first + "".join(f"<td {style}>{escape(text)}</td>" for style, text in zip(aligned[1:], rest, strict=True))
        )
    return f"<table><thead><tr>{head}</tr></thead><tbody><tr>{'</tr><tr>'.join(body)}</tr></tbody></table>"


def csv_text(tables: RunTables, names: Sequence[TableName] = TABLE_NAMES) -> str:
    """The tables as CSV (RFC 4180, but with line feeds): a header line and a line for each row, with an empty line
    between two tables. Unknown values are empty; a shape is written like `2x3`, several are separated by spaces."""
    parts = []
    for name in names:
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        if name == "modules":
            columns = list(ModuleRow.model_fields)
            writer.writerow(columns)
            for module in tables.modules:
                shapes = {"inputs": csv_shapes(module.inputs), "outputs": csv_shapes(module.outputs)}
                values = module.model_dump() | shapes
                writer.writerow([csv_value(values[column]) for column in columns])
        else:
            columns = [column for column in ParameterRow.model_fields if column != "held_by"]
            holding = ["optimizer", "group", "lr"]
            writer.writerow([*columns, *holding])
            for row in tables.parameters:
                values = row.model_dump() | {"shape": csv_shape(row.shape), "also": " ".join(row.also)}
                held = [[csv_value(getattr(holder, field)) for holder in row.held_by] for field in holding]
                writer.writerow([*(csv_value(values[column]) for column in columns), *map(" ".join, held)])
        parts.append(out.getvalue())
    return "\n".join(parts)


def csv_value(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value["$f"]) if isinstance(value, dict) else str(value)


def csv_shape(shape: Sequence[int] | None) -> str:
    """A shape like `2x3`; `()` for a scalar, `?` if it is not known."""
    return "?" if shape is None else "x".join(map(str, shape)) or "()"


def csv_shapes(shapes: Iterable[Sequence[int] | None]) -> str:
    return " ".join(map(csv_shape, shapes))


def shape_text(shape: Sequence[int] | None) -> str:
    """A shape as Python writes a tuple; `?` if it is not known."""
    return "?" if shape is None else str(tuple(shape))


def shapes_text(shapes: Sequence[Sequence[int] | None]) -> str:
    return " ".join(map(shape_text, shapes)) or "-"


def count_text(count: int | None) -> str:
    return "?" if count is None else f"{count:,}"


def own_parameters_text(row: ModuleRow, sentences: dict[str, str]) -> str:
    """How many numbers a module's own parameters have, and how many of these another module has as well."""
    text = count_text(row.own)
    return sentences["tables_shared"].format(own=text, shared=count_text(row.shared)) if row.shared else text


def bytes_text(count: int) -> str:
    """A number of bytes as the page writes it: `512 B`, `1.5 KiB`."""
    size, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB"):
        if math.floor(size * 10 + 0.5) < KIB * 10:
            break
        size, unit = size / KIB, larger
    return f"{math.floor(size * 10 + 0.5) / 10:.15g} {unit}"


def parameter_name(row: ParameterRow, sentences: dict[str, str]) -> str:
    name = row.name or sentences["tables_unnamed"]
    return " = ".join([name, *row.also])


def holders_text(row: ParameterRow, sentences: dict[str, str]) -> str:
    """The optimizer groups that hold a parameter, with their learning rates."""
    if not row.held_by:
        return "?" if row.steps or row.fate == "unknown" else "-"
    parts = [
        sentences["tables_holder"].format(
            optimizer=holder.optimizer, group=holder.group, lr="?" if holder.lr is None else f"{holder.lr:g}"
        )
        for holder in row.held_by
    ]
    return " ".join(parts)


def gradient_text(row: ParameterRow) -> str:
    return "None" if row.has_gradient is False else number_text(row.gradient_norm)


def number_text(value: Any) -> str:
    """A number to four digits; `?` if it is not known."""
    if value is None:
        return "?"
    return str(value["$f"]) if isinstance(value, dict) else f"{float(value):.4g}"


def norm_sort_key(value: Any) -> float:
    """A sort key for norms: NaN and infinity first, unknown norms last."""
    if value is None:
        return -1.0
    return math.inf if isinstance(value, dict) else float(value)


def aligned_lines(rows: Sequence[Sequence[str]], right: Container[int]) -> Iterable[str]:
    """Rows as lines with aligned columns.

    right: right-aligned columns
    """
    widths = [max(map(text_width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = []
        for k, (cell, width) in enumerate(zip(row, widths, strict=True)):
            space = " " * (width - text_width(cell))
            cells.append(space + cell if k in right else cell + space)
        yield "  ".join(cells).rstrip()


def text_width(text: str) -> int:
    """The width of a text in terminal columns; Chinese characters take two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)

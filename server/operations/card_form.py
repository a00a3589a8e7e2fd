"""The form for a new card: its operands among the names alive there, its result's name, and what would go wrong."""

import itertools
import keyword
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from server.operations.operand_kinds import KINDS, OperationRow, TemplatePlaceholder
from server.operations.pipeline import has_operator, is_one_expression
from server.operations.shape_rules import SHAPE_RULES, ShapeMismatch, find_shape_mismatch, format_shape
from server.wire.operations import AliveName

CONSTRAINTS = {row.kind: row for row in KINDS}
NAME_KINDS = {
    "array": {"array"},
    "module": {"module"},
    "module with grads": {"module"},
    "optimizer": {"optimizer"},
    "state": {"collection"},
    "function": {"function"},
}
"""What a name has to stand for, by the kind of operand. All other kinds need a tensor."""
STRICT_KINDS = {"node", "scalar node", "leaf with grad"}
"""Kinds whose conditions torch enforces by raising."""
RESULT_NAMES = {
    "create": ("x", "w", "v", "u"),
    "module": ("net", "net2"),
    "optimizer": ("opt", "opt2"),
    "reduce": ("loss", "total"),
    "graph": ("y", "z"),
}
"""Names for a result, by the operation's group."""
MORE_RESULT_NAMES = ("y", "z", "h", "k", "b", "c", "d")
LIST_KINDS = {"shape"}
"""Kinds of operands that may be several expressions."""
MAX_TEXT = 200


@dataclass(frozen=True)
class OperandChoice:
    """A name for an operand.

    why: what speaks against the name, if anything
    impossible: whether torch would raise
    """

    alive: AliveName
    why: ShapeMismatch | None
    impossible: bool
    chosen: bool

    @property
    def shape(self) -> str:
        return "" if self.alive.shape is None else format_shape(self.alive.shape)


@dataclass(frozen=True)
class OperandField:
    """A field for a hole of the template.

    choices: the names to choose from; none if the operand is written as text
    text: what the field contains now
    """

    hole: TemplatePlaceholder
    choices: list[OperandChoice]
    text: str


@dataclass(frozen=True)
class CardForm:
    """The form of a card.

    fields: one for each hole
    name: the result's name; None if there is no result
    statement: the statement, or "" while something is missing
    """

    row: OperationRow
    fields: list[OperandField]
    name: str | None
    problem: ShapeMismatch | None
    statement: str

    @property
    def statement_with_gaps(self) -> str:
        """Return the statement with a question mark for each missing part."""
        texts = {field.hole.name: field.text or "?" for field in self.fields}
        return self.row.template.format_map({**texts, "out": self.name or ""})


def create_card_form(
    row: OperationRow, group: str, alive: Sequence[AliveName], written: Mapping[str, str], name: str | None
) -> CardForm:
    """Create the form of an operation's card.

    written: what the reader chose, by hole
    name: the result's name; None to propose one
    """
    texts = {hole.name: written[hole.name][:MAX_TEXT] for hole in row.holes if hole.name in written}
    for hole in row.holes:
        if hole.name not in texts:
            texts[hole.name] = propose_operand(row, hole, alive, texts)
    shapes = {alive_name.name: alive_name.shape for alive_name in alive if alive_name.shape is not None}
    fields = [OperandField(hole, operand_choices(row, hole, alive, texts), texts[hole.name]) for hole in row.holes]
    has_result = "{out}" in row.template
    out = (
        (name if name is not None else propose_result_name(group, {name.name for name in alive}))
        if has_result
        else None
    )
    problem = find_card_problem(row, fields, texts, out, shapes)
    complete = (out is None or is_variable_name(out)) and all(
        is_one_expression(field.text, field.hole.kind in LIST_KINDS) for field in fields
    )
    statement = row.template.format_map({**bracketed_operand_texts(fields), "out": out or ""}) if complete else ""
    return CardForm(row, fields, out, problem, statement)


def bracketed_operand_texts(fields: Sequence[OperandField]) -> dict[str, str]:
    """Return the text of each hole, in brackets where a part of it could be taken for the operand."""
    operands = {field.hole.name for field in fields if CONSTRAINTS[field.hole.kind].sample is not None}
    return {
        field.hole.name: f"({field.text})" if field.hole.name in operands and has_operator(field.text) else field.text
        for field in fields
    }


def find_card_problem(
    row: OperationRow,
    fields: Sequence[OperandField],
    texts: Mapping[str, str],
    out: str | None,
    shapes: Mapping[str, list[int]],
) -> ShapeMismatch | None:
    """Return why the card can't be added or would raise; None if nothing is known against it."""
    for field in fields:
        if not field.text:
            return ShapeMismatch("form_missing", (field.hole.name,), {"hole": field.hole.name})
        chosen = next((choice for choice in field.choices if choice.chosen), None)
        if chosen is not None and chosen.why is not None and chosen.impossible:
            return chosen.why
        if not is_one_expression(field.text, field.hole.kind in LIST_KINDS):
            return ShapeMismatch("form_text", (field.hole.name,), {"hole": field.hole.name})
    if out is not None and not is_variable_name(out):
        return ShapeMismatch("form_name", ("out",))
    return find_shape_mismatch(row.name, {hole: shapes[text] for hole, text in texts.items() if text in shapes}, texts)


def propose_operand(
    row: OperationRow, hole: TemplatePlaceholder, alive: Sequence[AliveName], texts: Mapping[str, str]
) -> str:
    """Return what fits a hole best beside the present operands: the nearest name that nothing speaks against."""
    if hole.proposed is not None:
        return hole.proposed
    possible = [
        choice for choice in operand_choices(row, hole, alive, {**texts, hole.name: ""}) if not choice.impossible
    ]
    taken = set(texts.values())
    dims = CONSTRAINTS[hole.kind].dims
    ranked = sorted(
        possible,
        key=lambda choice: (
            choice.why is not None,
            dims not in (None, len(choice.alive.shape or [])),
            choice.alive.name in taken,
        ),
    )
    return ranked[0].alive.name if ranked else ""


def operand_choices(
    row: OperationRow, hole: TemplatePlaceholder, alive: Sequence[AliveName], texts: Mapping[str, str]
) -> list[OperandChoice]:
    """Return the names for a hole, with what speaks against each beside the other operands."""
    if hole.proposed is not None or CONSTRAINTS[hole.kind].sample is None:
        return []
    needed = NAME_KINDS.get(hole.kind, {"tensor"})
    shapes = {name.name: name.shape for name in alive if name.shape is not None}
    found = []
    for name in alive:
        if name.kind not in needed and name.kind != "unknown" and hole.kind != "anything":
            continue
        why, impossible = find_operand_objection(row, hole, name)
        if why is None:
            others = {**texts, hole.name: name.name}
            met = find_shape_mismatch(
                row.name, {key: shapes[text] for key, text in others.items() if text in shapes}, others
            )
            why, impossible = (met, True) if met is not None and hole.name in met.holes else (None, False)
        found.append(OperandChoice(name, why, impossible, texts.get(hole.name) == name.name))
    return found


def find_operand_objection(
    row: OperationRow, hole: TemplatePlaceholder, name: AliveName
) -> tuple[ShapeMismatch | None, bool]:
    """Return what speaks against a name by itself, and whether torch would raise."""
    kind, where = CONSTRAINTS[hole.kind], (hole.name,)
    if name.kind != "tensor":
        return None, False
    necessary = hole.kind in STRICT_KINDS
    floating = name.dtype.removeprefix("torch.").startswith(("float", "bfloat", "complex"))
    if kind.floating and not floating:
        return ShapeMismatch("fit_floating", where, {"dtype": name.dtype}), hole.kind == "plain tensor"
    if kind.floating is False and floating:
        return ShapeMismatch("fit_whole", where, {"dtype": name.dtype}), False
    if kind.complex and "complex" not in name.dtype:
        return ShapeMismatch("fit_complex", where, {"dtype": name.dtype}), False
    if hole.kind == "boolean tensor" and name.dtype != "torch.bool":
        return ShapeMismatch("fit_bool", where, {"dtype": name.dtype}), False
    if kind.requires_grad and not name.requires_grad:
        return ShapeMismatch("fit_requires_grad", where), necessary
    if hole.kind == "writable tensor" and name.requires_grad and name.leaf:
        return ShapeMismatch("fit_writable", where), False
    if kind.leaf is not None and kind.leaf != name.leaf:
        return ShapeMismatch("fit_leaf" if kind.leaf else "fit_node", where), False
    if kind.has_grad and not name.grad:
        return ShapeMismatch("fit_grad", where), False
    if (
        row.name not in SHAPE_RULES
        and kind.dims is not None
        and name.shape is not None
        and kind.dims != len(name.shape)
    ):
        return ShapeMismatch("fit_dims", where, {"needed": kind.dims, "has": len(name.shape)}), False
    return None, False


def propose_result_name(group: str, taken: set[str]) -> str:
    """Propose an unused name for a result."""
    names = itertools.chain(RESULT_NAMES.get(group, ()), MORE_RESULT_NAMES, (f"t{n}" for n in itertools.count(1)))
    return next(name for name in names if name not in taken)


def is_variable_name(text: str) -> bool:
    """Return whether a text is a valid name of a variable."""
    return len(text) <= MAX_TEXT and text.isidentifier() and not keyword.iskeyword(text)

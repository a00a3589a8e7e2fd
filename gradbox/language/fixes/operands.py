"""Fixes of an operand with the wrong size, orientation, memory layout or type."""

import ast
from collections.abc import Iterator

from gradbox.language.fixes.program import Fix, FixProgram, Hint, callee_name, method_receiver

_INPUT_SIZES = ("in_features", "in_channels", "num_features", "input_size", "normalized_shape", "embed_dim", "d_model")
_OPERATIONS = {ast.Add: int.__add__, ast.Sub: int.__sub__, ast.Mult: int.__mul__, ast.FloorDiv: int.__floordiv__}
_MAX_SIZE = 10**9


def match_layer_to_input_size(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Make the layer for the size that it receives. facts: old, the size that it was made for; new, the size that it
    receives.

    line: where the layer is made, or where it is called by its name
    """
    old, new = hint.facts.get("old"), hint.facts.get("new")
    calls = program.calls_at(hint.line)
    called = {ast.unparse(call.func) for call in calls}
    calls += [
        node.value
        for node in program.statements
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and ast.unparse(node.targets[0]) in called
    ]
    calls += [call for pair in _unpacked_layer_calls(program, called) for call in pair]
    for call in calls:
        for argument in _input_size_arguments(call):
            if literal_integer(argument) == old and new is not None:
                work = program.new_edits()
                work.replace_node(argument, str(new))
                yield from program.fix_from_edits(hint, work, old=str(old), new=str(new))


def _unpacked_layer_calls(program: FixProgram, names: set[str]) -> Iterator[list[ast.Call]]:
    """What `fc, bn = nn.Linear(…), nn.BatchNorm1d(…)` assigns to names."""
    for node in program.statements:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Assign) and isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = zip(target.elts, node.value.elts, strict=False)
            yield [value for name, value in pairs if isinstance(value, ast.Call) and ast.unparse(name) in names]


def _input_size_arguments(call: ast.Call) -> list[ast.expr]:
    """The arguments of a layer that give the size of its input."""
    named = [keyword.value for keyword in call.keywords if keyword.arg in _INPUT_SIZES]
    return [*call.args[:1], *named]


def literal_integer(node: ast.expr) -> int | None:
    """The value of a literal number or a product of them, such as `4 * 8 * 8`; None for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if not isinstance(node, ast.BinOp) or type(node.op) not in _OPERATIONS:
        return None
    left, right = literal_integer(node.left), literal_integer(node.right)
    if left is None or right is None or abs(left) > _MAX_SIZE or abs(right) > _MAX_SIZE or not right:
        return None
    return _OPERATIONS[type(node.op)](left, right)


def flatten_input(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `layer(x.flatten(1))` for `layer(x)`. facts: name, of x."""
    yield from _rewrite_read_name(program, hint, lambda text: f"{text}.flatten(1)")


def match_loss_shapes(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Give the second argument of a loss the shape of the first."""
    for call in program.calls_at(hint.line):
        if len(call.args) >= 2:
            work = program.new_edits()
            target = call.args[1]
            if isinstance(call.args[0], ast.Name | ast.Attribute):
                work.replace_node(
                    target, f"{program.operand_text(target)}.view_as({program.source_text(call.args[0])})"
                )
                yield from program.fix_from_edits(hint, work, name=program.source_text(target))


def unsqueeze_operand(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Add a dimension at the end of one operand, so that its sizes are aligned with those of the other. facts: name."""
    yield from _rewrite_read_name(program, hint, lambda text: f"{text}.unsqueeze(-1)")


def transpose_operand(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Transpose a matrix of a product. facts: name."""
    yield from _rewrite_read_name(program, hint, lambda text: f"{text}.mT")


def _rewrite_read_name(program: FixProgram, hint: Hint, rewrite: object) -> Iterator[Fix]:
    """Rewrite a name that a statement reads."""
    statement, name = program.statement_at(hint.line), hint.name()
    if statement is None or not name or not callable(rewrite):
        return
    work = program.new_edits()
    for node in program.nodes_outside_blocks(statement):
        is_read = isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Load)
        if is_read and ast.unparse(node) == name and not isinstance(work.parent_of(node), ast.Attribute):
            work.replace_node(node, rewrite(program.source_text(node)))
    yield from program.fix_from_edits(hint, work)


def infer_view_size(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `x.view(x.size(0), -1)` for a `view` whose sizes do not multiply to the number of elements."""
    for call in program.calls_at(hint.line):
        if callee_name(call) in ("view", "reshape") and len(call.args) == 2 and isinstance(call.func, ast.Attribute):
            of = program.source_text(call.func.value)
            rows = call.args[0]
            keeps_rows = ast.unparse(rows) in ("-1", f"{of}.size(0)", f"{of}.shape[0]", "batch_size")
            if keeps_rows:
                work = program.new_edits()
                work.replace_node(rows, f"{of}.size(0)")
                work.replace_node(call.args[1], "-1")
                yield from program.fix_from_edits(hint, work)
            if keeps_rows and literal_integer(call.args[1]) is not None and hint.facts.get("size"):
                work = program.new_edits()
                for node in program.nodes:
                    if isinstance(node, ast.expr) and ast.unparse(node) == ast.unparse(call.args[1]):
                        work.replace_node(node, str(hint.facts["size"]))
                yield from program.fix_from_edits(hint, work)


def use_pad_sequence(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Use `pad_sequence`, which fills shorter sequences with zeros, instead of `stack`."""
    work = program.new_edits()
    for call in program.calls_at(hint.line):
        if callee_name(call) == "stack" and len(call.args) == 1 and not call.keywords:
            pad = f"{program.torch_name()}.nn.utils.rnn.pad_sequence"
            work.replace_node(call, f"{pad}({program.source_text(call.args[0])}, batch_first=True)")
    yield from program.fix_from_edits(hint, work)


def use_reshape(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Use `reshape`, which copies if it must, instead of `view`."""
    yield from _replace_view(program, hint, "{}.reshape")


def call_contiguous_before_view(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Call `contiguous()` before `view`."""
    yield from _replace_view(program, hint, "{}.contiguous().view")


def _replace_view(program: FixProgram, hint: Hint, form: str) -> Iterator[Fix]:
    work = program.new_edits()
    for call in program.calls_at(hint.line):
        if callee_name(call) == "view" and isinstance(call.func, ast.Attribute):
            work.replace_node(call.func, form.format(program.source_text(call.func.value)))
    yield from program.fix_from_edits(hint, work)


def make_floating_point(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Make a tensor of floating point numbers instead of integers."""
    work = program.new_edits()
    for call in program.calls_at(hint.line):
        if callee_name(call) not in ("tensor", "arange", "ones", "zeros", "full", "as_tensor", "randint", "eye"):
            continue
        others = [program.source_text(part) for part in [*call.args, *(k for k in call.keywords if k.arg != "dtype")]]
        work.replace_node(
            call, f"{program.source_text(call.func)}({', '.join([*others, f'dtype={program.torch_name()}.float32'])})"
        )
        break
    yield from program.fix_from_edits(hint, work)


def convert_to_float_before_requires_grad(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Call `x.float()` before gradients are required."""
    statement = program.statement_at(hint.line)
    indent = program.leading_blanks(statement) if statement is not None else None
    name = hint.name()
    if statement is not None and indent is not None and name.isidentifier():
        lines = program.lines_with_insertion(statement.lineno, [f"{indent}{name} = {name}.float()"])
        yield from program.fix_from_lines(hint, lines)


def convert_operand_dtype(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Convert one operand to the other's type. facts: name, the operand; dtype, like "float32"."""
    statement, name = program.statement_at(hint.line), hint.name()
    dtype = str(hint.facts.get("dtype") or hint.facts.get("to_dtype") or "")
    if statement is None or not dtype:
        return
    if not name:
        yield from _convert_argument(program, hint, dtype)
        return
    work = program.new_edits()
    for node in program.nodes_outside_blocks(statement):
        is_read = isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
        if is_read and ast.unparse(node) == name:
            work.replace_node(node, f"{name}.to({program.torch_name()}.{dtype})")
    yield from program.fix_from_edits(hint, work)


def _convert_argument(program: FixProgram, hint: Hint, dtype: str) -> Iterator[Fix]:
    """Convert an argument of the outermost call that has no name, such as `target.int()`, trying the last first."""
    call = next(iter(program.calls_at(hint.line)), None)
    for argument in reversed(call.args if call is not None else []):
        if isinstance(argument, ast.Call):
            work = program.new_edits()
            work.replace_node(argument, f"{program.operand_text(argument)}.to({program.torch_name()}.{dtype})")
            yield from program.fix_from_edits(hint, work, name=program.source_text(argument))


def transpose_batch_to_front(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `h.transpose(0, 1).reshape(…)` for the `h.view(…)` of states whose second dimension is the batch."""
    for call in program.calls_at(hint.line):
        owner = method_receiver(call)
        if callee_name(call) in ("view", "reshape") and owner is not None:
            work = program.new_edits()
            arguments = ", ".join(program.source_text(part) for part in [*call.args, *call.keywords])
            work.replace_node(call, f"{program.operand_text(owner)}.transpose(0, 1).reshape({arguments})")
            yield from program.fix_from_edits(hint, work)
            return


def permute_instead_of_view(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `x.permute(…)` for a `view` or `reshape` that only permutes the sizes of `x`."""
    order = str(hint.facts.get("order") or "")
    for call in program.calls_at(hint.line):
        if callee_name(call) not in ("view", "reshape") or not order:
            continue
        owner = method_receiver(call)
        if owner is not None and program.source_text(owner) == program.torch_name():
            owner = call.args[0] if call.args else None
        if owner is not None:
            work = program.new_edits()
            work.replace_node(call, f"{program.operand_text(owner)}.permute({order})")
            yield from program.fix_from_edits(hint, work)
        return

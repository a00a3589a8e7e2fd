"""Fixes of statements that run but mean something else: logarithms, wider integers, copies of modules, calls, stored
results, keys."""

import ast
from collections.abc import Iterator

from gradbox.language.edits import ProgramEdits
from gradbox.language.fixes.order import lines_with_statement_after
from gradbox.language.fixes.program import Fix, FixProgram, Hint, callee_name, is_assignable, method_receiver
from gradbox.language.names import import_insertion_line


def take_log_of_probabilities(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `log_softmax` for the softmax that was assigned to the name, or else take the logarithm where the name is
    read."""
    work = program.new_edits()
    for node in program.statements:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1 or node.lineno >= hint.line:
            continue
        is_named = program.source_text(node.targets[0]) == hint.name()
        if is_named and isinstance(node.value, ast.Call) and callee_name(node.value) == "softmax":
            reads = [
                other
                for other in program.nodes
                if isinstance(other, ast.Name) and other.id == hint.name() and isinstance(other.ctx, ast.Load)
            ]
            if len(reads) == 1:  # what else reads it may want the probabilities
                name = program.source_text(node.value.func)
                work.replace_node(node.value.func, f"{name.removesuffix('softmax')}log_softmax")
    yield from program.fix_from_edits(hint, work)
    softmaxes = [
        node for node in program.nodes if isinstance(node, ast.Call) and callee_name(node).lower() == "softmax"
    ]
    if not hint.name() and len(softmaxes) == 1:  # of a layer, or in the call of the loss
        work = program.new_edits()
        name = program.source_text(softmaxes[0].func)
        for plain, logarithm in (("softmax", "log_softmax"), ("Softmax", "LogSoftmax")):
            if name.endswith(plain):
                work.replace_node(softmaxes[0].func, name.removesuffix(plain) + logarithm)
        yield from program.fix_from_edits(hint, work)
    yield from program.fix_calling_method_on_reads(hint, "log")


def widen_integer_dtype(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `a.int()` where `a`, whose integer type is too narrow, is read."""
    yield from program.fix_calling_method_on_reads(hint, "int")


def zero_padding_row_after_overwrite(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Set the padding row of an embedding to zero again after the statement that overwrote it."""
    statement = program.statement_at(hint.line)
    function = program.enclosing_function(statement) if statement is not None else None
    arguments = {argument.arg for argument in function.args.args} - {"self"} if function is not None else set()
    row = hint.facts.get("row")
    for node in program.nodes_outside_blocks(statement) if statement is not None else []:
        # an argument may be another module at another call
        if (
            not isinstance(node, ast.Attribute)
            or node.attr != "weight"
            or ast.unparse(node).partition(".")[0] in arguments
        ):
            continue
        if statement is not None and isinstance(row, int) and is_assignable(program.source_text(node)):
            text = f"{program.torch_name()}.nn.init.zeros_({program.source_text(node)}[{row}])"
            yield from program.fix_from_lines(hint, lines_with_statement_after(program, statement, text))
        return


def collect_every_output(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `kept.setdefault(key, []).append(output)` for `kept[key] = output`, so that each call's output is kept."""
    statement = program.statement_at(hint.line)
    target = statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if isinstance(statement, ast.Assign) and isinstance(target, ast.Subscript):
        key, value = program.source_text(target.slice), program.source_text(statement.value)
        work = program.new_edits()
        work.replace_node(statement, f"{program.source_text(target.value)}.setdefault({key}, []).append({value})")
        yield from program.fix_from_edits(hint, work)


def append_copy(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `kept.append(x.copy())` for `kept.append(x)`, if `x` keeps changing."""
    for node in (
        program.nodes_outside_blocks(statement) if (statement := program.statement_at(hint.line)) is not None else []
    ):
        if isinstance(node, ast.Call) and callee_name(node) == "append" and len(node.args) == 1:
            if program.source_text(node.args[0]) == hint.name():
                work = program.new_edits()
                work.replace_node(node.args[0], f"{hint.name()}.copy()")
                yield from program.fix_from_edits(hint, work)
            return


def bind_loop_variable_in_hook(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Add `name=name` to the parameters of a hook that a loop makes, so that each hook has the value of its own
    round."""
    name = hint.name()
    for node in program.nodes:
        if not isinstance(node, ast.Lambda | ast.FunctionDef) or node.lineno != hint.line or not name.isidentifier():
            continue
        if not node.args.args or node.args.vararg or node.args.kwarg or node.args.kwonlyargs:
            return
        last = node.args.args[-1] if not node.args.defaults else node.args.defaults[-1]
        work = program.new_edits()
        work.replace_node(last, f"{program.source_text(last)}, {name}={name}")
        yield from program.fix_from_edits(hint, work)
        return


def use_returned_result(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `x.clamp_(…)` if there is such a method, else `x = x.clamp(…)`."""
    statement = program.statement_at(hint.line)
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return
    call = statement.value
    if not isinstance(call.func, ast.Attribute):
        return
    if hint.facts.get("function"):
        if call.args and isinstance(call.args[0], ast.Name):
            work = program.new_edits()
            work.replace_node(statement, f"{call.args[0].id} = {program.source_text(call)}")
            yield from program.fix_from_edits(hint, work)
        return
    target = program.source_text(call.func.value)
    arguments = ", ".join(program.source_text(part) for part in [*call.args, *call.keywords])
    if call.func.attr not in _METHODS_WITHOUT_IN_PLACE and not target.endswith(")"):
        work = program.new_edits()
        work.replace_node(statement, f"{target}.{call.func.attr}_({arguments})")
        yield from program.fix_from_edits(hint, work)
    if is_assignable(target):
        work = program.new_edits()
        work.replace_node(statement, f"{target} = {program.source_text(call)}")
        yield from program.fix_from_edits(hint, work)


_METHODS_WITHOUT_IN_PLACE = frozenset(
    [
        "to",
        "cpu",
        "cuda",
        "float",
        "double",
        "half",
        "long",
        "int",
        "bfloat16",
        "type",
        "view",
        "reshape",
        "permute",
        "expand",
        "repeat",
        "flatten",
        "unflatten",
        "clone",
        "contiguous",
        "cumsum",
        "flip",
        "normalize",
        "dropout",
        "softmax",
        "sort",
        "movedim",
        "detach",
    ]
)
"""Methods without a form that ends in an underscore, or whose form means something else."""


def create_layer_per_item(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `[layer() for _ in range(n)]` for `[layer()] * n`; a layer with a name is copied."""
    statement = program.statement_at(hint.line)
    work = program.new_edits()
    for node in program.nodes_outside_blocks(statement) if statement is not None else ():
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
            continue
        parts, count = (node.left, node.right) if isinstance(node.left, ast.List) else (node.right, node.left)
        if not isinstance(parts, ast.List) or len(parts.elts) != 1:
            continue
        (element,) = parts.elts
        made = program.source_text(element)
        if not isinstance(element, ast.Call):
            made = f"copy.deepcopy({made})"
        work.replace_node(node, f"[{made} for _ in range({program.source_text(count)})]")
    yield from _with_copy_imported(program, hint, work)


def deepcopy_module(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `copy.deepcopy(model)` for `model`, and import `copy` if necessary."""
    statement = program.statement_at(hint.line)
    named = str(hint.facts.get("of") or "")
    work = program.new_edits()
    for node in program.nodes_outside_blocks(statement) if statement is not None else ():
        is_read = isinstance(node, ast.Name | ast.Attribute | ast.Subscript | ast.Call) and isinstance(
            getattr(node, "ctx", ast.Load()), ast.Load
        )
        if is_read and program.source_text(node) == named and not isinstance(work.parent_of(node), ast.Attribute):
            work.replace_node(node, f"copy.deepcopy({named})")
    yield from _with_copy_imported(program, hint, work)


def _with_copy_imported(program: FixProgram, hint: Hint, work: ProgramEdits) -> Iterator[Fix]:
    """The edits, with `import copy` where they need it and the program has none."""
    for fixed in program.fix_from_edits(hint, work):
        source = fixed.source
        if "copy.deepcopy(" in source and "copy" not in program.modules.names:
            lines = source.split("\n")
            lines.insert(import_insertion_line(ast.parse(source)), "import copy")
            source = "\n".join(lines)
        yield from program.fix_from_source(hint, source)


def strip_state_dict_prefix(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Remove a prefix from the keys of what is loaded."""
    prefix = str(hint.facts.get("prefix") or "")
    yield from _rename_state_dict_keys(program, hint, f"key.removeprefix({prefix!r})")


def add_state_dict_prefix(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Add a prefix to the keys of what is loaded."""
    prefix = str(hint.facts.get("prefix") or "")
    yield from _rename_state_dict_keys(program, hint, f"{prefix!r} + key")


def _rename_state_dict_keys(program: FixProgram, hint: Hint, key: str) -> Iterator[Fix]:
    work = program.new_edits()
    for call in program.calls_at(hint.line):
        if callee_name(call) == "load_state_dict" and call.args and method_receiver(call) is not None:
            loaded = program.operand_text(call.args[0])
            work.replace_node(call.args[0], f"{{{key}: value for key, value in {loaded}.items()}}")
    yield from program.fix_from_edits(hint, work)


def multiply_by_incoming_gradient(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `return grad * (…)` in a `backward` that ignored the incoming gradient."""
    statement = program.statement_at(hint.line)
    function = program.enclosing_function(statement) if statement is not None else None
    if not isinstance(statement, ast.Return) or statement.value is None or function is None:
        return
    arguments = [argument.arg for argument in function.args.args]
    if len(arguments) != 2:
        return
    values = statement.value.elts if isinstance(statement.value, ast.Tuple) else [statement.value]
    work = program.new_edits()
    for value in values:
        if not (isinstance(value, ast.Constant) and value.value is None):
            work.replace_node(value, f"{arguments[1]} * {program.operand_text(value)}")
    yield from program.fix_from_edits(hint, work)


def softmax_over_classes(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `dim=1` for the `dim=0` of a softmax, in its call or in the layer that is made with it."""
    yield from _set_softmax_dim(program, hint, "1")


def softmax_over_last_dim(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `dim=-1` for the dimension of a softmax, like `softmax_of_classes`. facts: wrong, that dimension, or 0."""
    yield from _set_softmax_dim(program, hint, "-1")


def _set_softmax_dim(program: FixProgram, hint: Hint, right: str) -> Iterator[Fix]:
    lines = {hint.line} if any("softmax" in callee_name(call).lower() for call in program.calls_at(hint.line)) else None
    work = program.new_edits()
    for node in program.nodes:
        if not isinstance(node, ast.Call) or "softmax" not in callee_name(node).lower():
            continue
        if lines is not None and node.lineno not in lines:
            continue
        dims = [keyword.value for keyword in node.keywords if keyword.arg == "dim"]
        dims += node.args[:1] if callee_name(node).endswith("Softmax") else node.args[-1:]
        for dim in dims:
            if ast.unparse(dim) == str(hint.facts.get("wrong") or 0):
                work.replace_node(dim, right)
    yield from program.fix_from_edits(hint, work)

"""Fixes of training loops: the mode of modules, what an optimizer holds, and the order of backward, clipping
and step."""

import ast
import re
from collections.abc import Iterator

from gradbox.language.fixes.order import add_keyword, lines_with_statement_after, move_after_line_or_remove
from gradbox.language.fixes.program import Fix, FixProgram, Hint, callee_name, is_assignable, method_receiver

_MODULE_PATH_PATTERN = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d+\])*", re.ASCII)
"""A module's path as a program can write it: `net.body[0]`."""


def move_after_line(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Move the statement behind the one at another line."""
    yield from move_after_line_or_remove(program, hint)


def unscale_before_clipping(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Insert `scaler.unscale_(optimizer)` before the statement that clips."""
    optimizer = str(hint.facts.get("optimizer") or "")
    if is_assignable(hint.name()) and is_assignable(optimizer):
        yield from _insert_line_before(program, hint, f"{hint.name()}.unscale_({optimizer})")


def step_through_scaler(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `scaler.step(optimizer)` for `optimizer.step()`, and add `scaler.update()` if the program has none."""
    scaler = hint.name()
    for call in program.calls_at(hint.line):
        optimizer = method_receiver(call)
        if callee_name(call) != "step" or optimizer is None or call.args or not is_assignable(scaler):
            continue
        work = program.new_edits()
        update = "" if f"{scaler}.update(" in program.source else f"; {scaler}.update()"
        work.replace_node(call, f"{scaler}.step({program.source_text(optimizer)}){update}")
        yield from program.fix_from_edits(hint, work)
        return


def add_optimizer_step(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Add `optimizer.step()` after the backward."""
    statement = program.statement_at(hint.line)
    if statement is not None and is_assignable(hint.name()):
        yield from program.fix_from_lines(hint, lines_with_statement_after(program, statement, f"{hint.name()}.step()"))


def call_requires_grad_(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `module.requires_grad_(False)` for `module.requires_grad = False`."""
    statement = program.statement_at(hint.line)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    target = statement.targets[0]
    if isinstance(target, ast.Attribute) and target.attr == "requires_grad":
        work = program.new_edits()
        work.replace_node(
            statement, f"{program.source_text(target.value)}.requires_grad_({program.source_text(statement.value)})"
        )
        yield from program.fix_from_edits(hint, work)


def pass_training_mode(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Add `training=self.training` to the call of a dropout function."""
    work = program.new_edits()
    for call in program.calls_at(hint.line):
        if (
            "dropout" in callee_name(call)
            and len(call.args) < 3
            and not any(k.arg == "training" for k in call.keywords)
        ):
            add_keyword(program, work, call, "training=self.training")
    yield from program.fix_from_edits(hint, work)


def call_bare_method(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `model.eval()` for the statement `model.eval`."""
    statement = program.statement_at(hint.line)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Attribute):
        work = program.new_edits()
        work.replace_node(statement.value, f"{program.source_text(statement.value)}()")
        yield from program.fix_from_edits(hint, work)


def assign_compared_attribute(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `p.requires_grad = False` for the statement `p.requires_grad == False`."""
    statement = program.statement_at(hint.line)
    compare = statement.value if isinstance(statement, ast.Expr) else None
    if statement is not None and isinstance(compare, ast.Compare) and len(compare.ops) == 1:
        work = program.new_edits()
        work.replace_node(
            statement, f"{program.source_text(compare.left)} = {program.source_text(compare.comparators[0])}"
        )
        yield from program.fix_from_edits(hint, work)


def set_option_in_param_groups(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `for group in optimizer.param_groups: group['lr'] = …` for `optimizer.lr = …` and `optimizer.defaults['lr']
    = …`."""
    statement = program.statement_at(hint.line)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, option = statement.targets[0], str(hint.facts.get("name") or "")
        attribute = target.value if isinstance(target, ast.Subscript) else target
        if isinstance(attribute, ast.Attribute) and option.isidentifier():
            work, owner = program.new_edits(), program.source_text(attribute.value)
            text = f"for group in {owner}.param_groups: group['{option}'] = {program.source_text(statement.value)}"
            work.replace_node(statement, text)
            yield from program.fix_from_edits(hint, work)


def use_live_param_groups(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `optimizer.param_groups` for `optimizer.state_dict()['param_groups']`, which is a copy."""
    work, statement = program.new_edits(), program.statement_at(hint.line)
    for node in program.nodes_outside_blocks(statement) if statement is not None else []:
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Call):
            continue
        owner = method_receiver(node.value) if callee_name(node.value) == "state_dict" else None
        if owner is not None and isinstance(node.slice, ast.Constant) and node.slice.value == "param_groups":
            work.replace_node(node, f"{program.source_text(owner)}.param_groups")
    yield from program.fix_from_edits(hint, work)


def correct_requires_grad_spelling(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Write `p.requires_grad = False` for `p.require_grad = False`, and `requires_grad_(False)` for a module."""
    statement = program.statement_at(hint.line)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return
    target = statement.targets[0]
    if isinstance(target, ast.Attribute):
        work, owner = program.new_edits(), program.source_text(target.value)
        value = program.source_text(statement.value)
        is_module = bool(hint.facts.get("module"))
        work.replace_node(
            statement, f"{owner}.requires_grad_({value})" if is_module else f"{owner}.requires_grad = {value}"
        )
        yield from program.fix_from_edits(hint, work)


def copy_param_groups(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Copy the dicts of options for the optimizer that is made first, because it would write into those of the next
    one."""
    for call in program.calls_at(hint.line):
        groups = call.args[0] if call.args else None
        if isinstance(groups, ast.Name | ast.Attribute):
            work = program.new_edits()
            work.replace_node(groups, f"[dict(group) for group in {program.source_text(groups)}]")
            yield from program.fix_from_edits(hint, work)
            return


LAYERS_OF_SEQUENCES = (
    "LSTM", "GRU", "RNN", "MultiheadAttention", "TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer"
)  # fmt: skip
"""Layers that take the first axis for the positions unless they are told otherwise."""


def add_batch_first(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Add `batch_first=True` to the recurrent layer, or the attention, that is made at the line."""
    work = program.new_edits()
    for call in program.calls_at(hint.line):
        if callee_name(call) in LAYERS_OF_SEQUENCES and not any(k.arg == "batch_first" for k in call.keywords):
            add_keyword(program, work, call, "batch_first=True")
    yield from program.fix_from_edits(hint, work)


def call_eval_before(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Call `module.eval()` before the statement."""
    yield from _insert_mode_call_before(program, hint, "eval")


def call_train_each_round(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Call `module.train()` at the start of each round."""
    yield from _insert_mode_call_before(program, hint, "train")


def add_module_to_optimizer(program: FixProgram, hint: Hint) -> Iterator[Fix]:
    """Give the optimizer the parameters of another module as well: a group of its own, whatever the first ones are.
    facts: name, of the module; optimizer, as the program calls it; method, which lists the parameters."""
    statement, optimizer = program.statement_at(hint.line), str(hint.facts.get("optimizer") or "")
    lists = str(hint.facts.get("method") or "parameters")
    if (
        statement is not None
        and is_assignable(optimizer)
        and _MODULE_PATH_PATTERN.fullmatch(hint.name())
        and lists.isidentifier()
    ):
        text = f"{optimizer}.add_param_group(dict(params={hint.name()}.{lists}()))"
        yield from program.fix_from_lines(hint, lines_with_statement_after(program, statement, text))


def _insert_mode_call_before(program: FixProgram, hint: Hint, mode: str) -> Iterator[Fix]:
    if _MODULE_PATH_PATTERN.fullmatch(hint.name()):
        yield from _insert_line_before(program, hint, f"{hint.name()}.{mode}()")


def _insert_line_before(program: FixProgram, hint: Hint, text: str) -> Iterator[Fix]:
    statement = program.statement_at(hint.line)
    indent = program.leading_blanks(statement) if statement is not None else None
    if statement is not None and indent is not None:
        yield from program.fix_from_lines(hint, program.lines_with_insertion(statement.lineno, [indent + text]))

"""Fixes of a program for the hints of its findings: pure functions from a source and a hint to changed sources.

Whether a fix works is not known here: each changed program is run, and only those that work are offered.
"""

from collections.abc import Callable, Iterator
from itertools import chain, zip_longest

from gradbox.language.fixes import (
    batches,
    copies,
    finite,
    gradients,
    graph,
    history,
    in_place,
    meanings,
    modules,
    operands,
    order,
    rewrites,
    training,
)
from gradbox.language.fixes.program import Fix, FixProgram, Hint, LineEdit

__all__ = ["FIXES", "MAX_CANDIDATES", "Fix", "Hint", "LineEdit", "propose"]

MAX_CANDIDATES = 6
"""Changed programs that are run for one finding."""

FIXES: dict[str, Callable[[FixProgram, Hint], Iterator[Fix]]] = {
    "clone_before": copies.clone_before,
    "clone_result": copies.clone_result,
    "clone_saved": copies.clone_saved,
    "clone_shared": copies.clone_shared,
    "clone_for_deepcopy": copies.clone_for_deepcopy,
    "detach_stored": copies.detach_stored,
    "detach_before_numpy": copies.detach_before_numpy,
    "out_of_place": in_place.out_of_place,
    "not_inplace": in_place.not_inplace,
    "under_no_grad": in_place.under_no_grad,
    "out_of_no_grad": in_place.out_of_no_grad,
    "assign_through_index": in_place.assign_through_index,
    "accumulate": in_place.accumulate,
    "remove_line": order.remove_line,
    "forward_again": order.forward_again,
    "step_after_backward": order.step_after_backward,
    "move_after_backward": order.move_later,
    "remove_return": order.remove_return,
    "clear_before": order.clear_before,
    "clear_list": order.clear_list,
    "move_hook": order.move_later,
    "zero_grad": order.zero_grad,
    "reset_frozen": order.reset_frozen,
    "retain_graph": order.retain_graph,
    "allow_unused": order.allow_unused,
    "add_losses": order.add_losses,
    "keep_history": history.keep_history,
    "require_grad": graph.require_grad,
    "detach_carried": graph.detach_carried,
    "detach_start": graph.detach_start,
    "detach_sum": graph.detach_sum,
    "no_grad_instead": graph.no_grad_instead,
    "sum_first": graph.sum_first,
    "mean_first": graph.mean_first,
    "guard_operand": finite.guard_operand,
    "safe_where": finite.safe_where,
    "log_softmax": finite.log_softmax,
    "subtract_max": finite.subtract_max,
    "finite_mask": finite.finite_mask,
    "biased_std": finite.biased_std,
    "reshape": operands.reshape,
    "contiguous": operands.contiguous,
    "float_dtype": operands.float_dtype,
    "float_before": operands.float_before,
    "convert": operands.convert,
    "register_parameter": modules.register_parameter,
    "module_list": modules.module_list,
    "list_parameters": modules.list_parameters,
    "tie_parameter": modules.tie_parameter,
    "in_place": modules.in_place,
    "optimizer_later": modules.optimizer_later,
    "mark_dirty": modules.mark_dirty,
    "zero_grad_later": order.zero_grad_later,
    "retain_grad": rewrites.retain_grad,
    "leaf_of_result": rewrites.leaf_of_result,
    "leaf_of_update": rewrites.leaf_of_update,
    "detach_used": rewrites.detach_used,
    "grad_on": rewrites.grad_on,
    "call_module": rewrites.call_module,
    "move_before": rewrites.move_before,
    "static_methods": rewrites.static_methods,
    "apply_function": rewrites.apply_function,
    "clone_operand": rewrites.clone_operand,
    "deepcopy_instead": rewrites.deepcopy_instead,
    "optimizer_of": modules.optimizer_of,
    "count_gradients": modules.count_gradients,
    "layer_size": operands.layer_size,
    "flatten_input": operands.flatten_input,
    "match_target": operands.match_target,
    "unsqueeze_operand": operands.unsqueeze_operand,
    "transpose_operand": operands.transpose_operand,
    "swap_axes": operands.swap_axes,
    "batch_in_front": operands.batch_in_front,
    "infer_size": operands.infer_size,
    "pad_sequences": operands.pad_sequences,
    "not_reentrant": graph.not_reentrant,
    "create_graph": gradients.create_graph,
    "use_probability": gradients.use_probability,
    "cross_entropy": gradients.cross_entropy,
    "straight_through": gradients.straight_through,
    "rsample": gradients.rsample,
    "leaky_relu": gradients.leaky_relu,
    "save_for_backward": rewrites.save_for_backward,
    "move_after": training.move_after,
    "unscale_first": training.unscale_first,
    "scaler_step": training.scaler_step,
    "add_step": training.add_step,
    "requires_grad_method": training.requires_grad_method,
    "training_argument": training.training_argument,
    "call_it": training.call_it,
    "assign_it": training.assign_it,
    "batch_first": training.batch_first,
    "group_option": training.group_option,
    "live_groups": training.live_groups,
    "into_loop_above": batches.into_loop_above,
    "out_of_loop": batches.out_of_loop,
    "spell_requires_grad": training.spell_requires_grad,
    "own_groups": training.own_groups,
    "divide_loss": batches.divide_loss,
    "into_loop": batches.into_loop,
    "eval_first": training.eval_first,
    "train_first": training.train_first,
    "optimizer_with": training.optimizer_with,
    "log_of_operand": meanings.log_of_operand,
    "wider_integer": meanings.wider_integer,
    "keep_result": meanings.keep_result,
    "list_of_new": meanings.list_of_new,
    "copy_of_module": meanings.copy_of_module,
    "times_incoming": meanings.times_incoming,
    "softmax_of_classes": meanings.softmax_of_classes,
    "softmax_of_positions": meanings.softmax_of_positions,
    "zero_padding_row": meanings.zero_padding_row,
    "keep_every_output": meanings.keep_every_output,
    "bind_in_hook": meanings.bind_in_hook,
    "append_copy": meanings.append_copy,
    "strip_prefix": meanings.strip_prefix,
    "add_prefix": meanings.add_prefix,
}
"""The edits that a hint can name."""

HINT_FAMILIES = {"cut": "keep_history", "unused": "allow_unused"}
"""Kinds of hints that add a reason to the name of their edit, like `cut_detach`."""


def propose(source: str, hints: list[Hint]) -> list[Fix]:
    """The changed programs for the hints of one finding, in order, without duplicates."""
    try:
        program = FixProgram(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    proposed: list[list[Fix]] = []
    for hint in hints:
        kind = hint.kind if hint.kind in FIXES else HINT_FAMILIES.get(hint.kind.partition("_")[0], "")
        if kind:
            proposed.append(list(FIXES[kind](program, Hint(kind, hint.line, hint.facts, hint.names))))
    fixes: dict[str, Fix] = {}
    for fix in chain.from_iterable(zip_longest(*proposed)):  # the first of each hint before the second of any
        if fix is not None:
            fixes.setdefault(fix.source, fix)
    return list(fixes.values())[:MAX_CANDIDATES]

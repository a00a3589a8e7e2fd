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
    "clone_before": copies.clone_before_write,
    "clone_result": copies.clone_result,
    "clone_saved": copies.clone_saved_operand,
    "clone_shared": copies.clone_where_sharing_begins,
    "clone_for_deepcopy": copies.replace_deepcopy_by_clone,
    "detach_stored": copies.detach_stored_tensor,
    "detach_before_numpy": copies.detach_before_numpy,
    "out_of_place": in_place.write_out_of_place,
    "not_inplace": in_place.set_inplace_false,
    "under_no_grad": in_place.wrap_write_in_no_grad,
    "out_of_no_grad": in_place.wrap_in_enable_grad,
    "assign_through_index": in_place.assign_through_index,
    "accumulate": in_place.accumulate_at_repeated_indices,
    "remove_line": order.comment_out_statement,
    "forward_again": order.repeat_forward_after_update,
    "step_after_backward": order.move_step_after_backward,
    "move_after_backward": order.move_after_line_or_remove,
    "remove_return": order.comment_out_only_return,
    "clear_before": order.clear_stored_tensor_before,
    "clear_list": order.clear_list_each_round,
    "move_hook": order.move_after_line_or_remove,
    "zero_grad": order.insert_zero_grad,
    "reset_frozen": order.reset_grads_of_frozen,
    "retain_graph": order.add_retain_graph,
    "allow_unused": order.add_allow_unused,
    "add_losses": order.call_backward_on_summed_losses,
    "keep_history": history.remove_what_cuts_history,
    "require_grad": graph.add_requires_grad,
    "detach_carried": graph.detach_values_carried_by_loop,
    "detach_start": graph.detach_assigned_values,
    "detach_sum": graph.accumulate_numbers_without_graph,
    "no_grad_instead": graph.replace_inference_mode_by_no_grad,
    "sum_first": graph.call_backward_on_sum,
    "mean_first": graph.call_backward_on_mean,
    "guard_operand": finite.guard_operand_domain,
    "safe_where": finite.make_untaken_where_branch_safe,
    "log_softmax": finite.use_log_softmax,
    "subtract_max": finite.subtract_max_before_exp,
    "finite_mask": finite.mask_with_finite_number,
    "biased_std": finite.use_biased_std,
    "reshape": operands.use_reshape,
    "contiguous": operands.call_contiguous_before_view,
    "float_dtype": operands.make_floating_point,
    "float_before": operands.convert_to_float_before_requires_grad,
    "convert": operands.convert_operand_dtype,
    "register_parameter": modules.wrap_in_parameter,
    "module_list": modules.use_module_list,
    "list_parameters": modules.make_parameters_a_list,
    "tie_parameter": modules.tie_parameter_object,
    "in_place": modules.copy_into_parameter,
    "optimizer_later": modules.create_optimizer_later,
    "mark_dirty": modules.add_mark_dirty,
    "zero_grad_later": order.move_zero_grad_later,
    "retain_grad": rewrites.add_retain_grad,
    "leaf_of_result": rewrites.make_result_a_leaf,
    "leaf_of_update": rewrites.make_updated_parameters_leaves,
    "detach_used": rewrites.detach_where_used,
    "grad_on": rewrites.enable_grad_before_statement,
    "call_module": rewrites.call_module_not_forward,
    "move_before": rewrites.move_before_line,
    "static_methods": rewrites.make_methods_static,
    "apply_function": rewrites.call_function_apply,
    "clone_operand": rewrites.clone_operand_of_write,
    "deepcopy_instead": rewrites.use_deepcopy,
    "optimizer_of": modules.create_optimizer_for_trained_module,
    "count_gradients": modules.match_backward_results_to_arguments,
    "layer_size": operands.match_layer_to_input_size,
    "flatten_input": operands.flatten_input,
    "match_target": operands.match_loss_shapes,
    "unsqueeze_operand": operands.unsqueeze_operand,
    "transpose_operand": operands.transpose_operand,
    "swap_axes": operands.permute_instead_of_view,
    "batch_in_front": operands.transpose_batch_to_front,
    "infer_size": operands.infer_view_size,
    "pad_sequences": operands.use_pad_sequence,
    "not_reentrant": graph.add_use_reentrant_false,
    "create_graph": gradients.add_create_graph,
    "use_probability": gradients.use_probability_instead_of_decision,
    "cross_entropy": gradients.use_cross_entropy,
    "straight_through": gradients.use_straight_through_estimator,
    "rsample": gradients.use_rsample,
    "leaky_relu": gradients.use_leaky_relu,
    "save_for_backward": rewrites.use_save_for_backward,
    "move_after": training.move_after_line,
    "unscale_first": training.unscale_before_clipping,
    "scaler_step": training.step_through_scaler,
    "add_step": training.add_optimizer_step,
    "requires_grad_method": training.call_requires_grad_,
    "training_argument": training.pass_training_mode,
    "call_it": training.call_bare_method,
    "assign_it": training.assign_compared_attribute,
    "batch_first": training.add_batch_first,
    "group_option": training.set_option_in_param_groups,
    "live_groups": training.use_live_param_groups,
    "into_loop_above": batches.move_into_loop_above,
    "out_of_loop": batches.move_out_of_loop,
    "spell_requires_grad": training.correct_requires_grad_spelling,
    "own_groups": training.copy_param_groups,
    "divide_loss": batches.divide_loss,
    "into_loop": batches.move_backward_into_loop,
    "eval_first": training.call_eval_before,
    "train_first": training.call_train_each_round,
    "optimizer_with": training.add_module_to_optimizer,
    "log_of_operand": meanings.take_log_of_probabilities,
    "wider_integer": meanings.widen_integer_dtype,
    "keep_result": meanings.use_returned_result,
    "list_of_new": meanings.create_layer_per_item,
    "copy_of_module": meanings.deepcopy_module,
    "times_incoming": meanings.multiply_by_incoming_gradient,
    "softmax_of_classes": meanings.softmax_over_classes,
    "softmax_of_positions": meanings.softmax_over_last_dim,
    "zero_padding_row": meanings.zero_padding_row_after_overwrite,
    "keep_every_output": meanings.collect_every_output,
    "bind_in_hook": meanings.bind_loop_variable_in_hook,
    "append_copy": meanings.append_copy,
    "strip_prefix": meanings.strip_state_dict_prefix,
    "add_prefix": meanings.add_state_dict_prefix,
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

"""Every fix that is offered for programs of tests/examples/findings, tests/examples/silent and the questions, run:
which programs have one, and that it gives the gradients of a version that was corrected by hand."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import torch

from gradbox.wire.findings import Finding
from tests.forks.plain_python import call_in_plain
from tests.language.fixing import Trial, trials
from tests.language.gradients_truth import Gradients, gradients_of_program

ROOT = Path(__file__).parents[2]
CORRECTED = ROOT / "tests/examples/corrected"
"""`NAME.py` is what `tests/examples/findings/NAME.py` should have been; `NAME.2.py` another answer that is as right."""
NAMES = sorted(path.stem for path in CORRECTED.glob("*.py") if "." not in path.stem)
QUESTIONS = ROOT.parent / "shared/questions"

WITHOUT_FIX: dict[str, set[str]] = {
    "activation_twice": {"probabilities_mixed_before_cross_entropy", "sigmoid_and_backward_in_one_statement",
                         "sigmoid_before_bce_with_logits", "softmax_before_cross_entropy",
                         "softmax_of_a_softmax"},
    "attention_weights": {"attention_filled_after_softmax",
                          "attention_mask_expanded_along_the_keys", "attention_sees_one_ahead_by_a_function",
                          "attention_weights_set_to_zero_by_index", "attention_by_sdpa_sees_the_padding", "attention_encoder_hides_the_tokens",
                          "attention_filled_with_next_to_nothing", "attention_mask_of_ones_added",
                          "attention_mask_the_wrong_way_round", "attention_masked_after_softmax",
                          "attention_masked_after_softmax_by_where", "attention_padding_added_to_queries",
                          "attention_pooling_masked_after_softmax", "attention_scores_times_mask",
                          "attention_sees_one_ahead", "attention_sees_the_future_alone"},
    "axes_confused": {"batch_norm_over_the_positions", "gradient_penalty_of_each_step", "one_row_of_positions_for_all",
                      "copies_and_labels_in_two_orders",
                      "rows_of_a_loss_in_two_orders", "rows_of_one_text_in_two_orders",
                      "classes_behind_the_time", "positions_along_the_batch"},
    "backward_twice": {"backward_twice_replay_stale_hidden_list"},
    "batch_part_unread": {"weight_of_a_sample_unread"},
    "caught_error": {"caught_in_a_function"},
    "backward_not_derivative": {"function_forgets_a_factor", "function_in_a_training",
                                "function_saves_what_it_computed",
                                "function_swaps_its_gradients", "function_without_transpose"},
    "custom_function": {"custom_once_differentiable", "custom_shape"},
    "detached_late": {"detached_after_use"},
    "grad_none": {"accuracy_given_requires_grad", "straight_through_output_in_the_codebook_loss",
                  "two_cuts_beside_each_other", "argmax_step", "autograd_grad", "before_backward", "frozen",
                  "grad_none_double_head_freeze",
                  "layer_that_forward_forgets", "router_cut_by_argmax",
                  "loss_requires_grad_true", "new_after_backward", "reset_then_zero", "wrong_module_called",
                  "zero_before_check"},
    "eval_dropout_active": {"dropout_imported_under_another_name", "eval_attention_dropout",
                            "eval_does_not_reach_a_list", "eval_dropout_made_in_forward"},
    "eval_trains": {"validation_trains_too"},
    "frozen_optimizer": {"discriminator_never_unfrozen"},
    "frozen_updated": {"frozen_then_set_to_train"},
    "layer_made_each_forward": {"conv_made_in_each_call"},
    "module_flag": {"frozen_by_a_flag_in_brackets"},  # frozen, the program has nothing to differentiate
    "no_step": {"more_micro_batches_than_batches"},
    "not_in_optimizer": {"target_that_backward_goes_through"},
    "gradients_dropped": {"last_micro_batches_of_an_epoch"},
    "hook_misses": {"hook_after_detach", "hook_on_replaced_tensor"},
    "hook_result": {"hook_result_function", "hook_result_size"},
    "index_copy": {"index_put_of_repeated_indices", "property_written_in_place", "reshape_copy_lost",
                   "scatter_of_repeated_indices", "weight_norm_before_the_weights"},
    "index_out_of_range": {"index_out_of_range_classes", "index_out_of_range_embedding", "index_out_of_range_gather"},
    "integer_wrapped": {"depth_from_bytes", "bytes_added_in_place", "weights_cast_like_the_ids"},
    "load_matched_nothing": {"table_outside_of_the_state_dict", "load_assign_unties", "load_of_the_whole_checkpoint",
                             "target_loads_its_own_state",
                             "target_loads_its_own_state_over_two_lines",
                             "statistics_fitted_again_after_the_load", "target_shares_its_body",
                             "weights_initialised_after_the_load"},
    "loss_below_zero": {"ctc_of_scores", "labels_of_minus_one", "nll_of_scores"},
    "loss_times_mask": {"kl_summed_before_its_mask",
                        "focal_weight_of_the_mean", "importance_weights_on_a_mean", "padding_mask_on_a_mean"},
    "mean_of_means": {"mean_of_unequal_batches"},
    "memory_held": {"gradient_graphs_keep_their_leaves", "hook_keeps_its_tensor", "objects_keep_each_other"},
    "no_graph": {"no_graph_gumbel_argmax", "no_graph_loss_that_stayed_a_number", "no_graph_mean_of_items",
                 "no_graph_one_hot_regression", "no_graph_own_backward", "no_graph_reward_weighted_argmax",
                 "no_graph_round", "no_graph_slope_of_a_line"},
    "nonfinite": {"advantage_of_a_last_small_batch",
                  "batch_of_ignored_targets", "eigenvectors_of_equal_eigenvalues", "every_target_is_ignored",
                  "kl_of_zero",
                  "learning_rate_too_large", "lr", "mean_of_an_empty_mask", "mean_of_no_positives", "nan_to_num_hides",
                  "nonfinite_refused_by_a_distribution",
                  "softplus_by_hand", "squares_too_large_for_half", "std_of_one_element",
                  "steps_that_run_away", "missing_labels_masked_after_the_loss", "text_of_padding_alone"},
    "parameter_detached": {"copy_adapted_in_each_round", "tied_by_clone"},
    "relu_before_loss": {"policy_of_relu_scores"},
    "result_unused": {"auxiliary_loss_thrown_away", "dropout_that_is_overwritten", "gradients_returned_to_nobody",
                      "mask_given_for_nothing", "no_grad_on_its_own_line", "padding_mask_never_applied",
                      "penalty_of_the_last_parameter"},
    "samples_mixed": {"dueling_mean_over_the_batch", "own_attention_along_the_batch"},
    "saved_overwritten": {"saved_overwritten_max_norm_in_forward"},
    "shape_mismatch": {"advantage_column_times_row", "argmax_of_the_whole_matrix", "shape_cat", "shape_loss",
                       "shape_mismatch_broadcasting_loss",
                       "shape_mismatch_cross_entropy_probs_shape", "shape_mismatch_one_value_per_channel", "shape_setitem",
                       "shape_squeezed_batch_of_one", "shape_squeezed_before_conv", "shape_view",
                       "target_of_each_action"},
    "shared_memory": {"tied_by_a_second_parameter",
                      "transitions_keep_the_state_itself", "argument_written_and_read_again",
                      "dense_block_with_inplace_start", "function", "mutated_batch_in_dataset",
                      "parameter_of_a_tensor", "two_rows_swapped"},
    "unexplained_error": {path.stem for path in (ROOT / "tests/examples/findings").glob("unexplained_*.py")},
    "scheduler_first": {"schedule_of_the_first_optimizer"},
    "compared_with_itself": {"anchor_compared_with_itself", "old_policy_computed_in_every_epoch",
                             "smaller_of_one_critic"},
    "graph_grows": {"recurrent_states_in_a_buffer", "states_kept_by_a_closure"},
    "hooks_pile_up": {"hook_in_a_function_of_a_loop"},
    "layers_start_equal": {"critics_copied_from_one", "weights_of_one_constant"},
    "nothing_moves": {"learning_rate_of_an_integer_division", "learning_rate_too_small_to_see", "weights_in_bfloat16"},
    "padding_takes_part": {"last_position_of_padded_texts", "last_state_of_padded_texts", "mean_over_the_padding"},
    "rate_jumps": {"cosine_shorter_than_the_training",
                   "optimizer_made_after_its_state", "optimizer_made_in_every_epoch", "optimizer_made_in_every_step",
                   "scheduler_made_after_the_load", "scheduler_made_in_every_epoch",
                   "schedule_returns_the_rate_itself"},
    "backward_never_called": {"rounding_with_a_backward_of_its_own"},
    "closure_computes_nothing": {"closure_without_a_backward"},
    "sign_targets": {"hinge_embedding_of_zeros_and_ones"},
    "state_not_carried": {"lstm_called_without_its_state"},
    "same_numbers": {"noise_with_a_generator_made_in_the_loop", "seed_at_the_start_of_each_epoch"},
    "stale_copy": {"discriminator_in_one_autocast_block", "half_copy_before_the_loop"},
    "statistics_never_fed": {"soft_update_leaves_statistics"},
    "term_moves_nothing": {"teacher_compared_with_itself", "term_accuracy_in_loss"},
    "view_swaps_axes": {"vit_patches_viewed_as_rows", "heads_joined_without_transpose", "heads_split_without_transpose",
                        "pixels_flattened_with_classes"},
    "wrong_gradient": {"batch_norm_of_eval_then_train"},
    "zero_gradient": {"reverse_state_at_the_last_word",
                      "attention_over_one_score", "ce_single_logit", "clamp", "clamp_dead", "clamped_action",
                      "entropy_of_own_sample", "sigmoid", "softmax_sum",
                      "zero_init_two_layers"},
}  # fmt: skip
"""By kind, the programs of tests/examples/findings and tests/examples/silent whose finding no small edit helps; every
other one has to be offered a fix."""

pytestmark = pytest.mark.slow

PROGRAMS = {
    f"{folder.name}/{path.stem}": path
    for folder in (ROOT / "tests/examples/findings", ROOT / "tests/examples/silent", QUESTIONS)
    for path in sorted(folder.glob("*.py"))
}
PARTS = 8
BY_PART = [[*PROGRAMS][k::PARTS] for k in range(PARTS)]


def part(k: int) -> Any:
    """The fixture's parameter; all but the first are left to `make exhaustive`."""
    return pytest.param(k, id=f"part {k}", marks=[pytest.mark.exhaustive] * min(k, 1))


@pytest.fixture(scope="module", params=[part(k) for k in range(PARTS)])
def tried(request: pytest.FixtureRequest) -> tuple[dict[str, list[Finding]], list[Trial]]:
    """The findings of a part of the programs, by folder and name, and every fix that was proposed and run."""
    return trials({program: PROGRAMS[program].read_text() for program in BY_PART[request.param]})


def kind_of(program: str) -> str:
    """The kind of finding that a program is about, by its first line or by its question."""
    folder, _, name = program.partition("/")
    if folder == "questions":
        return str(json.loads((QUESTIONS / "expected.json").read_text())[name]["kinds"][0])
    match = re.match(r"# (\w+)", (ROOT / f"tests/examples/{folder}/{name}.py").read_text())
    assert match is not None
    return match[1]


def test_every_program_has_a_fix_except_the_listed_ones(
    tried: tuple[dict[str, list[Finding]], list[Trial]],
) -> None:
    findings, runs = tried
    fixed = {(run.program, run.finding.kind) for run in runs if run.is_offered}
    without: dict[str, set[str]] = {}
    for program, found in findings.items():
        kind = kind_of(program)
        if (program, kind) not in fixed and found and not program.startswith("questions/"):
            without.setdefault(kind, set()).add(program.rpartition("/")[2])
    expected = {
        kind: names & {program.partition("/")[2] for program in findings if kind_of(program) == kind}
        for kind, names in WITHOUT_FIX.items()
    }
    assert without == {kind: names for kind, names in expected.items() if names}


def test_what_is_offered_runs_to_its_end_without_the_finding(
    tried: tuple[dict[str, list[Finding]], list[Trial]],
) -> None:
    offered = [run for run in tried[1] if run.is_offered]
    assert len(offered) > 30
    for run in offered:
        assert run.trace["outcome"]["status"] == "finished", run.fix.source
        same = [finding for finding in tried[0][run.program] if finding.kind == run.finding.kind]
        assert len([finding for finding in run.left if finding.kind == run.finding.kind]) < len(same), run.fix.source


def agree(left: Gradients, right: Gradients) -> bool:
    """Whether what both have is the same, and is something."""
    both = [(left[name], right[name]) for name in left.keys() & right.keys()]
    same = all(
        (a is None and b is None) or (a is not None and b is not None and torch.allclose(a, b, atol=1e-5))
        for a, b in both
    )
    return same and any(a is not None for a, _ in both)


def test_programs_are_corrected_by_hand() -> None:
    assert len(NAMES) >= 45


@pytest.mark.parametrize(
    ("name", "tried"),
    [
        pytest.param(name, k, marks=[pytest.mark.exhaustive] * min(k, 1))
        for name in NAMES
        for k in range(PARTS)
        if f"findings/{name}" in BY_PART[k]
    ],
    indirect=["tried"],
)
def test_a_fix_gives_the_gradients_of_the_corrected_program(
    name: str, tried: tuple[dict[str, list[Finding]], list[Trial]]
) -> None:
    right = [path.read_text() for path in sorted(CORRECTED.glob("*.py")) if path.name.partition(".")[0] == name]
    finding = tried[0][f"findings/{name}"][0]
    offered = [run for run in tried[1] if run.is_offered and run.finding is finding]
    assert offered, finding.text
    found = [call_in_plain(gradients_of_program, source) for source in [*right, *(run.fix.source for run in offered)]]
    versions, fixed = found[: len(right)], found[len(right) :]
    for run, gradient in zip(offered, fixed, strict=True):
        assert any(agree(gradient, version) for version in versions), run.fix.source

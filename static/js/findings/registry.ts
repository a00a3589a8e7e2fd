/**
 * The table of findings: a row a kind, with the function that looks for it. A new kind is a file, a row and its
 * sentences.
 */

import { diagnoseActivationTwice } from "./numbers/activation_twice.ts";
import { diagnoseBroadcastLoss, diagnoseComparedTable } from "./samples/broadcast_loss.ts";
import { diagnoseContextTensorWritten } from "./graph/context_written.ts";
import { diagnoseLateDetach } from "./graph/detached_late.ts";
import { diagnoseFrozenParameterUpdated } from "./training/frozen_updated.ts";
import { diagnoseGradAccumulated } from "./gradients/grad_accumulated.ts";
import { diagnoseGradIsNone } from "./gradients/grad_none.ts";
import { diagnoseGraphGrowthInLoop } from "./graph/graph_grows.ts";
import { diagnoseMisplacedHooks } from "./hooks/hook_misses.ts";
import { diagnoseWriteThroughIndex } from "./memory/index_copy.ts";
import { diagnoseMemoryHeldByView } from "./memory/memory_held.ts";
import { diagnoseNonfiniteValues } from "./numbers/nonfinite.ts";
import { diagnoseDetachedParameter } from "./modules/parameter_detached.ts";
import { diagnoseWriteSeenThroughOtherName } from "./memory/shared_memory.ts";
import { diagnoseWrongGradientFromChangedTensor } from "./gradients/wrong_gradient.ts";
import { diagnoseZeroGradient } from "./gradients/zero_gradient.ts";
import { diagnoseCaughtErrors } from "./caught_error.ts";
import { diagnoseUnexplainedError } from "./errors/unexplained_error.ts";
import { ERROR_DIAGNOSES, type DiagnosisRow } from "./error_registry.ts";
import { diagnoseClipAfterStep } from "./training/clip_after_step.ts";
import { diagnoseClipOfUsedUp } from "./training/clip_of_used_up.ts";
import { diagnoseClipWhileScaled } from "./training/clip_while_scaled.ts";
import { diagnoseClipWithoutGradient } from "./training/clip_without_gradient.ts";
import { diagnoseDropoutActiveInEval } from "./modules/eval_dropout_active.ts";
import { diagnoseMissingEval } from "./modules/eval_missing.ts";
import { diagnoseEvalNeverLeft } from "./modules/eval_never_left.ts";
import { diagnoseFrozenNormMoves } from "./modules/frozen_norm_moves.ts";
import { diagnoseFrozenOptimizer } from "./training/frozen_optimizer.ts";
import { diagnoseGradientsDropped } from "./training/gradients_dropped.ts";
import { diagnoseLayerMadeEachForward } from "./modules/layer_made_each_forward.ts";
import { diagnoseModuleFlag } from "./modules/module_flag.ts";
import { diagnoseModuleInNoOptimizer } from "./training/not_in_optimizer.ts";
import { diagnoseNoStep } from "./training/no_step.ts";
import { diagnoseScheduleInVain } from "./training/schedule_in_vain.ts";
import { diagnoseSchedulerFirst } from "./training/scheduler_first.ts";
import { diagnoseUndividedAccumulation } from "./training/accumulation_undivided.ts";
import { diagnoseIntegerWrapped } from "./numbers/integer_wrapped.ts";
import { diagnoseLossBelowZero } from "./numbers/loss_below_zero.ts";
import { diagnoseHookThatKeepsLast } from "./hooks/hook_keeps_last.ts";
import { diagnoseLoadOfNothing } from "./modules/load_matched_nothing.ts";
import { diagnoseLoadOfItself } from "./modules/load_of_itself.ts";
import { diagnoseLoadOverwritten } from "./modules/load_overwritten.ts";
import { diagnosePaddingRow } from "./modules/padding_row.ts";
import { diagnoseRepeatedLayer } from "./modules/layer_repeated.ts";
import { diagnoseSecondNameOfModule } from "./modules/same_module.ts";
import { diagnoseSharedGroup } from "./training/shared_group.ts";
import { diagnoseTargetWithHistory } from "./gradients/target_with_history.ts";
import { diagnoseGradientCutBySample } from "./gradients/sample_cuts.ts";
import { diagnoseTermWithoutHistory } from "./gradients/term_moves_nothing.ts";
import { diagnoseSoftmaxOverBatch } from "./samples/samples_mixed.ts";
import { diagnoseSequenceOverBatch } from "./samples/sequence_axis.ts";
import { diagnoseViewOfFinalStates, diagnoseViewThatSwapsAxes } from "./samples/view_swaps_axes.ts";
import { diagnoseLossOfLastBatch } from "./samples/loss_of_last_batch.ts";
import { diagnoseMeanOfMeans } from "./samples/mean_of_means.ts";
import { diagnoseOptimizerAttribute } from "./training/optimizer_attribute.ts";
import { diagnoseFreezeUndone } from "./training/freeze_undone.ts";
import { diagnoseLostOption } from "./training/lost_option.ts";
import { diagnoseMisspelledFlag } from "./modules/misspelled_flag.ts";
import { diagnoseBackwardNotDerivative } from "./gradients/backward_not_derivative.ts";
import { diagnoseUnusedResult } from "./memory/result_unused.ts";

/** Of several that explain one error the first is the best. */
export const DIAGNOSES: DiagnosisRow[] = [
  ...ERROR_DIAGNOSES,
  { kind: "shape_mismatch", severity: "warning", diagnose: diagnoseBroadcastLoss },
  { kind: "shape_mismatch", severity: "warning", diagnose: diagnoseComparedTable },
  { kind: "wrong_gradient", severity: "warning", diagnose: diagnoseWrongGradientFromChangedTensor },
  { kind: "wrong_gradient", severity: "warning", diagnose: diagnoseContextTensorWritten },
  { kind: "activation_twice", severity: "warning", diagnose: diagnoseActivationTwice },
  { kind: "grad_none", severity: "warning", diagnose: diagnoseGradIsNone },
  { kind: "grad_accumulated", severity: "warning", diagnose: diagnoseGradAccumulated },
  { kind: "frozen_updated", severity: "warning", diagnose: diagnoseFrozenParameterUpdated },
  { kind: "frozen_updated", severity: "warning", diagnose: diagnoseFreezeUndone },
  { kind: "graph_grows", severity: "warning", diagnose: diagnoseGraphGrowthInLoop },
  { kind: "parameter_detached", severity: "warning", diagnose: diagnoseDetachedParameter },
  { kind: "clip_after_step", severity: "warning", diagnose: diagnoseClipAfterStep },
  { kind: "clip_while_scaled", severity: "warning", diagnose: diagnoseClipWhileScaled },
  { kind: "clip_without_gradient", severity: "warning", diagnose: diagnoseClipWithoutGradient },
  { kind: "clip_without_gradient", severity: "warning", diagnose: diagnoseClipOfUsedUp },
  { kind: "gradients_dropped", severity: "warning", diagnose: diagnoseGradientsDropped },
  { kind: "no_step", severity: "warning", diagnose: diagnoseNoStep },
  { kind: "scheduler_first", severity: "warning", diagnose: diagnoseSchedulerFirst },
  { kind: "scheduler_first", severity: "warning", diagnose: diagnoseScheduleInVain },
  { kind: "not_in_optimizer", severity: "warning", diagnose: diagnoseModuleInNoOptimizer },
  { kind: "layer_made_each_forward", severity: "warning", diagnose: diagnoseLayerMadeEachForward },
  { kind: "module_flag", severity: "warning", diagnose: diagnoseModuleFlag },
  { kind: "module_flag", severity: "warning", diagnose: diagnoseOptimizerAttribute },
  { kind: "module_flag", severity: "warning", diagnose: diagnoseLostOption },
  { kind: "module_flag", severity: "warning", diagnose: diagnoseMisspelledFlag },
  { kind: "loss_of_last_batch", severity: "warning", diagnose: diagnoseLossOfLastBatch },
  { kind: "frozen_optimizer", severity: "warning", diagnose: diagnoseFrozenOptimizer },
  { kind: "eval_dropout_active", severity: "warning", diagnose: diagnoseDropoutActiveInEval },
  { kind: "eval_never_left", severity: "warning", diagnose: diagnoseEvalNeverLeft },
  { kind: "frozen_norm_moves", severity: "warning", diagnose: diagnoseFrozenNormMoves },
  { kind: "index_copy", severity: "warning", diagnose: diagnoseWriteThroughIndex },
  { kind: "hook_misses", severity: "warning", diagnose: diagnoseMisplacedHooks },
  { kind: "nonfinite", severity: "warning", diagnose: diagnoseNonfiniteValues },
  { kind: "zero_gradient", severity: "warning", diagnose: diagnoseZeroGradient },
  { kind: "eval_missing", severity: "note", diagnose: diagnoseMissingEval },
  { kind: "accumulation_undivided", severity: "note", diagnose: diagnoseUndividedAccumulation },
  { kind: "detached_late", severity: "note", diagnose: diagnoseLateDetach },
  { kind: "shared_memory", severity: "note", diagnose: diagnoseWriteSeenThroughOtherName },
  { kind: "memory_held", severity: "note", diagnose: diagnoseMemoryHeldByView },
  { kind: "caught_error", severity: "note", diagnose: diagnoseCaughtErrors },
  { kind: "unexplained_error", severity: "error", diagnose: diagnoseUnexplainedError, onError: true },
  // which term moves what
  { kind: "term_moves_nothing", severity: "warning", diagnose: diagnoseTermWithoutHistory },
  { kind: "term_moves_nothing", severity: "note", diagnose: diagnoseGradientCutBySample },
  { kind: "target_with_history", severity: "note", diagnose: diagnoseTargetWithHistory },
  // what numbers can't be
  { kind: "mean_of_means", severity: "note", diagnose: diagnoseMeanOfMeans },
  { kind: "loss_below_zero", severity: "warning", diagnose: diagnoseLossBelowZero },
  { kind: "integer_wrapped", severity: "warning", diagnose: diagnoseIntegerWrapped },
  { kind: "padding_row", severity: "warning", diagnose: diagnosePaddingRow },
  // samples and axes
  { kind: "samples_mixed", severity: "warning", diagnose: diagnoseSoftmaxOverBatch },
  { kind: "samples_mixed", severity: "warning", diagnose: diagnoseSequenceOverBatch },
  { kind: "view_swaps_axes", severity: "note", diagnose: diagnoseViewThatSwapsAxes },
  { kind: "view_swaps_axes", severity: "warning", diagnose: diagnoseViewOfFinalStates },
  // gradients that are not the slope
  { kind: "backward_not_derivative", severity: "warning", diagnose: diagnoseBackwardNotDerivative },
  // two names of one thing
  { kind: "same_module", severity: "warning", diagnose: diagnoseSecondNameOfModule },
  { kind: "layer_repeated", severity: "warning", diagnose: diagnoseRepeatedLayer },
  { kind: "hook_keeps_last", severity: "note", diagnose: diagnoseHookThatKeepsLast },
  { kind: "shared_group", severity: "warning", diagnose: diagnoseSharedGroup },
  // results that nobody reads
  { kind: "result_unused", severity: "warning", diagnose: diagnoseUnusedResult },
  { kind: "load_matched_nothing", severity: "warning", diagnose: diagnoseLoadOfNothing },
  { kind: "load_matched_nothing", severity: "warning", diagnose: diagnoseLoadOfItself },
  { kind: "load_matched_nothing", severity: "warning", diagnose: diagnoseLoadOverwritten },
];

/**
 * Every finding. Of several with their cause at one step, the first is shown first.
 * `npm run build` adds what is new at the end; the order stays.
 */

import { ERROR_DIAGNOSES } from "./error_registry.ts";
import { FINDINGS as broadcastLoss } from "./samples/broadcast_loss.ts";
import { FINDINGS as wrongGradient } from "./gradients/wrong_gradient.ts";
import { FINDINGS as contextWritten } from "./graph/context_written.ts";
import { FINDINGS as activationTwice } from "./numbers/activation_twice.ts";
import { FINDINGS as gradNone } from "./gradients/grad_none.ts";
import { FINDINGS as gradAccumulated } from "./gradients/grad_accumulated.ts";
import { FINDINGS as frozenUpdated } from "./training/frozen_updated.ts";
import { FINDINGS as graphGrows } from "./graph/graph_grows.ts";
import { FINDINGS as unregistered } from "./modules/unregistered.ts";
import { FINDINGS as exhaustedParameters } from "./training/exhausted_parameters.ts";
import { FINDINGS as parameterDetached } from "./modules/parameter_detached.ts";
import { FINDINGS as reboundLoop } from "./modules/rebound_loop.ts";
import { FINDINGS as clips } from "./training/clips.ts";
import { FINDINGS as gradientsDropped } from "./training/gradients_dropped.ts";
import { FINDINGS as noStep } from "./training/no_step.ts";
import { FINDINGS as schedulerFirst } from "./training/scheduler_first.ts";
import { FINDINGS as scheduleInVain } from "./training/schedule_in_vain.ts";
import { FINDINGS as notInOptimizer } from "./training/not_in_optimizer.ts";
import { FINDINGS as layerMadeEachForward } from "./modules/layer_made_each_forward.ts";
import { FINDINGS as moduleFlag } from "./modules/module_flag.ts";
import { FINDINGS as optimizerAttribute } from "./training/optimizer_attribute.ts";
import { FINDINGS as lostOption } from "./training/lost_option.ts";
import { FINDINGS as misspelledFlag } from "./modules/misspelled_flag.ts";
import { FINDINGS as lossOfLastBatch } from "./samples/loss_of_last_batch.ts";
import { FINDINGS as frozenOptimizer } from "./training/frozen_optimizer.ts";
import { FINDINGS as evalDropoutActive } from "./modules/eval_dropout_active.ts";
import { FINDINGS as evalNeverLeft } from "./modules/eval_never_left.ts";
import { FINDINGS as frozenNormMoves } from "./modules/frozen_norm_moves.ts";
import { FINDINGS as indexCopy } from "./memory/index_copy.ts";
import { FINDINGS as hookMisses } from "./hooks/hook_misses.ts";
import { FINDINGS as nonfinite } from "./numbers/nonfinite.ts";
import { FINDINGS as zeroGradient } from "./gradients/zero_gradient.ts";
import { FINDINGS as cancelledGradient } from "./gradients/cancelled_gradient.ts";
import { FINDINGS as diedRelus } from "./gradients/died_relus.ts";
import { FINDINGS as evalMissing } from "./modules/eval_missing.ts";
import { FINDINGS as accumulationUndivided } from "./training/accumulation_undivided.ts";
import { FINDINGS as detachedLate } from "./graph/detached_late.ts";
import { FINDINGS as overlappingWrite } from "./memory/overlapping_write.ts";
import { FINDINGS as sharedMemory } from "./memory/shared_memory.ts";
import { FINDINGS as sameList } from "./memory/same_list.ts";
import { FINDINGS as memoryHeld } from "./memory/memory_held.ts";
import { FINDINGS as memoryCycles } from "./memory/memory_cycles.ts";
import { FINDINGS as caughtError } from "./caught_error.ts";
import { FINDINGS as unexplainedError } from "./errors/unexplained_error.ts";
import { FINDINGS as termMovesNothing } from "./gradients/term_moves_nothing.ts";
import { FINDINGS as sampleCuts } from "./gradients/sample_cuts.ts";
import { FINDINGS as targetWithHistory } from "./gradients/target_with_history.ts";
import { FINDINGS as meanOfMeans } from "./samples/mean_of_means.ts";
import { FINDINGS as lossBelowZero } from "./numbers/loss_below_zero.ts";
import { FINDINGS as integerWrapped } from "./numbers/integer_wrapped.ts";
import { FINDINGS as paddingRow } from "./modules/padding_row.ts";
import { FINDINGS as samplesMixed } from "./samples/samples_mixed.ts";
import { FINDINGS as sequenceAxis } from "./samples/sequence_axis.ts";
import { FINDINGS as viewSwapsAxes } from "./samples/view_swaps_axes.ts";
import { FINDINGS as backwardNotDerivative } from "./gradients/backward_not_derivative.ts";
import { FINDINGS as sameModule } from "./modules/same_module.ts";
import { FINDINGS as layerRepeated } from "./modules/layer_repeated.ts";
import { FINDINGS as hookKeepsLast } from "./hooks/hook_keeps_last.ts";
import { FINDINGS as hookLateBinding } from "./hooks/hook_late_binding.ts";
import { FINDINGS as sharedGroup } from "./training/shared_group.ts";
import { FINDINGS as resultUnused } from "./memory/result_unused.ts";
import { FINDINGS as loadMatchedNothing } from "./modules/load_matched_nothing.ts";
import { FINDINGS as statisticsNeverFed } from "./modules/statistics_never_fed.ts";
import { FINDINGS as attentionMasks } from "./samples/attention_masks.ts";
import { FINDINGS as axesConfused } from "./samples/axes_confused.ts";
import { FINDINGS as lossTimesMask } from "./samples/loss_times_mask.ts";
import { FINDINGS as sameNumbers } from "./samples/same_numbers.ts";
import { FINDINGS as nothingMoves } from "./training/nothing_moves.ts";
import { FINDINGS as staleCopy } from "./training/stale_copy.ts";
import { FINDINGS as hooksPileUp } from "./hooks/hooks_pile_up.ts";
import { FINDINGS as advantageWithHistory } from "./gradients/advantage_with_history.ts";
import { FINDINGS as layersStartEqual } from "./modules/layers_start_equal.ts";
import { FINDINGS as rateJumps } from "./training/rate_jumps.ts";
import { FINDINGS as comparedWithItself } from "./samples/compared_with_itself.ts";
import { FINDINGS as batchPartUnread } from "./samples/batch_part_unread.ts";
import { FINDINGS as evalTrains } from "./modules/eval_trains.ts";
import { FINDINGS as unitsStayEqual } from "./modules/units_stay_equal.ts";
import { FINDINGS as reluBeforeLoss } from "./numbers/relu_before_loss.ts";
import { FINDINGS as paddingTakesPart } from "./samples/padding_takes_part.ts";
import { FINDINGS as targetIsGiven } from "./samples/target_is_given.ts";
import { FINDINGS as twoShuffles } from "./samples/two_shuffles.ts";
import { FINDINGS as schedulerIdle } from "./training/scheduler_idle.ts";
import { FINDINGS as maskUnread } from "./samples/mask_unread.ts";
import { FINDINGS as beyondReach } from "./numbers/beyond_reach.ts";
import { FINDINGS as stateNotCarried } from "./samples/state_not_carried.ts";
import { FINDINGS as weightsDrawnAgain } from "./training/weights_drawn_again.ts";
import { FINDINGS as linearTwice } from "./modules/linear_twice.ts";
import { FINDINGS as logitAsProbability } from "./numbers/logit_as_probability.ts";
import { FINDINGS as saturated } from "./numbers/saturated.ts";
import { FINDINGS as uninitialized } from "./numbers/uninitialized.ts";
import { FINDINGS as batchesOfOneClass } from "./samples/batches_of_one_class.ts";
import { FINDINGS as iteratorBeginsAgain } from "./samples/iterator_begins_again.ts";
import { FINDINGS as neverEqual } from "./samples/never_equal.ts";
import { FINDINGS as reverseUnread } from "./samples/reverse_unread.ts";
import { FINDINGS as softmaxOfOne } from "./numbers/softmax_of_one.ts";
import { FINDINGS as signTargets } from "./numbers/sign_targets.ts";
import { FINDINGS as closureComputesNothing } from "./training/closure_computes_nothing.ts";
import { FINDINGS as backwardNeverCalled } from "./modules/backward_never_called.ts";
import { FINDINGS as gradientPenalty } from "./samples/gradient_penalty.ts";
import { FINDINGS as rowForSlice } from "./samples/row_for_slice.ts";
import type { DiagnosisRow } from "./diagnosis.ts";

export const DIAGNOSES: DiagnosisRow[] = [
  ...ERROR_DIAGNOSES,
  ...broadcastLoss,
  ...wrongGradient,
  ...contextWritten,
  ...activationTwice,
  ...gradNone,
  ...gradAccumulated,
  ...frozenUpdated,
  ...graphGrows,
  ...unregistered,
  ...exhaustedParameters,
  ...parameterDetached,
  ...reboundLoop,
  ...clips,
  ...gradientsDropped,
  ...noStep,
  ...schedulerFirst,
  ...scheduleInVain,
  ...notInOptimizer,
  ...layerMadeEachForward,
  ...moduleFlag,
  ...optimizerAttribute,
  ...lostOption,
  ...misspelledFlag,
  ...lossOfLastBatch,
  ...frozenOptimizer,
  ...evalDropoutActive,
  ...evalNeverLeft,
  ...frozenNormMoves,
  ...indexCopy,
  ...hookMisses,
  ...nonfinite,
  ...zeroGradient,
  ...cancelledGradient,
  ...diedRelus,
  ...evalMissing,
  ...accumulationUndivided,
  ...detachedLate,
  ...overlappingWrite,
  ...sharedMemory,
  ...sameList,
  ...memoryHeld,
  ...memoryCycles,
  ...caughtError,
  ...unexplainedError,
  ...termMovesNothing,
  ...sampleCuts,
  ...targetWithHistory,
  ...meanOfMeans,
  ...lossBelowZero,
  ...integerWrapped,
  ...paddingRow,
  ...samplesMixed,
  ...sequenceAxis,
  ...viewSwapsAxes,
  ...backwardNotDerivative,
  ...sameModule,
  ...layerRepeated,
  ...hookKeepsLast,
  ...hookLateBinding,
  ...sharedGroup,
  ...resultUnused,
  ...loadMatchedNothing,
  ...statisticsNeverFed,
  ...attentionMasks,
  ...axesConfused,
  ...lossTimesMask,
  ...sameNumbers,
  ...nothingMoves,
  ...staleCopy,
  ...hooksPileUp,
  ...advantageWithHistory,
  ...layersStartEqual,
  ...rateJumps,
  ...comparedWithItself,
  ...batchPartUnread,
  ...evalTrains,
  ...unitsStayEqual,
  ...reluBeforeLoss,
  ...paddingTakesPart,
  ...targetIsGiven,
  ...twoShuffles,
  ...schedulerIdle,
  ...maskUnread,
  ...beyondReach,
  ...stateNotCarried,
  ...weightsDrawnAgain,
  ...linearTwice,
  ...logitAsProbability,
  ...saturated,
  ...uninitialized,
  ...batchesOfOneClass,
  ...iteratorBeginsAgain,
  ...neverEqual,
  ...reverseUnread,
  ...softmaxOfOne,
  ...signTargets,
  ...closureComputesNothing,
  ...backwardNeverCalled,
  ...gradientPenalty,
  ...rowForSlice,
];

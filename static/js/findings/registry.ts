/** The table of findings: a row a kind, with the function that looks for it. A new kind is a file, a row and its sentences. */

import { diagnoseActivationTwice } from "./activation_twice.ts";
import { diagnoseBackwardTwice } from "./backward_twice.ts";
import { diagnoseBroadcastLoss } from "./broadcast_loss.ts";
import { diagnoseContextTensorWritten } from "./context_written.ts";
import { diagnoseCustomFunctionMistakes } from "./custom_function.ts";
import { diagnoseDeepcopyOfNonLeaf } from "./deepcopy_nonleaf.ts";
import { diagnoseLateDetach } from "./detached_late.ts";
import { diagnoseDtypeMismatch } from "./dtype_mismatch.ts";
import { diagnoseInPlaceWriteToExpanded } from "./expanded_inplace.ts";
import { diagnoseInvalidHookResult } from "./hook_result.ts";
import { diagnoseIndexOutOfRange } from "./index_out_of_range.ts";
import { diagnoseInferenceTensorUse } from "./inference_tensor.ts";
import { diagnoseRequiresGradOfIntegers } from "./int_requires_grad.ts";
import { diagnoseInPlaceWriteToLeaf } from "./leaf_inplace.ts";
import { diagnoseInPlaceWriteToLeafView } from "./leaf_view_inplace.ts";
import { diagnoseInPlaceWriteToMultiView } from "./multi_view_inplace.ts";
import { diagnoseInPlaceWriteToNoGradView } from "./no_grad_view_inplace.ts";
import { diagnoseBackwardWithoutGraph } from "./no_graph.ts";
import { diagnoseViewOfNonContiguous } from "./not_contiguous.ts";
import { diagnoseBackwardOfNonScalar } from "./not_scalar.ts";
import { diagnoseNumpyOfRequiresGrad } from "./numpy_requires_grad.ts";
import { diagnoseSavedTensorDetached } from "./saved_detached.ts";
import { diagnoseSavedTensorOverwritten } from "./saved_overwritten.ts";
import { diagnoseShapeMismatch } from "./shape_mismatch.ts";
import { diagnoseUnusedInput } from "./unused_input.ts";
import { diagnoseFrozenParameterUpdated } from "./frozen_updated.ts";
import { diagnoseGradAccumulated } from "./grad_accumulated.ts";
import { diagnoseGradIsNone } from "./grad_none.ts";
import { diagnoseGraphGrowthInLoop } from "./graph_grows.ts";
import { diagnoseMisplacedHooks } from "./hook_misses.ts";
import { diagnoseWriteThroughIndex } from "./index_copy.ts";
import { diagnoseMemoryHeldByView } from "./memory_held.ts";
import { diagnoseNonfiniteValues } from "./nonfinite.ts";
import { diagnoseDetachedParameter } from "./parameter_detached.ts";
import { diagnoseWriteSeenThroughOtherName } from "./shared_memory.ts";
import { diagnoseWrongGradientFromChangedTensor } from "./wrong_gradient.ts";
import { diagnoseZeroGradient } from "./zero_gradient.ts";
import { diagnoseIntegerWrapped } from "./integer_wrapped.ts";
import { diagnoseLossBelowZero } from "./loss_below_zero.ts";
import { diagnoseHookThatKeepsLast } from "./hook_keeps_last.ts";
import { diagnoseLoadOfNothing } from "./load_matched_nothing.ts";
import { diagnosePaddingRow } from "./padding_row.ts";
import { diagnoseRepeatedLayer } from "./layer_repeated.ts";
import { diagnoseSecondNameOfModule } from "./same_module.ts";
import { diagnoseSharedGroup } from "./shared_group.ts";
import { diagnoseTargetWithHistory } from "./target_with_history.ts";
import { diagnoseTermWithoutHistory } from "./term_moves_nothing.ts";
import { diagnoseSoftmaxOverBatch } from "./samples_mixed.ts";
import { diagnoseBackwardNotDerivative } from "./backward_not_derivative.ts";
import { diagnoseUnusedResult } from "./result_unused.ts";
import type { Diagnosis, Severity } from "./finding.ts";
import type { RunFacts } from "./run_facts.ts";

interface DiagnosisRow {
  kind: string;
  severity: Severity;
  diagnose: (facts: RunFacts) => Diagnosis[];
  /** it is only asked where the program raised */
  onError?: boolean;
}

/** Of several that explain one error the first is the best. */
export const DIAGNOSES: DiagnosisRow[] = [
  { kind: "saved_overwritten", severity: "error", diagnose: diagnoseSavedTensorOverwritten, onError: true },
  { kind: "saved_detached", severity: "error", diagnose: diagnoseSavedTensorDetached, onError: true },
  { kind: "backward_twice", severity: "error", diagnose: diagnoseBackwardTwice, onError: true },
  { kind: "custom_function", severity: "error", diagnose: diagnoseCustomFunctionMistakes },
  { kind: "hook_result", severity: "error", diagnose: diagnoseInvalidHookResult, onError: true },
  { kind: "multi_view_inplace", severity: "error", diagnose: diagnoseInPlaceWriteToMultiView, onError: true },
  { kind: "no_grad_view_inplace", severity: "error", diagnose: diagnoseInPlaceWriteToNoGradView, onError: true },
  { kind: "leaf_inplace", severity: "error", diagnose: diagnoseInPlaceWriteToLeaf, onError: true },
  { kind: "leaf_view_inplace", severity: "error", diagnose: diagnoseInPlaceWriteToLeafView, onError: true },
  { kind: "inference_tensor", severity: "error", diagnose: diagnoseInferenceTensorUse, onError: true },
  { kind: "expanded_inplace", severity: "error", diagnose: diagnoseInPlaceWriteToExpanded, onError: true },
  { kind: "no_graph", severity: "error", diagnose: diagnoseBackwardWithoutGraph, onError: true },
  { kind: "not_scalar", severity: "error", diagnose: diagnoseBackwardOfNonScalar, onError: true },
  { kind: "unused_input", severity: "error", diagnose: diagnoseUnusedInput, onError: true },
  { kind: "not_contiguous", severity: "error", diagnose: diagnoseViewOfNonContiguous, onError: true },
  { kind: "numpy_requires_grad", severity: "error", diagnose: diagnoseNumpyOfRequiresGrad, onError: true },
  { kind: "deepcopy_nonleaf", severity: "error", diagnose: diagnoseDeepcopyOfNonLeaf, onError: true },
  { kind: "int_requires_grad", severity: "error", diagnose: diagnoseRequiresGradOfIntegers, onError: true },
  { kind: "dtype_mismatch", severity: "error", diagnose: diagnoseDtypeMismatch, onError: true },
  { kind: "index_out_of_range", severity: "error", diagnose: diagnoseIndexOutOfRange, onError: true },
  { kind: "shape_mismatch", severity: "error", diagnose: diagnoseShapeMismatch, onError: true },
  { kind: "shape_mismatch", severity: "warning", diagnose: diagnoseBroadcastLoss },
  { kind: "wrong_gradient", severity: "warning", diagnose: diagnoseWrongGradientFromChangedTensor },
  { kind: "wrong_gradient", severity: "warning", diagnose: diagnoseContextTensorWritten },
  { kind: "activation_twice", severity: "warning", diagnose: diagnoseActivationTwice },
  { kind: "grad_none", severity: "warning", diagnose: diagnoseGradIsNone },
  { kind: "grad_accumulated", severity: "warning", diagnose: diagnoseGradAccumulated },
  { kind: "frozen_updated", severity: "warning", diagnose: diagnoseFrozenParameterUpdated },
  { kind: "graph_grows", severity: "warning", diagnose: diagnoseGraphGrowthInLoop },
  { kind: "parameter_detached", severity: "warning", diagnose: diagnoseDetachedParameter },
  { kind: "index_copy", severity: "warning", diagnose: diagnoseWriteThroughIndex },
  { kind: "hook_misses", severity: "warning", diagnose: diagnoseMisplacedHooks },
  { kind: "nonfinite", severity: "warning", diagnose: diagnoseNonfiniteValues },
  { kind: "zero_gradient", severity: "warning", diagnose: diagnoseZeroGradient },
  { kind: "detached_late", severity: "note", diagnose: diagnoseLateDetach },
  { kind: "shared_memory", severity: "note", diagnose: diagnoseWriteSeenThroughOtherName },
  { kind: "memory_held", severity: "note", diagnose: diagnoseMemoryHeldByView },
  // which term moves what
  { kind: "term_moves_nothing", severity: "warning", diagnose: diagnoseTermWithoutHistory },
  { kind: "target_with_history", severity: "note", diagnose: diagnoseTargetWithHistory },
  // what numbers can't be
  { kind: "loss_below_zero", severity: "warning", diagnose: diagnoseLossBelowZero },
  { kind: "integer_wrapped", severity: "warning", diagnose: diagnoseIntegerWrapped },
  { kind: "padding_row", severity: "warning", diagnose: diagnosePaddingRow },
  // samples and axes
  { kind: "samples_mixed", severity: "warning", diagnose: diagnoseSoftmaxOverBatch },
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
];

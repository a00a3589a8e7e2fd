/** The table of findings that explain an error: a row a kind, with the function that looks for it. */

import { diagnoseBackwardTwice } from "./graph/backward_twice.ts";
import { diagnoseCustomFunctionMistakes } from "./graph/custom_function.ts";
import { diagnoseDeepcopyOfNonLeaf } from "./errors/deepcopy_nonleaf.ts";
import { diagnoseDtypeMismatch } from "./errors/dtype_mismatch.ts";
import { diagnoseInPlaceWriteToExpanded } from "./memory/expanded_inplace.ts";
import { diagnoseInvalidHookResult } from "./hooks/hook_result.ts";
import { diagnoseIndexOutOfRange } from "./errors/index_out_of_range.ts";
import { diagnoseInferenceTensorUse } from "./errors/inference_tensor.ts";
import { diagnoseRequiresGradOfIntegers } from "./errors/int_requires_grad.ts";
import { diagnoseInPlaceWriteToLeaf } from "./memory/leaf_inplace.ts";
import { diagnoseInPlaceWriteToLeafView } from "./memory/leaf_view_inplace.ts";
import { diagnoseInPlaceWriteToMultiView } from "./memory/multi_view_inplace.ts";
import { diagnoseInPlaceWriteToNoGradView } from "./memory/no_grad_view_inplace.ts";
import { diagnoseBackwardWithoutGraph } from "./graph/no_graph.ts";
import { diagnoseViewOfNonContiguous } from "./errors/not_contiguous.ts";
import { diagnoseBackwardOfNonScalar } from "./errors/not_scalar.ts";
import { diagnoseNumpyOfRequiresGrad } from "./errors/numpy_requires_grad.ts";
import { diagnoseSavedTensorDetached } from "./graph/saved_detached.ts";
import { diagnoseSavedTensorOverwritten } from "./memory/saved_overwritten.ts";
import { diagnoseShapeMismatch } from "./errors/shape_mismatch.ts";
import { diagnoseUnusedInput } from "./graph/unused_input.ts";
import type { Diagnosis, Severity } from "./finding.ts";
import type { RunFacts } from "./facts/run_facts.ts";

export interface DiagnosisRow {
  kind: string;
  severity: Severity;
  diagnose: (facts: RunFacts) => Diagnosis[];
  /** it is only asked where the program raised */
  onError?: boolean;
}

/** Of several that explain one error the first is the best. */
export const ERROR_DIAGNOSES: DiagnosisRow[] = [
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
];

/** Why a run raised: the best of the diagnoses. */
export function explanationOfError(facts: RunFacts): (Diagnosis & { kind: string }) | null {
  for (const { kind, diagnose } of ERROR_DIAGNOSES) {
    const found = diagnose(facts).find(({ explainsError }) => explainsError);
    if (found) return { ...found, kind };
  }
  return null;
}

/** The table of findings: a row a kind, with the function that looks for it. A new kind is a file, a row and its sentences. */

import { activationTwice } from "./activation_twice.ts";
import { backwardTwice } from "./backward_twice.ts";
import { broadcastLoss } from "./broadcast_loss.ts";
import { contextWritten } from "./context_written.ts";
import { customFunction } from "./custom_function.ts";
import { deepcopyNonleaf } from "./deepcopy_nonleaf.ts";
import { detachedLate } from "./detached_late.ts";
import { dtypeMismatch } from "./dtype_mismatch.ts";
import { expandedInplace } from "./expanded_inplace.ts";
import { hookResult } from "./hook_result.ts";
import { indexOutOfRange } from "./index_out_of_range.ts";
import { inferenceTensor } from "./inference_tensor.ts";
import { intRequiresGrad } from "./int_requires_grad.ts";
import { leafInplace } from "./leaf_inplace.ts";
import { leafViewInplace } from "./leaf_view_inplace.ts";
import { multiViewInplace } from "./multi_view_inplace.ts";
import { noGradViewInplace } from "./no_grad_view_inplace.ts";
import { noGraph } from "./no_graph.ts";
import { notContiguous } from "./not_contiguous.ts";
import { notScalar } from "./not_scalar.ts";
import { numpyRequiresGrad } from "./numpy_requires_grad.ts";
import { savedDetached } from "./saved_detached.ts";
import { savedOverwritten } from "./saved_overwritten.ts";
import { shapeMismatch } from "./shape_mismatch.ts";
import { unusedInput } from "./unused_input.ts";
import { frozenUpdated } from "./frozen_updated.ts";
import { gradAccumulated } from "./grad_accumulated.ts";
import { gradNone } from "./grad_none.ts";
import { graphGrows } from "./graph_grows.ts";
import { hookMisses } from "./hook_misses.ts";
import { indexCopy } from "./index_copy.ts";
import { memoryHeld } from "./memory_held.ts";
import { nonfinite } from "./nonfinite.ts";
import { parameterDetached } from "./parameter_detached.ts";
import { sharedMemory } from "./shared_memory.ts";
import { wrongGradient } from "./wrong_gradient.ts";
import { zeroGradient } from "./zero_gradient.ts";
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
  { kind: "saved_overwritten", severity: "error", diagnose: savedOverwritten, onError: true },
  { kind: "saved_detached", severity: "error", diagnose: savedDetached, onError: true },
  { kind: "backward_twice", severity: "error", diagnose: backwardTwice, onError: true },
  { kind: "custom_function", severity: "error", diagnose: customFunction },
  { kind: "hook_result", severity: "error", diagnose: hookResult, onError: true },
  { kind: "multi_view_inplace", severity: "error", diagnose: multiViewInplace, onError: true },
  { kind: "no_grad_view_inplace", severity: "error", diagnose: noGradViewInplace, onError: true },
  { kind: "leaf_inplace", severity: "error", diagnose: leafInplace, onError: true },
  { kind: "leaf_view_inplace", severity: "error", diagnose: leafViewInplace, onError: true },
  { kind: "inference_tensor", severity: "error", diagnose: inferenceTensor, onError: true },
  { kind: "expanded_inplace", severity: "error", diagnose: expandedInplace, onError: true },
  { kind: "no_graph", severity: "error", diagnose: noGraph, onError: true },
  { kind: "not_scalar", severity: "error", diagnose: notScalar, onError: true },
  { kind: "unused_input", severity: "error", diagnose: unusedInput, onError: true },
  { kind: "not_contiguous", severity: "error", diagnose: notContiguous, onError: true },
  { kind: "numpy_requires_grad", severity: "error", diagnose: numpyRequiresGrad, onError: true },
  { kind: "deepcopy_nonleaf", severity: "error", diagnose: deepcopyNonleaf, onError: true },
  { kind: "int_requires_grad", severity: "error", diagnose: intRequiresGrad, onError: true },
  { kind: "dtype_mismatch", severity: "error", diagnose: dtypeMismatch, onError: true },
  { kind: "index_out_of_range", severity: "error", diagnose: indexOutOfRange, onError: true },
  { kind: "shape_mismatch", severity: "error", diagnose: shapeMismatch, onError: true },
  { kind: "shape_mismatch", severity: "warning", diagnose: broadcastLoss },
  { kind: "wrong_gradient", severity: "warning", diagnose: wrongGradient },
  { kind: "wrong_gradient", severity: "warning", diagnose: contextWritten },
  { kind: "activation_twice", severity: "warning", diagnose: activationTwice },
  { kind: "grad_none", severity: "warning", diagnose: gradNone },
  { kind: "grad_accumulated", severity: "warning", diagnose: gradAccumulated },
  { kind: "frozen_updated", severity: "warning", diagnose: frozenUpdated },
  { kind: "graph_grows", severity: "warning", diagnose: graphGrows },
  { kind: "parameter_detached", severity: "warning", diagnose: parameterDetached },
  { kind: "index_copy", severity: "warning", diagnose: indexCopy },
  { kind: "hook_misses", severity: "warning", diagnose: hookMisses },
  { kind: "nonfinite", severity: "warning", diagnose: nonfinite },
  { kind: "zero_gradient", severity: "warning", diagnose: zeroGradient },
  { kind: "detached_late", severity: "note", diagnose: detachedLate },
  { kind: "shared_memory", severity: "note", diagnose: sharedMemory },
  { kind: "memory_held", severity: "note", diagnose: memoryHeld },
];

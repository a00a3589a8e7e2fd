/** The table of findings: a row a kind, with the function that looks for it. A new kind is a file, a row and its sentences. */

import { diagnoseActivationTwice } from "./activation_twice.ts";
import { diagnoseBroadcastLoss } from "./broadcast_loss.ts";
import { diagnoseContextTensorWritten } from "./context_written.ts";
import { diagnoseLateDetach } from "./detached_late.ts";
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
import { diagnoseCaughtErrors } from "./caught_error.ts";
import { diagnoseUnexplainedError } from "./unexplained_error.ts";
import { ERROR_DIAGNOSES, type DiagnosisRow } from "./error_registry.ts";

/** Of several that explain one error the first is the best. */
export const DIAGNOSES: DiagnosisRow[] = [
  ...ERROR_DIAGNOSES,
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
  { kind: "caught_error", severity: "note", diagnose: diagnoseCaughtErrors },
  { kind: "unexplained_error", severity: "error", diagnose: diagnoseUnexplainedError, onError: true },
];

/**
 * Every finding that explains an error; of several that explain one, the first is shown.
 * `npm run build` adds what is new at the end; the order stays.
 */

import { ERROR_FINDINGS as savedOverwritten } from "./memory/saved_overwritten.ts";
import { ERROR_FINDINGS as savedDetached } from "./graph/saved_detached.ts";
import { ERROR_FINDINGS as backwardTwice } from "./graph/backward_twice.ts";
import { ERROR_FINDINGS as customFunction } from "./graph/custom_function.ts";
import { ERROR_FINDINGS as customContract } from "./graph/custom_contract.ts";
import { ERROR_FINDINGS as hookResult } from "./hooks/hook_result.ts";
import { ERROR_FINDINGS as inferenceTensor } from "./errors/inference_tensor.ts";
import { ERROR_FINDINGS as refusedWrite } from "./memory/refused_write.ts";
import { ERROR_FINDINGS as noGraph } from "./graph/no_graph.ts";
import { ERROR_FINDINGS as tensorRefused } from "./errors/tensor_refused.ts";
import { ERROR_FINDINGS as unusedInput } from "./graph/unused_input.ts";
import { ERROR_FINDINGS as notContiguous } from "./errors/not_contiguous.ts";
import { ERROR_FINDINGS as dtypeMismatch } from "./errors/dtype_mismatch.ts";
import { ERROR_FINDINGS as indexOutOfRange } from "./errors/index_out_of_range.ts";
import { ERROR_FINDINGS as shapeMismatch } from "./errors/shape_mismatch.ts";
import type { DiagnosisRow } from "./diagnosis.ts";

export const ERROR_DIAGNOSES: DiagnosisRow[] = [
  ...savedOverwritten,
  ...savedDetached,
  ...backwardTwice,
  ...customFunction,
  ...customContract,
  ...hookResult,
  ...inferenceTensor,
  ...refusedWrite,
  ...noGraph,
  ...tensorRefused,
  ...unusedInput,
  ...notContiguous,
  ...dtypeMismatch,
  ...indexOutOfRange,
  ...shapeMismatch,
];

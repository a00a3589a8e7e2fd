/** Whether gradients are right: asked of the server, which runs the program again with numbers changed a little. */

import { SERVER_ROOT } from "./root.ts";

/** NaN and infinities by their names */
export type CheckedNumber = number | { $f: string };
export type GradientVerdict =
  | "agrees"
  | "rounding"
  | "kink"
  | "unknown"
  | "imprecise"
  | "stale"
  | "cut"
  | "differs"
  | "unused";

export interface ElementCheck {
  index: number[];
  torch: CheckedNumber | null;
  double: CheckedNumber | null;
  numeric: CheckedNumber | null;
  left: CheckedNumber | null;
  right: CheckedNumber | null;
  difference: number | null;
  verdict: GradientVerdict;
}

export interface LeafCheck {
  name: string | null;
  line: number | null;
  shape: number[];
  dtype: string;
  elements: number;
  verdict: GradientVerdict;
  worst: number | null;
  hooked: boolean;
  /** an older copy in another precision that was computed with */
  copy_used: { dtype: string; line: number | null } | null;
  problem: string | null;
  problem_line: number | null;
  rows: ElementCheck[];
}

export interface GradientCheck {
  problem: string | null;
  message: string;
  backward: number | null;
  line: number | null;
  loss: CheckedNumber | null;
  double: CheckedNumber | null;
  runs: number;
  complete: boolean;
  corners: { op: string; line: number | null }[];
  leaves: LeafCheck[];
  samples?: SampleMixingCheck | null;
}

/** what became of the other samples of a batch when only the first was changed */
export interface SampleMixingCheck {
  problem: string | null;
  line: number | null;
  axis: number;
  samples: number;
  mixing: { op: string; line: number | null; changed: number | null } | null;
  runs: number;
}

export interface CheckReply {
  status: string;
  message: string;
  check: GradientCheck | null;
}

interface CheckChoice {
  /** follow the samples of the batch instead */
  samples?: boolean;
  /** how many numbers are varied at most */
  elements?: number;
}

/** backward: which call, from 0; null for the last */
export type CheckGradients = (backward: number | null, choice?: CheckChoice) => Promise<CheckReply>;

/** Checks the program as it was run. Rejects where the server has no answer. */
export async function checkGradients(
  { source, seed, input }: { source: string; seed: number; input?: string },
  backward: number | null,
  { samples, elements }: CheckChoice = {},
): Promise<CheckReply> {
  const response = await fetch(`${SERVER_ROOT}/api/gradient-checks`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      ...{ source, seed, backward },
      ...(input && { input }),
      ...(samples && { samples }),
      ...(elements && { elements }),
    }),
  });
  if (!response.ok) throw new Error(String(response.status));
  return response.json();
}

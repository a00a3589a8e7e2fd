/** Fixes of a finding: asked of the server, which runs each of them. */

import { SERVER_ROOT } from "./root.ts";

export interface LineEdit {
  line: number;
  old: string;
  /** null where the line is removed; several lines where some are added */
  new: string | null;
}

/** NaN and infinities by their names */
export type LossValue = number | { $f: string };

/** from round to round, of the program and of the fixed one */
export interface LossCurves {
  name: string;
  before: LossValue[];
  after: LossValue[];
}

export interface Fix {
  edits: LineEdit[];
  outcome: string;
  text: string;
  losses?: LossCurves | null;
}

export type TryFixes = (finding: { kind: string; line: number }, signal: AbortSignal) => Promise<Fix[]>;

/** The fixes of one finding, of the program as it was run, that work. Rejects where the server has no answer. */
export async function tryFixes(
  program: { source: string; seed: number; device?: string; input?: string; language: string },
  { kind, line }: { kind: string; line: number },
  signal: AbortSignal,
): Promise<Fix[]> {
  const response = await fetch(`${SERVER_ROOT}/api/fixes`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...program, kind, line }),
    signal,
  });
  if (!response.ok) throw new Error(String(response.status));
  return (await response.json()).fixes;
}

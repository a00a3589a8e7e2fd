/** The page's state as plain data. */

import type { Focus, Repair, Trace } from "../trace/wire.ts";
import type { Settings } from "./settings.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { View } from "./url.ts";
import type { RequestProblem } from "../requests/trace_source.ts";
import type { PredictState } from "./predict_state.ts";

interface SavedProgram {
  id: string;
  url: string;
  title: string;
  description: string;
  note: string;
  parent: string | null;
  settings: { seed: number; device: string; focus: Focus | null; input: string };
}

/** What the server sent with the page: its program. */
export interface ServedPage {
  source: string;
  /** where the program's trace is, null where the server has none */
  traceUrl: string | null;
  /** null until it was fetched */
  trace: Trace | null;
  saved: SavedProgram | null;
  devices: string[];
  /** what the reader wrote before in this tab */
  draft: string | null;
  /** programs run while they are edited, until the reader says otherwise */
  isLive?: boolean;
  /** it opens in predict mode */
  predicts?: boolean;
  /** the line before which its own program is opened, where nothing else says a step */
  stopsBefore?: string | null;
}

/** A trace that was asked for. */
export interface TraceRequest {
  id: number;
  reason: "run" | "repair" | "sibling" | "card" | "iteration" | "round" | "elements" | "lookup" | "page";
  /** the editor's when it was asked */
  text: string;
  /** what is run */
  source: string;
  /**
   * the program that it has to be, where it was put together from an article and the reader's edits; null where it is
   * as it is
   */
  program: string | null;
  settings: Settings;
  focus: Focus | null;
  /**
   * the element that is to be shown, or the line. A "lookup" asks for a result that the server has from before, "page"
   * for the page's own trace: they run nothing.
   */
  at: number;
}

/** What became of a program that asked for CUDA. */
interface RunOnCpu {
  /** the run that ended there, to which one click leads back */
  before: Trace;
  repair: Repair;
  /** the program that was run instead, with the repair's edits */
  source: string;
  /** its trace; null until it has come */
  trace: Trace | null;
}

export interface PageState {
  page: ServedPage;
  /** the editor's */
  text: string;
  settings: Settings;
  /** the trace that is shown; null until the first has come */
  opened: OpenTrace | null;
  step: number;
  view: View;
  /** by the reader or by the address; else a run opens in the view that says most of it */
  isViewChosen: boolean;
  /** an address chose the view: it holds for the address's program */
  isViewFromAddress: boolean;
  /** the tensor that is asked about, and at which step */
  question: { uid: string; step: number } | null;
  /** what stays highlighted in the picture, see `highlight.ts` */
  selection: string | null;
  pending: TraceRequest | null;
  /** the steps of the pending run are shown as they arrive, in place of what was shown before; null: they are not */
  growing: { before: OpenTrace | null; step: number; waiting: boolean } | null;
  /** how many runs wait before the pending one; null while it isn't queued */
  ahead: number | null;
  /** how many there were: the last one's id */
  requests: number;
  /** of a link, until the trace is there */
  requestedStep: number | null;
  /** a link's program is shown that its reader has not run yet */
  waiting: boolean;
  /** a link's, which holds as long as the program is that one */
  linkedFocus: { source: string; focus: Focus } | null;
  /** elements of a big storage that the picture is to show */
  revealed: { storage: string; at: number } | null;
  problem: RequestProblem | null;
  /** the step at which a run was opened, until its reader does something there: what is found in the run may lead on */
  landing: number | null;
  /** a program that asked for CUDA, where there is none, and ran on the CPU instead; null: none did */
  onCpu: RunOnCpu | null;
  /** a program that its reader wants as it is, without CUDA */
  keptForCuda: string | null;
  /** programs run while they are edited */
  isLive: boolean;
  /** null where nothing is hidden; else `opened` ends with what its reader has seen */
  predict: PredictState | null;
  /** of the card that was changed last: where the answer to that text is opened */
  cardLine: number | null;
}

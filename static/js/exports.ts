/** What the server makes of a stored trace: pictures, the card that a link is shown by, the offline file, its findings, what a terminal prints. */

import { setProgramFiles } from "./trace/program_files.ts";
import { linkCardSvg, loomSvg, stageSvg, galleryCardSvg, thumbnailSvg } from "./picture/picture.ts";
import { offlineHtml } from "./picture/standalone.ts";
import { openingStep } from "./captions/captions.ts";
import { exportComparison, isComparisonKind } from "./compare/exports.ts";
import { terminalReading } from "./program/reading.ts";
import { findingsReply, lookedForReply, runSummaryReply } from "./findings/findings_reply.ts";
import { tablesReply } from "./nets/tables_reply.ts";
import { ComparisonTooLarge } from "./compare/comparison.ts";
import type { ComparisonKind, ExportRequest } from "./picture/export_request.ts";

/**
 * @param text the trace, or for a comparison both, by side, for the file of a series all that it holds
 * @returns steps: how many there are, where the one request for is not among them; failed: why nothing can be made
 */
export function render(
  text: string,
  request: ExportRequest,
): { made: string } | { steps: number } | { failed: string } {
  const trace = JSON.parse(text);
  const { kind, step, title } = request;
  setProgramFiles(trace.program ?? {});
  if (kind === "series_file") return { made: offlineHtml({ ...request, theme: null, data: trace }) };
  if (isComparisonKind(kind)) return renderComparison(trace, kind, request);
  if (step !== null && step >= trace.steps.length) return { steps: trace.steps.length };
  if (kind === "stage") return { made: stageSvg(trace, step, request) };
  if (kind === "loom") return { made: loomSvg(trace, step, request) };
  if (kind === "findings") return { made: JSON.stringify(findingsReply(trace, request.language)) };
  if (kind === "summary") return { made: JSON.stringify(runSummaryReply(trace, request.language)) };
  if (kind === "looked_for") return { made: JSON.stringify(lookedForReply(trace, request.language)) };
  if (kind === "reading") return { made: JSON.stringify(terminalReading(trace, request.language)) };
  if (kind === "tables") return { made: JSON.stringify(tablesReply(trace)) };
  if (kind === "thumbnail") return { made: thumbnailSvg(trace, title, request) };
  if (kind === "still") return { made: galleryCardSvg(trace, step, title, request) };
  if (kind === "card") return { made: linkCardSvg(trace, step, title, request) };
  return {
    made: offlineHtml({
      ...request,
      theme: null,
      data: {
        trace,
        step: step ?? Math.max(0, openingStep(trace)),
        title,
        note: request.note,
        address: request.address,
      },
    }),
  };
}

function renderComparison(runs: Parameters<typeof exportComparison>[0], kind: ComparisonKind, request: ExportRequest) {
  try {
    return { made: exportComparison(runs, kind, request) };
  } catch (error) {
    if (error instanceof ComparisonTooLarge) return { failed: error.message };
    throw error;
  }
}

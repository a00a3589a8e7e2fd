/** What the server makes of two traces: their differences, the picture of a place, and the offline file. */

import { offlineHtml } from "../picture/standalone.ts";
import { compareTraces } from "./comparison.ts";
import { comparisonPicture } from "./comparison_picture.ts";
import { comparisonReply } from "./comparison_reply.ts";
import type { ViewedRun } from "./comparison_viewer.ts";
import type { ExportRequest, ComparisonKind } from "../picture/export_request.ts";

export function isComparisonKind(kind: string): kind is ComparisonKind {
  return kind === "comparison" || kind === "comparison_picture" || kind === "comparison_file";
}

/** `step` in the request is the place; null where the two part. */
export function exportComparison(
  { left, right }: { left: ViewedRun; right: ViewedRun },
  kind: ComparisonKind,
  request: Omit<ExportRequest, "kind">,
): string {
  if (kind === "comparison")
    return JSON.stringify(comparisonReply({ left: left.trace, right: right.trace }, request.language));
  if (kind === "comparison_picture") {
    const comparison = compareTraces(left.trace, right.trace);
    const last = comparison.rows.length - 1;
    return comparisonPicture(comparison, Math.min(request.step ?? comparison.apart ?? last, last), request);
  }
  const title = [left.title, right.title].filter(Boolean).join(" · ");
  return offlineHtml({
    ...request,
    title: `Gradbox: ${title}`,
    ...request.parts.compare,
    theme: null,
    data: { left, right, row: request.step },
  });
}

/** What the server makes of two traces: their differences, the picture of a place, and the offline file. */

import { offlineDocument } from "../picture/standalone.js";
import { compareTraces } from "./comparison.js";
import { comparisonPicture } from "./comparison_picture.js";
import { comparisonReply } from "./reply.js";

/** @typedef {"comparison" | "comparison_picture" | "comparison_file"} ComparisonKind */
/** @typedef {import("./viewer.js").ViewedRun} ViewedRun */

/** @param {string} kind @returns {kind is ComparisonKind} */
export function isComparison(kind) {
  return kind === "comparison" || kind === "comparison_picture" || kind === "comparison_file";
}

/**
 * @param {{left: ViewedRun, right: ViewedRun}} runs
 * @param {ComparisonKind} kind
 * @param {Omit<import("../exports.js").ExportRequest, "kind">} request step: the place, null for where the two part
 * @returns {string}
 */
export function exportComparison({ left, right }, kind, request) {
  if (kind === "comparison")
    return JSON.stringify(comparisonReply({ left: left.trace, right: right.trace }, request.language));
  if (kind === "comparison_picture") {
    const comparison = compareTraces(left.trace, right.trace);
    const last = comparison.rows.length - 1;
    return comparisonPicture(comparison, Math.min(request.step ?? comparison.apart ?? last, last), request);
  }
  const title = [left.title, right.title].filter(Boolean).join(" · ");
  return offlineDocument({
    ...request,
    title: `Gradbox: ${title}`,
    theme: null,
    data: { left, right, row: request.step },
  });
}

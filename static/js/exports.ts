/**
 * What the server makes of a stored trace: pictures, the card that a link is shown by, the offline file, its findings,
 * what a terminal prints.
 */

import { setProgramFiles } from "./trace/program_files.ts";
import { linkCardSvg, loomSvg, stageSvg, galleryCardSvg, thumbnailSvg } from "./picture/picture.ts";
import { offlineContent } from "./offline/offline_content.ts";
import { offlineHtml } from "./picture/standalone.ts";
import { exportComparison, isComparisonKind } from "./compare/exports.ts";
import { terminalReport } from "./program/terminal_report.ts";
import { findingsReply, lookedForReply, outcomeSummaryReply } from "./findings/findings_reply.ts";
import { tablesReply } from "./nets/tables_reply.ts";
import { ComparisonTooLarge } from "./compare/comparison.ts";
import { findingLocale } from "./findings/locale.ts";
import { openTrace } from "./trace/state.ts";
import { filmFrames, filmSvg, type FilmSubject } from "./verdict/film.ts";
import { stepMarkdown, findingMarkdown } from "./verdict/markdown.ts";
import { plainText } from "./verdict/rich_text.ts";
import { bundledLocale } from "./words/locale.ts";
import { verdictOf } from "./verdict/verdict.ts";
import { CARD_SIZE } from "./verdict/finding_picture.ts";
import { findingSvg } from "./verdict/finding_svg.ts";
import type { Trace } from "./trace/wire.ts";
import type { ComparisonKind, ExportRequest } from "./picture/export_request.ts";

/**
 * `text` is the trace; for a comparison both traces by side, for the file of a series all that it holds. Returns
 * `steps`, how many there are, where the requested one is not among them, and `failed`, the reason, where nothing can
 * be made.
 */
export function render(
  text: string,
  request: ExportRequest,
): { made: string } | { steps: number } | { failed: string } {
  const trace = JSON.parse(text);
  const { kind, step, title } = request;
  setProgramFiles(trace.program ?? {});
  const { parts } = request;
  if (kind === "series_file") return { made: offlineHtml({ ...request, ...parts.series, theme: null, data: trace }) };
  if (isComparisonKind(kind)) return renderComparison(trace, kind, request);
  if (step !== null && step >= trace.steps.length) return { steps: trace.steps.length };
  if (kind === "stage") return { made: stageSvg(trace, step, request) };
  if (kind === "loom") return { made: loomSvg(trace, step, request) };
  if (kind === "findings") return { made: JSON.stringify(findingsReply(trace, request.language)) };
  if (kind === "summary") return { made: JSON.stringify(outcomeSummaryReply(trace, request.language)) };
  if (kind === "looked_for") return { made: JSON.stringify(lookedForReply(trace, request.language)) };
  if (kind === "reading") return { made: JSON.stringify(terminalReport(trace, request.language)) };
  if (kind === "tables") return { made: JSON.stringify(tablesReply(trace)) };
  if (kind === "thumbnail") return { made: thumbnailSvg(trace, title, request) };
  if (kind === "still") return { made: galleryCardSvg(trace, step, title, request) };
  if (kind === "card") return { made: cardSvg(trace, request) };
  if (kind === "film") return { made: filmSvg(filmSubject(trace, request), request) };
  if (kind === "film_frames") return { made: JSON.stringify(filmFrames(filmSubject(trace, request), request)) };
  if (kind === "markdown") return { made: markdownOf(trace, request) };
  if (kind === "headline") return { made: plainText(filmSubject(trace, request).verdict?.headline ?? "") };
  const answers = offlineContent(openTrace(trace), request.language);
  if (kind === "answers") return { made: JSON.stringify(answers) };
  return {
    made: offlineHtml({
      ...request,
      ...parts[answers.picture],
      theme: null,
      data: {
        trace,
        answers,
        step,
        title,
        note: request.note,
        verdict: step === null,
        address: request.address,
      },
    }),
  };
}

/** The card of a link: the finding of the run; of a run without one, or of a step that is asked for, the step. */
function cardSvg(trace: Trace, request: ExportRequest) {
  const { step, title, language } = request;
  const { say } = findingLocale(language);
  const opened = openTrace(trace);
  const verdict = step === null ? verdictOf(opened, say) : null;
  return verdict
    ? findingSvg(verdict, CARD_SIZE, { opened, title, say, language }, request.theme)
    : linkCardSvg(trace, step, title, request);
}

function filmSubject(trace: Trace, { title, language }: ExportRequest): FilmSubject {
  const opened = openTrace(trace);
  const sayFinding = findingLocale(language).say;
  return { opened, verdict: verdictOf(opened, sayFinding), title, language, sayFinding };
}

/** An answer for a forum. */
function markdownOf(trace: Trace, { title, language, address }: ExportRequest) {
  const opened = openTrace(trace);
  const { say } = findingLocale(language);
  const verdict = verdictOf(opened, say);
  const links = { address, picture: address ? `${address}.card.png` : "" };
  return verdict
    ? findingMarkdown(verdict, links, say)
    : stepMarkdown(opened, title, links, say, bundledLocale(language).say);
}

function renderComparison(runs: Parameters<typeof exportComparison>[0], kind: ComparisonKind, request: ExportRequest) {
  try {
    return { made: exportComparison(runs, kind, request) };
  } catch (error) {
    if (error instanceof ComparisonTooLarge) return { failed: error.message };
    throw error;
  }
}

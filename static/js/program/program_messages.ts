/** The messages under a program's lines: what was changed in it, why it is not run, where it raised. */

import { errorGloss } from "./error_gloss.ts";
import type { Notice, Refusal, Repair, Trace } from "../trace/wire.ts";
import type { Translate } from "../words/sentences.ts";
import type { LineMessage } from "./line_message.ts";

/** Kinds of notices that are about one line; the others are about the whole text, and are shown once. */
const LINE_NOTICE_KINDS = new Set(["import", "left_out", "magic", "hidden", "turning", "blanks"]);
const MAX_MESSAGES = 12;

/** `onRepair` is called with the repair that the reader chose. */
export function programMessages(
  trace: Trace,
  say: Translate,
  onRepair: (repair: Repair, shape?: string) => void,
): LineMessage[] {
  const repairOffers = (repairs: Repair[] = []) =>
    repairs.map((repair) => ({
      why: say(`repair_${repair.key}_why`, repair.args ?? {}),
      label: say(`repair_${repair.key}`, repair.args ?? {}),
      shape: repair.shape ?? undefined,
      shapeLabel: say("repair_shape"),
      run: (shape: string | undefined) => onRepair(repair, shape),
    }));
  const out: LineMessage[] = [];
  for (const { line, kind, args, repairs } of lineNotices(trace).slice(0, MAX_MESSAGES))
    out.push({ line: line ?? 1, kind: "notice", text: say(`notice_${kind}`, args), offers: repairOffers(repairs) });
  out.push(...replacementMessages(trace, say));
  const error = trace.outcome.error;
  for (const refusal of error?.refusals ?? [])
    out.push({
      line: refusal.line,
      kind: "error",
      text: refusalText(refusal, say),
      offers: repairOffers(refusal.repairs),
    });
  if (error && !error.refusals?.length && error.line)
    out.push({
      line: error.line,
      kind: "error",
      text: `${error.type}: ${error.message}`,
      gloss: errorGlossText(error, say),
      offers: repairOffers(error.repairs),
    });
  const reachedLimit = trace.outcome.stopped;
  if (reachedLimit?.line && !error)
    out.push({ line: reachedLimit.line, kind: "error", text: say("stopped_here"), offers: [] });
  return out;
}

/** What an exception of torch means, in a plain sentence; empty where it is not known. */
export function errorGlossText(error: { type: string; message: string }, say: Translate): string {
  const gloss = errorGloss(error);
  return gloss ? say(`gloss_${gloss.key}`, gloss.args) : "";
}

/** The sentences about the program's text as a whole. */
export function wholeProgramNoticesText(trace: Trace, say: Translate): string {
  // these stand beside what torch printed
  const comparedKinds = trace.steps.length ? ["printed", "claimed"] : ["claimed"];
  const notices = (trace.program.notices ?? []).filter(
    (n) => !LINE_NOTICE_KINDS.has(n.kind) && !comparedKinds.includes(n.kind),
  );
  const hiddenCount = lineNotices(trace).length - MAX_MESSAGES;
  const sentences = new Set(notices.map((n) => say(`notice_${n.kind}`, n.args)));
  if (hiddenCount > 0) sentences.add(say("notice_more", { n: hiddenCount }));
  if (trace.focus?.counts) sentences.add(say("second_run"));
  return [...sentences].join(" ");
}

/** The notices that are about one line. */
function lineNotices(trace: Trace): Notice[] {
  return (trace.program.notices ?? []).filter((n) => LINE_NOTICE_KINDS.has(n.kind));
}

/** What was done otherwise than a line asks, once for each line. */
function replacementMessages(trace: Trace, say: Translate): LineMessage[] {
  const messagesByText = new Map<string, LineMessage>();
  for (const { line, log } of trace.steps)
    for (const entry of log)
      if (entry.kind === "event" && entry.event === "replaced") {
        const text = say(`replaced_${entry.what}`, { count: entry.count });
        messagesByText.set(`${line} ${text}`, { line, kind: "notice", text, offers: [] });
      }
  return [...messagesByText.values()].slice(0, MAX_MESSAGES);
}

/** Why a thing is refused, in the reader's language. */
function refusalText({ key, args, message }: Refusal, say: Translate): string {
  const why = say(`why_${key}`, args);
  if (why === `why_${key}`) return message;
  if (!args?.what) return why;
  const module = /^import of (.*)$/.exec(String(args.what))?.[1];
  return say("refused_what", { what: module ? say("what_import", { module }) : args.what, why });
}

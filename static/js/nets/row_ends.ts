/** The two ends of a finding among the rows: where its cause is, and where it shows. */

import { openRowOf } from "./open_row.ts";
import { stepOfOpenRow, openCallSiteOf } from "./net_rows.ts";
import type { ChainMark } from "../findings/chain_marks.ts";
import type { NetFacts } from "./net_state.ts";
import type { CallSite } from "./net_call_sites.ts";
import type { Invocation } from "./net_calls.ts";
import type { Severity } from "../findings/finding.ts";

export interface RowEnd {
  callSite: CallSite;
  /** at which it happened */
  step: number;
  /** what happened there; may be empty */
  text: string;
  tone: Severity;
  isCause: boolean;
  /** the tensors that are spoken of */
  uids: string[];
}

/** The ends that are open at a step: those of the finding that the step is part of; the cause first. */
export function rowEndsAt(facts: NetFacts, marks: ChainMark[], i: number): RowEnd[] {
  const cause = marks.find(({ isCause }) => isCause);
  const shows = marks.findLast((mark) => mark !== cause && mark.step >= (cause?.step ?? 0));
  const isAfterAll = i > (marks.at(-1)?.step ?? i) && i <= (facts.opened.trace.outcome.error?.step ?? -1);
  if (!cause?.severity || !(isAfterAll || marks.some(({ step }) => step === i))) return [];
  const uids = marks.flatMap((mark) => mark.uids ?? []).filter((uid) => uid[0] === "t");
  const first = callSiteOfEndAt(facts, cause.step, uids) ?? statementAt(facts, cause.step);
  const touched = shows && callSiteOfEndAt(facts, shows.step, uids);
  const last = shows && (touched && touched !== first ? touched : statementAt(facts, shows.step));
  const ends: RowEnd[] = [];
  if (first) ends.push(endOf(first, cause, cause.severity, uids));
  if (shows && last && last !== first) ends.push(endOf(last, shows, cause.severity, uids));
  return ends;
}

interface RowOfWrite {
  callSite: CallSite;
  /** the tensors by which it knows the memory */
  uids: string[];
}

/** Where a step writes memory by one name, the row that used it last by another; null where none did. */
export function rowOfLastAliasUse(facts: NetFacts, i: number): RowOfWrite | null {
  const step = facts.opened.trace.steps[i];
  const own = new Set([
    openCallSiteOf(facts, i),
    ...facts.touchedAt(i).map((invocation) => facts.net.callSiteOfInvocation.get(invocation)),
  ]);
  for (const entry of step.visit ? [] : step.log) {
    if (entry.kind !== "event" || entry.event !== "written") continue;
    const found = facts.lastUseOf(entry.storage, i, facts.namedTensor(entry.by), own);
    if (found && openRowOf(facts, found.callSite, i)) return found;
  }
  return null;
}

function endOf(callSite: CallSite, { step, text = "", isCause }: ChainMark, tone: Severity, uids: string[]): RowEnd {
  return { callSite, step, text, tone, isCause, uids };
}

/** Of what runs at a step, the first row that reads a tensor that is spoken of; else the last. */
function callSiteOfEndAt(facts: NetFacts, step: number, uids: string[]): CallSite | null {
  if (stepOfOpenRow(facts, step) !== step) return null;
  const reads = (invocation: Invocation) =>
    uids.some((uid) => invocation.inputs.includes(uid) || invocation.reads.has(uid));
  const callSites = facts
    .touchedAt(step)
    .map((invocation) => (reads(invocation) ? facts.net.callSiteOfInvocation.get(invocation) : null));
  return callSites.find((callSite) => callSite && !callSite.inner.length) ?? openCallSiteOf(facts, step);
}

/** The row of the statement that runs at a step, as a backward of which a node runs. */
function statementAt(facts: NetFacts, step: number): CallSite | null {
  const { stmt } = facts.opened.trace.steps[step];
  const found = facts.net.top.find(
    ({ kind, invocations }) => kind === "line" && invocations[0].isStatement && invocations[0].stmt === stmt,
  );
  return found ?? null;
}

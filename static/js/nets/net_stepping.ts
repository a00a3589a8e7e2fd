/**
 * Which step a press leads to in the view of a net: the next one at which a row, as it is shown, has done all that it
 * does there.
 */

import { callSitesAroundStep, type NetRow } from "./net_rows.ts";
import { loopRepetitionsOf } from "./net_repetitions.ts";
import type { NetFacts } from "./net_state.ts";
import type { CallSite } from "./net_call_sites.ts";

/**
 * A row of the net, or a repetition, by its key; a step outside of the net by its number; null for code of a net that
 * no row is about.
 */
type Stop = string | number | null;

export class NetStepping {
  facts: NetFacts;
  rowOf = new Map<CallSite, NetRow>();
  /** rows that only add: they are passed together with the row before or after them */
  passed: ReadonlySet<string>;
  repetitions;
  /** repetitions that the reader is within: of these each row is a stop */
  entered: ReadonlySet<string> = new Set();

  /** `rows` are those that are shown, `passed` the keys of rows that are no stop of their own. */
  constructor(facts: NetFacts, rows: NetRow[], passed: ReadonlySet<string>) {
    this.facts = facts;
    this.passed = passed;
    this.repetitions = loopRepetitionsOf(facts);
    const add = (callSite: CallSite, row: NetRow) => {
      this.rowOf.set(callSite, row);
      if (row.kind !== "head") for (const inner of callSite.inner) add(inner, row);
    };
    for (const row of rows) for (const callSite of row.callSites) if (row.kind !== "head") add(callSite, row);
  }

  /** The step itself where there is no further one. */
  next(i: number, direction: 1 | -1): number {
    this.entered = this.repetitions.within(i);
    return direction > 0 ? this.forward(i) : this.back(i);
  }

  stopOf(step: number): Stop {
    const rows = this.facts.touchedAt(step).flatMap((invocation) => {
      const callSite = this.facts.net.callSiteOfInvocation.get(invocation);
      return (callSite && this.rowOf.get(callSite)?.key) ?? [];
    });
    const repetition = this.repetitions.at(step).find(({ key }) => !this.entered.has(key));
    if (repetition && rows.length) return `repetition ${repetition.key}`;
    if (rows.length) return rows[rows.length - 1];
    return callSitesAroundStep(this.facts, step).size ? null : step;
  }

  isPassed(stop: Stop) {
    return stop === null || (typeof stop === "string" && this.passed.has(stop));
  }

  forward(i: number): number {
    const { count } = this.facts.opened;
    let step = i + 1;
    while (step < count - 1 && this.isPassed(this.stopOf(step)) && typeof this.stopOf(step + 1) !== "number") step += 1;
    if (step >= count) return i;
    return this.endOfRun(step);
  }

  /** The last step of what a row does from a step on without another row doing something. */
  endOfRun(step: number): number {
    const stop = this.stopOf(step);
    if (typeof stop !== "string") return step;
    let end = step;
    for (let k = step + 1; k < this.facts.opened.count; k++) {
      const next = this.stopOf(k);
      if (next === stop) end = k;
      else if (next !== null) break;
    }
    return end;
  }

  back(i: number): number {
    const here = this.stopOf(i);
    let step = i - 1;
    if (typeof here === "string")
      while (step > 0 && [here, null].includes(this.stopOf(step) as string | null)) step -= 1;
    while (step > 0 && this.isPassed(this.stopOf(step))) step -= 1;
    return Math.max(0, step);
  }
}

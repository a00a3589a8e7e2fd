/**
 * What a round runs again and again, as the time steps of a loop: in how many such repetitions each step of the run is.
 */

import { isLoop, loopsAround } from "./net_rounds.ts";
import type { NetFacts } from "./net_state.ts";
import type { CallSite } from "./net_call_sites.ts";
import type { Invocation } from "./net_calls.ts";
import { weakMemoize } from "../trace/weak_memoize.ts";

interface Repetition {
  /** its name among all */
  key: string;
  /** of what is repeated, the first */
  callSite: CallSite;
  /** how often */
  count: number;
}

/** So often something runs until it is a repetition. */
const MIN_COUNT = 3;

export const loopRepetitionsOf = weakMemoize((facts: NetFacts): NetRepetitions => new NetRepetitions(facts));

class NetRepetitions {
  facts: NetFacts;
  /** by what calls them, the runs of each call site in each stretch */
  counts = new Map<Invocation | null, Map<string, number>>();
  numbers = new Map<Invocation | null, number>();
  chains = new Map<number, Repetition[]>();

  constructor(facts: NetFacts) {
    this.facts = facts;
    for (const [invocation, callSite] of facts.net.callSiteOfInvocation) {
      const counts = this.counts.get(invocation.parent) ?? new Map<string, number>();
      this.counts.set(invocation.parent, counts);
      if (!this.numbers.has(invocation.parent)) this.numbers.set(invocation.parent, this.numbers.size);
      const key = this.keyIn(invocation, callSite);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }

  keyIn(invocation: Invocation, callSite: CallSite) {
    return `${this.facts.net.stretchOfStep[invocation.begins]} ${callSite.key}`;
  }

  /** The repetitions that a step is in, the outermost first. */
  at(i: number): Repetition[] {
    let chain = this.chains.get(i);
    if (!chain) {
      chain = [];
      const invocation = this.facts.touchedAt(i).at(-1) ?? null;
      for (let outer = invocation; outer; outer = outer.parent) {
        const repetition = this.repetitionOf(outer);
        if (repetition) chain.unshift(repetition);
      }
      this.chains.set(i, chain);
    }
    return chain;
  }

  /** What runs in the same loop belongs together, and the loop's own head with it. */
  repetitionOf(invocation: Invocation): Repetition | null {
    const { net, opened } = this.facts;
    const callSite = net.callSiteOfInvocation.get(invocation);
    if (!callSite?.key) return null;
    const count = this.counts.get(invocation.parent)?.get(this.keyIn(invocation, callSite)) ?? 0;
    if (count < MIN_COUNT) return null;
    const statements = opened.trace.program.statements ?? [];
    const loop = isLoop(statements, invocation.stmt)
      ? invocation.stmt
      : loopsAround(statements, invocation.stmt).at(-1);
    const key = `${this.numbers.get(invocation.parent)} ${net.stretchOfStep[invocation.begins]} ${loop ?? callSite.key}`;
    return { key, callSite, count };
  }

  /** The repetitions that a step is within: not those of which it is the last step. */
  within(i: number): Set<string> {
    const { count } = this.facts.opened;
    let next = i + 1;
    while (next < count && !this.facts.touchedAt(next).length) next += 1;
    const goOn = new Set(next < count ? this.at(next).map(({ key }) => key) : []);
    return new Set(this.at(i).flatMap(({ key }) => (goOn.has(key) ? [key] : [])));
  }

  /** The outermost repetition whose last step is this one; at the head of its loop what ran there before it. */
  endingAt(i: number): Repetition | null {
    const within = this.within(i);
    const ending = this.at(i).find(({ key }) => !within.has(key));
    const statements = this.facts.opened.trace.program.statements ?? [];
    if (!ending || !isLoop(statements, ending.callSite.invocations[0].stmt)) return ending ?? null;
    let before = i - 1;
    while (before >= 0 && !this.facts.touchedAt(before).length) before -= 1;
    return (before >= 0 && this.at(before).find(({ key }) => key === ending.key)) || ending;
  }
}

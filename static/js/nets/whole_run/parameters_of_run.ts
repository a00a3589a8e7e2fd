/** What became of parameters in a whole run: whether they learn, and their norms round by round. */

import { cellAsNumber } from "../../findings/facts/cell_values.ts";
import { parameterStatesOf, normAsNumber, rankOfLearningState } from "../../findings/account/parameter_rounds.ts";
import { recordedRounds } from "../../trace/steps/training_rounds.ts";
import { maxSeverity, severitiesOf } from "../../findings/severities.ts";
import type { Cell } from "../../trace/entities.ts";
import type { LearningState, ParameterState } from "../../findings/account/parameter_rounds.ts";
import type { OpenTrace } from "../../trace/state.ts";
import type { Severity } from "../../findings/finding.ts";
import { weakMemoize } from "../../trace/weak_memoize.ts";

/** Norms of several parameters together. NaN: not known; null: there was none. */
export interface ParameterRunSummary {
  uids: string[];
  learning: number;
  /** whether nothing was left out of the trace; else others may have learned there */
  isWhole: boolean;
  /** the worst, and how many have it */
  worst: LearningState;
  worstCount: number;
  /** of what the verdict says of them; null where it says nothing */
  tone: Severity | null;
  /** by round of `ParameterRunSummaries.rounds` */
  gradients: (number | null)[];
  /** before the first step of an optimizer, and at the end of the run */
  start: number;
  end: number;
  /** how far each round moved them, added up */
  moved: number;
}

type Column = "grad" | "weight" | "moved";

export const parameterRunSummaries = weakMemoize(
  (opened: OpenTrace): ParameterRunSummaries => new ParameterRunSummaries(opened),
);

class ParameterRunSummaries {
  opened: OpenTrace;
  account: ReturnType<typeof parameterStatesOf>;
  moments: Map<string, ParameterState>;
  /** the rounds of which something is known: their numbers */
  rounds: number[];
  /** by the last step of a recorded round */
  roundOfStep: (step: number) => number | null;
  series = new Map<string, Record<Column, (number | null)[]>>();

  constructor(opened: OpenTrace) {
    this.opened = opened;
    this.account = parameterStatesOf(opened);
    this.moments = new Map([...this.account.rows.keys()].map((uid) => [uid, this.lastMomentOf(uid)]));
    const listed = opened.trace.rounds?.rounds.map(({ n }) => n) ?? [];
    const recorded = recordedRounds(opened.trace);
    const steps = this.account.roundSteps;
    this.roundOfStep = listed.length
      ? (step) => recorded.find(({ from, to }) => from <= step && step <= to)?.n ?? null
      : (step) => (steps.includes(step) ? steps.indexOf(step) : null);
    const seen = steps.flatMap((step) => this.roundOfStep(step) ?? []);
    this.rounds = [...new Set([...listed, ...seen])].sort((a, b) => a - b);
  }

  /** What came of a parameter until the run ended, or it was freed. */
  lastMomentOf(uid: string): ParameterState {
    const { account, opened } = this;
    const last = Math.min(opened.index.lifetimes.get(uid)?.death ?? Infinity, opened.count - 1);
    const moment = account.parameterStateAt(uid, account.holdersByParameterAt(last), last);
    const isTold = moment.rounds.length > 0 || account.table.isWhole;
    return moment.learns === "not_yet" && isTold ? { ...moment, learns: moment.row.fate } : moment;
  }

  /** Whether every round of the training has a place among `rounds`. */
  get isComplete(): boolean {
    return this.rounds.length >= (this.opened.trace.rounds?.count ?? this.rounds.length);
  }

  /** The norms of parameters together; null where there are none of the run's. */
  of(uids: string[]): ParameterRunSummary | null {
    const moments = uids.flatMap((uid) => this.moments.get(uid) ?? []);
    if (!moments.length) return null;
    const own = moments.map(({ uid }) => uid);
    const worst = moments.reduce((a, b) => (rankOfLearningState(b.learns) < rankOfLearningState(a.learns) ? b : a));
    const { ofTensor } = severitiesOf(this.opened);
    return {
      uids: own,
      learning: moments.filter(({ learns }) => learns === "updated").length,
      isWhole: this.account.table.isWhole,
      worst: worst.learns,
      worstCount: moments.filter(({ learns }) => learns === worst.learns).length,
      tone: maxSeverity(moments.filter(({ learns }) => learns !== "updated").map(({ uid }) => ofTensor.get(uid))),
      gradients: this.together(own, "grad"),
      start: normOfAll(own.map((uid) => this.startOf(uid))) ?? Number.NaN,
      end: normOfAll(own.map((uid) => this.endOf(uid))) ?? Number.NaN,
      moved: this.movedInAll(own),
    };
  }

  /** By round, the norm of parameters together. Those told together are known if all are asked for. */
  together(uids: string[], column: Column): (number | null)[] {
    const { joint } = this.account.norms;
    const alone = uids.filter((uid) => !joint.has(uid)).map((uid) => this.seriesOf(uid)[column]);
    const places = new Map(uids.flatMap((uid) => (joint.has(uid) ? [[joint.get(uid)?.place ?? 0, uid]] : [])));
    const grouped = [...places.keys()].map((place) => {
      const members = this.opened.trace.rounds?.rows[place as number]?.tensors ?? [];
      const isWhole = members.every((uid) => uids.includes(uid)) && this.account.isJointWhole(members[0]);
      if (isWhole) return this.rounds.map((n) => this.recordedNorm(place as number, column, n));
      return this.combinedNorms(members.filter((uid) => uids.includes(uid)).map((uid) => this.seriesOf(uid)[column]));
    });
    return this.combinedNorms([...alone, ...grouped]);
  }

  combinedNorms(lists: (number | null)[][]): (number | null)[] {
    return this.rounds.map((_, k) => normOfAll(lists.map((values) => values[k])));
  }

  /** What the recorder computed of a row of norms in a round: NaN where it did not. */
  recordedNorm(place: number, column: Column, n: number): number {
    const value: Cell | undefined | null = this.account.norms.rounds.get(n)?.[column]?.[place];
    return value === null || value === undefined ? Number.NaN : cellAsNumber(value);
  }

  /** By round, of one parameter: what a recorded round shows, else what the recorder computed. */
  seriesOf(uid: string): Record<Column, (number | null)[]> {
    const cached = this.series.get(uid);
    if (cached) return cached;
    const place = this.account.norms.places.get(uid);
    const ofColumn = (column: Column): (number | null)[] =>
      this.rounds.map((n) => (place === undefined ? Number.NaN : this.recordedNorm(place, column, n)));
    const series = { grad: ofColumn("grad"), weight: ofColumn("weight"), moved: ofColumn("moved") };
    const stepsOfRound = new Map<number, number>();
    const rounds = this.account.roundsOf(uid);
    for (const { step } of rounds) {
      const n = this.roundOfStep(step) ?? -1;
      stepsOfRound.set(n, (stepsOfRound.get(n) ?? 0) + 1);
    }
    for (const { step, gradient, weight, moved } of rounds) {
      const n = this.roundOfStep(step) ?? -1;
      const k = this.rounds.indexOf(n);
      if (k < 0 || stepsOfRound.get(n) !== 1) continue; // a round of several steps is what the recorder says of it
      if (gradient === null) series.grad[k] = null;
      else if (Number.isNaN(series.grad[k])) series.grad[k] = normAsNumber(gradient);
      if (Number.isNaN(series.weight[k])) series.weight[k] = normAsNumber(weight);
      if (Number.isNaN(series.moved[k])) series.moved[k] = moved ?? Number.NaN;
    }
    const { learns } = this.moments.get(uid) ?? {};
    if (learns === "never_learns" || learns === "frozen") {
      series.grad = series.grad.map((value) => (Number.isNaN(value) ? null : value));
      series.moved = series.moved.map((value) => (Number.isNaN(value) ? 0 : value));
    }
    this.series.set(uid, series);
    return series;
  }

  /** Before the first step of an optimizer: NaN where rounds before it were not recorded. */
  startOf(uid: string): number {
    const { birth = 0 } = this.opened.index.lifetimes.get(uid) ?? {};
    const { table } = this.account;
    const first = this.account.roundsOf(uid)[0]?.step;
    const begins =
      first === undefined ? Math.min(table.trainingBegins, this.opened.count) - 1 : table.beforeRound(first);
    const before = Math.max(birth, begins);
    const isFirst =
      first === undefined
        ? birth <= begins // else it may have been trained before it was seen, or was loaded after a training
        : !this.opened.trace.rounds?.count || (this.roundOfStep(first) ?? 0) === 0;
    return isFirst ? normAsNumber(table.normAt(uid, before)) : Number.NaN;
  }

  endOf(uid: string): number {
    const { death = this.opened.count - 1 } = this.opened.index.lifetimes.get(uid) ?? {};
    const last = this.rounds.length - 1;
    const count = this.opened.trace.rounds?.count;
    const isRecorded = !count || recordedRounds(this.opened.trace).at(-1)?.n === count - 1;
    const seen = isRecorded
      ? normAsNumber(this.account.table.normAt(uid, Math.min(death, this.opened.count - 1)))
      : NaN;
    if (!Number.isNaN(seen)) return seen;
    const told = this.isComplete ? this.seriesOf(uid).weight[last] : null;
    return told ?? Number.NaN;
  }

  movedInAll(uids: string[]): number {
    if (!this.isComplete) return Number.NaN;
    return this.together(uids, "moved").reduce((sum: number, value) => sum + (value ?? 0), 0);
  }
}

/** Of several tensors as one; null where none has one. */
function normOfAll(norms: (number | null)[]): number | null {
  const present = norms.filter((norm): norm is number => norm !== null);
  return present.length ? Math.hypot(...present) : null;
}

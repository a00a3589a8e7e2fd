/**
 * The parameters after any step: who holds each then, its norms then, and what came of it until then, round by round.
 */

import { cellAsNumber } from "../facts/cell_values.ts";
import { gradScalerByBackward } from "./scaled_losses.ts";
import { gradientLedgerOf } from "./gradient_ledger.ts";
import { optimizersOf } from "../facts/optimizers.ts";
import { stepsThatChangeGroups, stepsThatChangeParameter } from "./parameter_changes.ts";
import { RoundNorms, type JointNorm } from "./round_norms.ts";
import type { Cell } from "../../trace/entities.ts";
import { modulePathAt } from "../../trace/module_calls.ts";
import { addToList } from "../../trace/multimap.ts";
import { ParameterTable, rankOfFate, type Holder, type ParameterFate, type ParameterRow } from "./parameters.ts";
import type { OpenTrace } from "../../trace/state.ts";
import { weakMemoize } from "../../trace/weak_memoize.ts";

/**
 * What can be said until a step: not_made: there is no such parameter yet; not_yet: no round has ended that would tell.
 */
export type LearningState = ParameterFate | "not_made" | "not_yet";

interface ParameterRound {
  /** at which the optimizer's step had run */
  step: number;
  /** whether the numbers are others after it */
  changed: boolean;
  /** null where there was none, undefined where it is not known */
  gradient: Cell | null | undefined;
  weight: Cell | undefined;
  /** the norm of the difference that the step made; undefined where the trace does not list the elements */
  moved: number | undefined;
  /** the same of it together with others, where that was computed */
  joint: JointNorm | null;
}

export interface ParameterState {
  uid: string;
  /** of the whole run */
  row: ParameterRow;
  learns: LearningState;
  held_by: Holder[];
  /** null where an optimizer holds more than the trace lists: it may hold this one */
  is_held: boolean | null;
  /** null where there is none, undefined where it is not known */
  gradient: Cell | null | undefined;
  /** by how much a GradScaler has multiplied the gradient that is there; null where by nothing */
  scale: number | null;
  weight: Cell | undefined;
  /** those that ended until the step, of optimizers that held it at their end; of all where none ever did */
  rounds: ParameterRound[];
  /** of the rounds, those that changed its numbers */
  updated: number;
}

/** Fates that are of the whole run: before a round ended nobody can know. */
const TOLD_AFTER_A_ROUND = new Set<ParameterFate>([
  "never_learns",
  "never_moved",
  "in_no_optimizer",
  "not_updated",
  "unused",
  "no_gradient_seen",
  "unknown",
]);
const NEED_A_GRADIENT = new Set<ParameterFate>(["never_moved", "in_no_optimizer", "not_updated"]);

/** What after which a gradient is not known to be times a scale any more. */
const SCALE_ENDS = new Set(["reset", "unscaled", "unseen", "rewritten"]);

/** The parameters of a run, looked for once. */
export const parameterStatesOf = weakMemoize((opened: OpenTrace): ParameterStates => new ParameterStates(opened));

/** From 0, the worst. */
export function rankOfLearningState(learns: LearningState) {
  if (learns === "not_made") return 100;
  return learns === "not_yet" ? rankOfFate("unknown") + 0.5 : rankOfFate(learns);
}

class ParameterStates {
  opened: OpenTrace;
  table: ParameterTable;
  /** by parameter, in the order in which modules have them */
  rows: Map<string, ParameterRow>;
  rounds = new Map<string, ParameterRound[]>();
  norms: RoundNorms;
  /** what was told last, and after which step */
  told: { step: number; holders: Map<string, Holder[]>; moments: ParameterState[] } | null = null;
  /** by step, the places of parameters of which it may have changed what is told; made when it is first asked for */
  changed: Map<number, number[]> | null = null;
  groupSteps: number[] | null = null;
  /** what the groups held when they were last looked at, and by what they were known then */
  heldLast: { key: string; holders: Map<string, Holder[]> } | null = null;

  constructor(opened: OpenTrace) {
    this.opened = opened;
    this.norms = new RoundNorms(opened.trace);
    this.table = new ParameterTable(opened);
    this.rows = this.table.rows();
  }

  /** Every step at which a recorded round ended: an optimizer's step had run, or, in a run without, a backward. */
  get roundSteps(): number[] {
    const { facts } = this.table;
    const steps = facts.optimizers.flatMap((optimizer) => optimizer.steps);
    const ends = steps.length ? steps : facts.backwardCalls.map(({ end }) => end);
    return [...new Set(ends)].sort((a, b) => a - b);
  }

  /** All parameters after a step; of one that did not change since the last that was asked for, the same object. */
  at(step: number): ParameterState[] {
    const holders = this.holdersByParameterAt(step);
    const uids = [...this.rows.keys()];
    const { told } = this;
    const places = told && told.holders === holders ? this.changedBetween(told.step, step) : null;
    let moments = told?.moments ?? [];
    if (!places || places.size) {
      moments = [...moments];
      for (const k of places ?? uids.keys()) moments[k] = this.parameterStateAt(uids[k], holders, step);
    }
    this.told = { step, holders, moments };
    return moments;
  }

  parameterStateAt(uid: string, holders: Map<string, Holder[]>, step: number): ParameterState {
    return this.makeParameterState(uid, this.rows.get(uid) as ParameterRow, holders.get(uid) ?? [], step);
  }

  /** The places of parameters that may be others after one of two steps than after the other. */
  changedBetween(one: number, other: number): Set<number> {
    this.changed ??= this.placesByStep();
    const places = new Set<number>();
    const [from, to] = one < other ? [one, other] : [other, one];
    for (let step = from + 1; step <= to && places.size < this.rows.size; step++)
      for (const k of this.changed.get(step) ?? []) places.add(k);
    return places;
  }

  placesByStep(): Map<number, number[]> {
    const changed = new Map<number, number[]>();
    const isScaled = this.scaledLosses.size > 0;
    const last = this.opened.count - 1; // what became of a parameter in the whole run is told there
    for (const [k, uid] of [...this.rows.keys()].entries()) {
      const rounds = this.roundsOf(uid).map(({ step }) => step);
      for (const step of new Set([last, ...rounds, ...stepsThatChangeParameter(this.table.facts, uid, isScaled)]))
        addToList(changed, step, k);
    }
    return changed;
  }

  makeParameterState(uid: string, row: ParameterRow, held: Holder[], step: number): ParameterState {
    const rounds = this.roundsOf(uid).filter((round) => round.step <= step);
    const updated = rounds.filter(({ changed }) => changed).length;
    const isThere = this.opened.index.isAlive(uid, step);
    const grad = this.table.facts.gradOf(uid, step);
    return {
      uid,
      row,
      held_by: held,
      is_held: held.length > 0 || (this.table.listedInPart.size ? null : false),
      learns: isThere ? this.learnsAt(uid, row, { step, updated, rounds: rounds.length }) : "not_made",
      gradient: grad ? (this.table.normAt(grad, step) ?? undefined) : isThere ? null : undefined,
      scale: grad ? this.lossScaleAt(uid, step) : null,
      weight: this.table.normAt(uid, step) ?? undefined,
      rounds,
      updated,
    };
  }

  /** by backward, by how much its loss was multiplied */
  scaledBackwards: Map<string, { value: number }> | null = null;

  get scaledLosses() {
    this.scaledBackwards ??= gradScalerByBackward(this.table.facts);
    return this.scaledBackwards;
  }

  /** What a scaled loss multiplied a gradient by, as long as nothing divided it again. */
  lossScaleAt(uid: string, step: number): number | null {
    if (!this.scaledLosses.size) return null;
    let scale: number | null = null;
    for (const entry of gradientLedgerOf(this.table.facts, uid)?.entries ?? []) {
      if (entry.step > step) break;
      if (entry.kind === "added") scale = this.scaledLosses.get(entry.by)?.value ?? null;
      else if (SCALE_ENDS.has(entry.kind)) scale = null;
    }
    return scale;
  }

  learnsAt(
    uid: string,
    { fate }: ParameterRow,
    { step, updated, rounds }: { step: number; updated: number; rounds: number },
  ): LearningState {
    const { facts } = this.table;
    const isLast = step >= this.opened.count - 1;
    if (updated) return "updated";
    if (fate === "changed" && this.isChangedUntil(uid, step)) return "changed";
    if (!facts.history.valueAt(uid, "requires_grad", step)) return "frozen";
    if (isLast) return rounds || this.table.isWhole ? fate : "not_yet";
    if (!TOLD_AFTER_A_ROUND.has(fate) || !rounds) return "not_yet";
    return NEED_A_GRADIENT.has(fate) && !this.hadGradientUntil(uid, step) ? "not_yet" : fate;
  }

  isChangedUntil(uid: string, step: number) {
    const { facts, trainingBegins } = this.table;
    const storages = facts.history.fieldChanges(uid, "storage");
    const steps = storages.flatMap((change) => [
      change.step,
      ...facts.writesOf(change.value as string | null).map((write) => write.step),
    ]);
    return steps.some((each) => each >= trainingBegins && each <= step && this.table.changedAt(uid, each));
  }

  hadGradientUntil(uid: string, step: number) {
    const changes = this.table.facts.history.fieldChanges(uid, "grad");
    return changes.some((change) => change.value && change.step <= step);
  }

  /** The recorded rounds of a parameter, in order. */
  roundsOf(uid: string): ParameterRound[] {
    const known = this.rounds.get(uid);
    if (known) return known;
    const steps = this.stepsThatMayUpdate(uid);
    const rounds = steps.map((step): ParameterRound => {
      const { has_gradient, gradient_norm } = this.table.gradientAt(uid, step);
      const moved = this.movedAt(uid, step) ?? this.norms.normNumber(uid, "moved", step, steps);
      const computed = (kind: "grad" | "weight") => this.norms.norm(uid, kind, step, steps);
      return {
        step,
        changed: this.table.changedAt(uid, step, this.table.beforeRound(step)),
        gradient: has_gradient === false ? null : (gradient_norm ?? computed("grad")),
        weight: this.table.normAt(uid, step) ?? computed("weight"),
        moved,
        joint: this.isJointWhole(uid) ? this.norms.jointNorm(uid, step, steps) : null,
      };
    });
    this.rounds.set(uid, rounds);
    return rounds;
  }

  wholeJoints = new Map<number, boolean>();

  /**
   * Whether what is told of several parameters together has all of them in it: one optimizer steps them, and all can be
   * read.
   */
  isJointWhole(uid: string): boolean {
    const place = this.norms.joint.get(uid)?.place;
    if (place === undefined) return false;
    let isWhole = this.wholeJoints.get(place);
    if (isWhole === undefined) {
      const tensors = this.opened.trace.rounds?.rows[place]?.tensors ?? [];
      const optimizers = tensors.map((each) => (this.table.holders.get(each) ?? []).map(({ optimizer }) => optimizer));
      isWhole =
        optimizers.every((held) => held.length === 1 && held[0] === optimizers[0][0]) &&
        tensors.every((each) => this.isReadWhole(each));
      this.wholeJoints.set(place, isWhole);
    }
    return isWhole;
  }

  isReadWhole(uid: string): boolean {
    const row = this.rows.get(uid);
    const tensor = row && this.table.facts.tensor(uid, row.step);
    return (
      tensor?.device === "cpu" && tensor.layout === "strided" && /^(bfloat16|float(16|32|64))$/.test(tensor.dtype ?? "")
    );
  }

  stepsThatMayUpdate(uid: string): number[] {
    const { table } = this;
    const { birth, death } = this.opened.index.lifetimes.get(uid) ?? { birth: 0, death: 0 };
    const holders = (table.holders.get(uid) ?? []).map(({ optimizer }) => optimizer);
    const all = holders.length ? holders : [...table.listedInPart];
    const steps = table.recordedSteps(all, birth, death).map(({ step }) => step);
    if (!holders.length && !steps.length) return this.roundSteps.filter((step) => step >= birth && step <= death);
    const first = this.firstStepInOptimizer(uid);
    return holders.length ? steps.filter((step) => step >= first) : steps;
  }

  /** The step since which an optimizer has a parameter in one of its groups. */
  firstStepInOptimizer(uid: string): number {
    const { facts } = this.table;
    for (const step of this.roundSteps)
      if (
        (this.table.holders.get(uid) ?? []).some(({ optimizer }) =>
          this.parametersOfOptimizerAt(optimizer, step).has(uid),
        )
      )
        return step;
    return facts.steps.length;
  }

  held = new Map<string, Set<string>>();

  parametersOfOptimizerAt(optimizer: string, step: number): Set<string> {
    const key = `${optimizer} ${step}`;
    let held = this.held.get(key);
    if (!held) {
      held = new Set(this.table.facts.groupsOf(optimizer, step).flatMap(({ parameters }) => parameters));
      this.held.set(key, held);
    }
    return held;
  }

  /** How far a statement moved a parameter: the norm of the difference. */
  movedAt(uid: string, step: number): number | undefined {
    const { facts } = this.table;
    const begins = this.table.beforeRound(step);
    const [before, after] = [begins, step].map((each) => facts.numbersOf(uid, each));
    if (before && after && before.length === after.length)
      return Math.sqrt(after.reduce((sum, element, k) => sum + (element - before[k]) ** 2, 0));
    return this.table.changedAt(uid, step, begins) ? undefined : 0;
  }

  /** By parameter, the groups that hold it after a step; the same map as long as they do. */
  holdersByParameterAt(step: number): Map<string, Holder[]> {
    const optimizers = [...optimizersOf(this.table.facts).keys()];
    const names = new Map(optimizers.map((uid) => [uid, modulePathAt(this.opened, uid, step)]));
    this.groupSteps ??= stepsThatChangeGroups(this.table.facts);
    const key = JSON.stringify([this.groupSteps.findLast((each) => each <= step) ?? -1, ...names.values()]);
    if (this.heldLast?.key !== key) this.heldLast = { key, holders: this.readOptimizerGroups(names, step) };
    return this.heldLast.holders;
  }

  readOptimizerGroups(names: Map<string, string | null>, step: number): Map<string, Holder[]> {
    const { facts } = this.table;
    const holders = new Map<string, Holder[]>();
    for (const [uid, name] of names) {
      const object = facts.object(uid, step);
      if (!object) continue;
      const type = object.type ?? "";
      facts.groupsOf(uid, step).forEach(({ parameters, lr }, group) => {
        const holder = { optimizer: name ?? type, type, group, lr: this.table.learningRate(lr, step) };
        for (const parameter of parameters) addToList(holders, parameter, holder);
      });
    }
    return holders;
  }
}

/** A norm as a number: NaN where it is not known or there is none. */
export function normAsNumber(norm: Cell | null | undefined): number {
  return norm === null || norm === undefined ? Number.NaN : cellAsNumber(norm);
}

/**
 * The parameters of a run as a table: who holds each, whether gradients came and it was updated, and what that amounts
 * to.
 */

import { findEntity, type Cell, type Entity, type EntityLookup } from "../../trace/entities.ts";
import { moduleCallsOf, modulePathAt } from "../../trace/module_calls.ts";
import { stepBeforeStatement } from "../../trace/steps/backward_statement.ts";
import { referencedUid } from "../../trace/names.ts";
import { numel, unqualifiedDtype } from "../../trace/reads.ts";
import { cellAsNumber, cellsReadBy } from "../facts/cell_values.ts";
import { gradientLedgerOf } from "./gradient_ledger.ts";
import { optimizersOf, optimizerWith } from "../facts/optimizers.ts";
import { runCoverage } from "./run_coverage.ts";
import { RunFacts } from "../facts/run_facts.ts";
import { isOptimizerStep } from "../facts/write_origins.ts";
import type { OpenTrace } from "../../trace/state.ts";

/**
 * What became of a parameter, the worst first:
 * never_learns: an optimizer holds it, and no backward of the complete run gave it a gradient;
 * never_moved: it had a gradient, no optimizer holds it, and nothing changed it in the complete run;
 * in_no_optimizer: the same, as far as was recorded;
 * not_updated: an optimizer holds it, a gradient came, and no step changed its numbers;
 * unused: no optimizer holds it, and no gradient came, as far as was recorded;
 * no_gradient_seen: an optimizer holds it, and no gradient came, as far as was recorded;
 * unknown: the trace does not tell which optimizer holds it, or whether a step that was not recorded changed it;
 * changed: no optimizer changed its numbers, and the program did since the first backward;
 * updated: a step of an optimizer changed its numbers;
 * frozen: it requires no gradient, and nothing changed it.
 */
const PARAMETER_FATES = [
  "never_learns",
  "never_moved",
  "in_no_optimizer",
  "not_updated",
  "unused",
  "no_gradient_seen",
  "unknown",
  "changed",
  "updated",
  "frozen",
] as const;

export type ParameterFate = (typeof PARAMETER_FATES)[number];

export interface Holder {
  /** as the program reaches it; its class where no name leads to it */
  optimizer: string;
  type: string;
  /** from 0 */
  group: number;
  /** after the last recorded step of the optimizer; null where the trace does not tell */
  lr: number | null;
}

export interface ParameterRow {
  /** as the program reaches it; null where no name does */
  name: string | null;
  /** its other names, as those of tied weights */
  also: string[];
  shape: number[];
  /** of elements */
  numbers: number;
  dtype: string;
  requires_grad: boolean;
  held_by: Holder[];
  /** whether it had a `.grad` at `step`; null where that is not known */
  has_gradient: boolean | null;
  /** Euclidean norms at `step`, of the weight after it was updated; null where they are not known */
  gradient_norm: Cell | null;
  weight_norm: Cell | null;
  /** recorded steps of an optimizer that holds it, and those of them after which its numbers were others */
  steps: number;
  updated: number;
  /**
   * the step of the trace that its norms are of: the last recorded one of an optimizer, of one that holds it if any
   * does
   */
  step: number;
  fate: ParameterFate;
}

/** The worst first; of one fate in the order in which modules have them. */
export function parameterTable(opened: OpenTrace): ParameterRow[] {
  return [...new ParameterTable(opened).rows().values()].sort((a, b) => rankOfFate(a.fate) - rankOfFate(b.fate));
}

/** From 0, the worst. */
export function rankOfFate(fate: ParameterFate) {
  return PARAMETER_FATES.indexOf(fate);
}

interface OptimizerGroupAt {
  optimizer: string;
  group: number;
  lr: number | null;
}

export class ParameterTable {
  opened: OpenTrace;
  facts: RunFacts;
  isWhole: boolean;
  /** by parameter */
  holders = new Map<string, OptimizerGroupAt[]>();
  /** by optimizer, the step after which its groups are looked at */
  lookedAt = new Map<string, number>();
  /** whether all optimizers are known */
  areOptimizersKnown: boolean;
  /** optimizers that hold more than the trace lists */
  listedInPart = new Set<string>();
  /** the steps at which something is done with parameters: a module called, a backward run, an optimizer's step */
  uses: number[];
  /** of those the first of a backward or an optimizer */
  trainingBegins: number;
  /** by step, the names of parameters that modules have */
  names = new Map<number, Map<string, string[]>>();

  constructor(opened: OpenTrace) {
    this.opened = opened;
    this.facts = new RunFacts(opened);
    this.isWhole = runCoverage(this.facts).isWhole;
    const optimizers = optimizersOf(this.facts);
    const stepped = this.facts.eventsOfKind("optimizer_stepped");
    this.areOptimizersKnown = stepped.every(({ optimizer }) => optimizerWith(optimizers, optimizer ?? ""));
    for (const { uid, steps, made } of optimizers.values()) {
      const death = opened.index.lifetimes.get(uid)?.death ?? made;
      const at = Math.min(steps.at(-1) ?? opened.trace.steps.length - 1, death);
      this.lookedAt.set(uid, at);
      const groups = this.facts.groupsOf(uid, at);
      if (!groups.length || groups.some(({ complete }) => !complete)) this.listedInPart.add(uid);
      groups.forEach(({ parameters, lr }, group) => {
        for (const parameter of parameters) {
          const held = { optimizer: uid, group, lr: this.learningRate(lr, at) };
          this.holders.set(parameter, [...(this.holders.get(parameter) ?? []), held]);
        }
      });
    }
    const training = [
      ...[...optimizers.values()].flatMap(({ steps }) => steps),
      ...this.facts.backwardCalls.map(({ step }) => step),
    ];
    this.trainingBegins = Math.min(...training);
    this.uses = [...training, ...[...moduleCallsOf(opened).calls.values()].map(({ begins }) => begins)];
  }

  /**
   * What optimizers hold, and the parameters that lived while something was done with parameters: not those that a
   * module had for a moment while it was made.
   */
  parameters(): string[] {
    const { index } = this.opened;
    const uids = new Set(this.holders.keys());
    for (const { uid, kind, birth, death } of index.lifetimes.values())
      if (
        kind === "tensor" &&
        this.facts.scan.initialFields(uid)?.type?.endsWith("Parameter") &&
        (this.uses.some((step) => step >= birth && step <= death) || death >= this.facts.steps.length - 1)
      )
        uids.add(uid);
    return index.sortUidsByAppearance([...uids]);
  }

  /** By parameter, in the order in which modules have them. */
  rows(): Map<string, ParameterRow> {
    const rows = new Map(this.parameters().map((uid) => [uid, this.row(uid)]));
    return new Map(this.inOrderOfModules([...rows.keys()]).map((uid) => [uid, rows.get(uid) as ParameterRow]));
  }

  /** As torch goes through the parameters of modules: those of a module before those of the modules in it. */
  inOrderOfModules(uids: string[]): string[] {
    const ordered = new Set(
      [...this.names.keys()].sort((a, b) => a - b).flatMap((step) => [...this.moduleNamesByParameter(step).keys()]),
    );
    const wanted = new Set(uids);
    return [...[...ordered].filter((uid) => wanted.has(uid)), ...uids.filter((uid) => !ordered.has(uid))];
  }

  row(uid: string): ParameterRow {
    const { facts } = this;
    const held = this.holders.get(uid) ?? [];
    const { birth, death } = this.opened.index.lifetimes.get(uid) ?? { birth: 0, death: 0 };
    const last = Math.min(death, facts.steps.length - 1);
    const holders = held.length ? held.map(({ optimizer }) => optimizer) : [...this.listedInPart];
    const recorded = this.recordedSteps(holders, birth, last);
    const step = recorded.at(-1)?.step ?? this.lastStepOfAny(birth, last) ?? last;
    const tensor = facts.tensor(uid, step);
    const shape = tensor?.shape ?? [];
    const names = this.namesOf(uid, step);
    const updated = recorded.filter(({ step }) => this.changedAt(uid, step, this.beforeRound(step))).length;
    const requiresGrad = Boolean(facts.history.valueAt(uid, "requires_grad", last));
    return {
      name: names[0] ?? null,
      also: names.slice(1),
      shape,
      numbers: numel(shape),
      dtype: tensor?.dtype ?? "",
      requires_grad: requiresGrad,
      held_by: held.map((each) => this.holder(each)),
      ...this.gradientAt(uid, step),
      weight_norm: this.normAt(uid, step),
      steps: recorded.length,
      updated,
      step,
      fate: this.fateOf(uid, { isHeld: held.length > 0, updated, requiresGrad }),
    };
  }

  /** Those of optimizers that hold a parameter, each step of the trace once. */
  recordedSteps(holders: string[], birth: number, last: number): { step: number; at: number }[] {
    const optimizers = optimizersOf(this.facts);
    const byStep = new Map<number, { step: number; at: number }>();
    for (const optimizer of new Set(holders)) {
      const { steps = [], stepped = [] } = optimizers.get(optimizer) ?? {};
      const places = stepped.length ? stepped : steps.map((step) => ({ step, at: -1 }));
      for (const place of places)
        if (place.step >= birth && place.step <= last && place.at >= (byStep.get(place.step)?.at ?? -1))
          byStep.set(place.step, place);
    }
    return [...byStep.values()].sort((a, b) => a.step - b.step);
  }

  lastStepOfAny(birth: number, last: number): number | undefined {
    const steps = this.facts.optimizers.flatMap((optimizer) => optimizer.steps);
    const within = steps.filter((step) => step >= birth && step <= last);
    return within.length ? Math.max(...within) : undefined;
  }

  holder({ optimizer, group, lr }: OptimizerGroupAt): Holder {
    const at = this.lookedAt.get(optimizer) ?? 0;
    const type = this.facts.object(optimizer, at)?.type ?? "";
    return { optimizer: modulePathAt(this.opened, optimizer, at) ?? type, type, group, lr };
  }

  learningRate(lr: unknown, step: number): number | null {
    if (typeof lr === "number") return lr;
    const tensor = this.facts.tensor(referencedUid(lr as { ref: string }), step);
    const cells = tensor && cellsReadBy(this.facts.stateAt(step), tensor);
    const value = cells?.length === 1 ? cellAsNumber(cells[0]) : Number.NaN;
    return Number.isFinite(value) ? value : null;
  }

  /** The step before an optimizer's, which may call a closure; before another, the last one. */
  beforeRound(step: number) {
    return isOptimizerStep(this.facts, step) ? stepBeforeStatement(this.facts.steps, step) : step - 1;
  }

  /**
   * Whether a parameter's numbers are others after a step than before, as far as the trace lists them; else whether its
   * memory was written.
   */
  changedAt(uid: string, step: number, before = step - 1) {
    const { facts } = this;
    const storages = facts.history.fieldChanges(uid, "storage");
    const isWithin = (each: { step: number }) => each.step > before && each.step <= step;
    if (storages.some((change) => isWithin(change) && change.step > facts.birthStep(uid))) return true;
    const storage = facts.storageOf(uid, step);
    if (!facts.writesOf(storage).some((write) => isWithin(write) && write.changed !== 0)) return false;
    // other tensors may have parts of its memory
    const [old, now] = [before, step].map((each) => facts.numbersOf(uid, each));
    return !old || !now || old.some((element, k) => !Object.is(element, now[k]));
  }

  /** The `.grad` that a step of an optimizer left; unknown where the same statement changed it after that. */
  gradientAt(uid: string, step: number): Pick<ParameterRow, "has_gradient" | "gradient_norm"> {
    const entries = gradientLedgerOf(this.facts, uid)?.entries.filter((entry) => entry.step === step) ?? [];
    const used = entries.findLast(({ kind }) => kind === "used");
    const isChangedLater = entries.some(
      ({ kind, at }) => !["used", "read", "unseen"].includes(kind) && (!used || at > used.at),
    );
    const isOfStep = this.facts.eventsOfKind("optimizer_stepped").some((event) => event.step === step);
    if (isOfStep && isChangedLater) return { has_gradient: null, gradient_norm: null };
    const grad = this.facts.gradOf(uid, step);
    return { has_gradient: Boolean(grad), gradient_norm: grad ? this.normAt(grad, step) : null };
  }

  /** The Euclidean norm of a tensor's elements; null where the trace lists neither them nor the norm of all of them. */
  normAt(uid: string, step: number): Cell | null {
    const entities = this.facts.stateAt(step);
    const tensor = this.facts.tensor(uid, step);
    if (!tensor) return null;
    if (!numel(tensor.shape ?? [])) return 0;
    if (tensor.parts) return normOfSparse(entities, tensor.parts);
    const cells = cellsReadBy(entities, tensor);
    if (cells) return encodeNumber(Math.sqrt(cells.reduce((sum: number, cell) => sum + squareOf(cell), 0)));
    const storage = findEntity(entities, tensor.storage, "storage");
    const summary = storage?.summary?.[unqualifiedDtype(tensor.dtype ?? "")];
    const count = numel(tensor.shape ?? []);
    const isListedWhole = summary?.bins?.reduce((a, b) => a + b, 0) === count; // it counts finite ones alone
    return isListedWhole ? (summary?.norm ?? null) : null;
  }

  fateOf(
    uid: string,
    { isHeld, updated, requiresGrad }: { isHeld: boolean; updated: number; requiresGrad: boolean },
  ): ParameterFate {
    const { facts } = this;
    if (updated) return "updated";
    if (this.isChangedSince(uid, this.trainingBegins) && !isHeld && (!requiresGrad || this.areHoldersKnown))
      return "changed";
    if (!requiresGrad) return "frozen";
    const gradients = facts.history.fieldChanges(uid, "grad").filter(({ value }) => value);
    const arrivals = facts.gradientsTo(uid);
    const hasGradient = gradients.length + arrivals.length > 0;
    if (isHeld && hasGradient) return this.fateWithoutUpdates(uid);
    const hasBackward = facts.backwardCalls.some(({ api }) => api === "backward");
    if (isHeld && this.isChangedSince(uid, this.trainingBegins)) return "changed";
    if (isHeld) return this.isWhole && hasBackward ? "never_learns" : "no_gradient_seen";
    if (!this.areHoldersKnown) return "unknown";
    if (!hasGradient) return "unused";
    return this.isWhole ? "never_moved" : "in_no_optimizer";
  }

  /** Of one with a gradient that no recorded step changed: a round that was not recorded may have moved it. */
  fateWithoutUpdates(uid: string): ParameterFate {
    if (this.isWhole) return "not_updated";
    const { rows = [], rounds = [], count = 0 } = this.opened.trace.rounds ?? {};
    const place = rows.findIndex(({ tensors }) => tensors.length === 1 && tensors[0] === uid);
    const moved = rounds.map((round) => cellAsNumber(round.moved?.[place] ?? Number.NaN));
    if (moved.some((norm) => norm > 0)) return "updated";
    const isKnown = this.facts.ranToItsEnd && rounds.length === count && moved.every((norm) => norm === 0);
    return isKnown ? "not_updated" : "unknown";
  }

  get areHoldersKnown() {
    return this.areOptimizersKnown && !this.listedInPart.size;
  }

  /** Whether a parameter's numbers changed at a step or after it. */
  isChangedSince(uid: string, since: number) {
    const storages = this.facts.history.fieldChanges(uid, "storage");
    const steps = storages.flatMap(({ step, value }) => [
      step,
      ...this.facts.writesOf(value as string | null).map((write) => write.step),
    ]);
    return [...new Set(steps)].some((step) => step >= since && this.changedAt(uid, step));
  }

  /** Its names by the modules that have it, else that of a variable. */
  namesOf(uid: string, step: number): string[] {
    const variable = this.facts.nameText(uid, step);
    return this.moduleNamesByParameter(step).get(uid) ?? (variable ? [variable] : []);
  }

  moduleNamesByParameter(step: number): Map<string, string[]> {
    let names = this.names.get(step);
    if (!names) {
      names = moduleNamesByParameter(this.opened, step);
      this.names.set(step, names);
    }
    return names;
  }
}

/** By parameter, in the order in which torch goes through those of modules. */
function moduleNamesByParameter(opened: OpenTrace, step: number): Map<string, string[]> {
  const modules = new Map([...opened.state(step)].filter((entry): entry is [string, Module] => isModule(entry[1])));
  const partsOf = (uid: string) =>
    Object.entries(modules.get(uid)?.attrs ?? {}).map(([name, value]) => ({ name, ref: referencedUid(value) ?? "" }));
  const inner = new Set([...modules.keys()].flatMap((uid) => partsOf(uid).map(({ ref }) => ref)));
  const names = new Map<string, string[]>();
  const seen = new Set<string>();
  const visit = (uid: string) => {
    if (seen.has(uid)) return;
    seen.add(uid);
    const path = modulePathAt(opened, uid, step);
    const parts = partsOf(uid);
    for (const { name, ref } of parts)
      if (path && ref[0] === "t") names.set(ref, [...(names.get(ref) ?? []), `${path}.${name}`]);
    for (const { ref } of parts) if (modules.has(ref)) visit(ref);
  };
  for (const uid of modules.keys()) if (!inner.has(uid)) visit(uid);
  for (const uid of modules.keys()) visit(uid);
  return names;
}

type Module = Extract<Entity, { kind: "object" }>;

function isModule(entity: Entity): entity is Module {
  return entity.kind === "object" && typeof entity.training === "boolean";
}

/**
 * Of a sparse tensor in coordinates: values at the same indices are one element. Null where the trace does not list
 * them.
 */
function normOfSparse(entities: EntityLookup, parts: Record<string, string>): Cell | null {
  const [indices, values] = [parts.indices, parts.values].map((uid) => findEntity(entities, uid, "tensor"));
  if (!indices?.shape || !values?.shape) return null;
  const [dimensions, count] = indices.shape;
  if (!numel(values.shape)) return 0;
  const [places, cells] = [cellsReadBy(entities, indices), cellsReadBy(entities, values)];
  if (!places || !cells) return null;
  const width = numel(values.shape.slice(1));
  const sums = new Map<string, number[]>();
  for (let k = 0; k < count; k++) {
    const key = Array.from({ length: dimensions }, (_, d) => places[d * count + k]).join();
    const sum = sums.get(key) ?? Array<number>(width).fill(0);
    sums.set(key, sum);
    for (let j = 0; j < width; j++) sum[j] += cellAsNumber(cells[k * width + j]);
  }
  return encodeNumber(Math.sqrt([...sums.values()].flat().reduce((total, value) => total + value ** 2, 0)));
}

function squareOf(cell: Cell): number {
  const parts = cell !== null && typeof cell === "object" && "$c" in cell ? (cell.$c as Cell[]) : [cell];
  return parts.reduce((sum: number, part) => sum + cellAsNumber(part) ** 2, 0);
}

/** As the trace writes numbers that JSON has none for. */
function encodeNumber(value: number): Cell {
  return Number.isFinite(value) ? value : { $f: Number.isNaN(value) ? "nan" : "inf" };
}

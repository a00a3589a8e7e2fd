/**
 * A module behind the trained one that gets gradients in every round and never moves: no optimizer holds its
 * parameters.
 */

import { diagnosis, fixHint, gradNameOf, nameTextOfFact } from "../diagnosis.ts";
import type { Diagnosis, Fact, Facts, RunFacts } from "../diagnosis.ts";
import { gradientLedgers } from "../account/gradient_ledger.ts";
import { misdirectedOptimizers } from "./optimizer_misses.ts";
import { modulePath, modulesAround, outermostModuleWithout } from "./training_facts.ts";
import { groupBy } from "../../trace/multimap.ts";
import type { Step } from "../../trace/wire.ts";

export const FINDINGS = [
  diagnosis({
    kind: "not_in_optimizer",
    severity: "warning",
    lookedFor: "optimizers",
    of: (facts) => groupBy(missingParameters(facts), ({ optimizer, module }) => `${optimizer.uid} ${module}`),
    say: (facts, missing) => {
      const [{ optimizer, module }] = missing;
      const parameters = missing.map(({ parameter }) => parameter);
      return diagnosisOf(facts, optimizer, module, parameters);
    },
  }),
];

/** a parameter with gradients that nothing uses; added: the step of its first */
interface UnoptimizedParameter {
  uid: string;
  owner: string;
  backwards: Set<string>;
  added: number;
  /** of the sentence */
  variant?: string;
  /** the step that writes it from the parameters of another */
  written?: number;
}

interface SteppingOptimizer {
  uid: string;
  made: number;
  /** the last */
  step: number;
  params: string[];
  /** backwards of which its steps used gradients */
  used: Set<string>;
}

const MIN_ROUNDS = 2;
const MAX_COMPARED_PARAMETERS = 8;

/** Parameters that an optimizer should have, each with the outermost module that has none of the optimizer's. */
function missingParameters(facts: RunFacts) {
  const optimizers = steppingOptimizers(facts);
  if (!optimizers.length || misdirectedOptimizers(facts).length) return [];
  const replacing = new Set(facts.attributeChanges.flatMap(({ before, after }) => (before && after ? [after] : [])));
  return unoptimizedParameters(facts).flatMap((parameter) => {
    if (replacing.has(parameter.owner) || replacing.has(parameter.uid)) return []; // see `parameter_detached`
    const trained = optimizers.filter(
      ({ made, used }) =>
        made < parameter.added && [...parameter.backwards].filter((uid) => used.has(uid)).length >= MIN_ROUNDS,
    );
    const twice = trained.find((each) => isMadeTwice(each, optimizers));
    const optimizer = twice ?? trained[0];
    if (!optimizer) return [];
    const variant = twice ? "twice" : (parameter.variant ?? variantOf(facts, parameter, optimizer));
    const module = outermostModuleWithout(facts, parameter.uid, optimizer.params);
    return variant === null ? [] : [{ optimizer, module, parameter: { ...parameter, variant } }];
  });
}

/**
 * Whether an optimizer was given what an earlier one holds, all of it and nothing else: one of the two was meant for
 * another module.
 */
function isMadeTwice({ uid, made, params }: SteppingOptimizer, optimizers: SteppingOptimizer[]) {
  const own = [...params].sort().join();
  return optimizers.some((other) => other.uid !== uid && other.made < made && [...other.params].sort().join() === own);
}

/**
 * Why a parameter should be in an optimizer: it came to require grad after the optimizer was made; it stands behind
 * what the optimizer trains (no variant); it stands before it, in another module, which may be meant. Null where it is.
 */
function variantOf(facts: RunFacts, parameter: UnoptimizedParameter, { made, params }: SteppingOptimizer) {
  const { uid } = parameter;
  const unfrozen = facts.history
    .fieldChanges(uid, "requires_grad")
    .find(({ step, value }) => value && step > made && step > facts.birthStep(uid));
  if (unfrozen) return "unfrozen";
  if (isDownstreamOf(facts, uid, parameter.added, params)) return undefined;
  const roots = new Set(params.map((param) => modulesAround(facts, param).at(-1)));
  if (roots.has(modulesAround(facts, uid).at(-1)) || params.some((param) => !facts.index.moduleOfTensor.has(param)))
    return null;
  const before = [uid];
  const isBefore = params
    .slice(0, MAX_COMPARED_PARAMETERS)
    .some((param) => isDownstreamOf(facts, param, parameter.added, before));
  return isBefore ? "before" : null;
}

function steppingOptimizers(facts: RunFacts): SteppingOptimizer[] {
  const ledgers = new Map(gradientLedgers(facts).map(({ uid, entries }) => [uid, entries]));
  return facts.optimizers.flatMap(({ uid, made, stepped }) => {
    const step = stepped.at(-1)?.step;
    if (step === undefined) return [];
    const params = facts.parametersOf(uid, step);
    const used = new Set<string>();
    for (const param of params) {
      let added: string[] = [];
      for (const entry of ledgers.get(param) ?? []) {
        if (entry.kind === "added") added.push(entry.by);
        else if (entry.kind === "used" && entry.by === uid) for (const call of added) used.add(call);
        else if (entry.kind === "reset") added = [];
      }
    }
    return used.size && params.some((param) => facts.index.moduleOfTensor.has(param))
      ? [{ uid, made, step, params, used }]
      : [];
  });
}

/**
 * Parameters of modules in training that no optimizer ever has, that the program neither writes nor uses the gradients
 * of.
 */
function unoptimizedParameters(facts: RunFacts): UnoptimizedParameter[] {
  const held = new Set(
    facts.optimizers.flatMap(({ uid, made, stepped }) =>
      [made, ...stepped.map(({ step }) => step).slice(-1)].flatMap((step) => facts.parametersOf(uid, step)),
    ),
  );
  return gradientLedgers(facts).flatMap(({ uid, entries }) => {
    const owner = facts.index.moduleOfTensor.get(uid);
    const additions = entries.filter(({ kind }) => kind === "added");
    const [first] = additions;
    if (!owner || !first || held.has(uid) || !facts.isParameter(uid)) return [];
    if (entries.some(({ kind }) => ["used", "clipped", "rewritten", "unscaled"].includes(kind))) return [];
    const module = facts.object(owner, first.step);
    const birth = facts.birthStep(uid);
    const written = facts
      .writesOf(facts.tensor(uid, first.step)?.storage)
      .find(
        ({ step }) =>
          step > birth &&
          facts.steps[step].stmt !== facts.steps[birth].stmt &&
          !isWithinMaking(facts, uid, step, first.step),
      );
    const isAverage =
      written && written.step > first.step && !facts.steps[written.step].skipped && !readsGradient(facts, written.step);
    if (module?.training === false || (written && !isAverage)) return [];
    const backwards = new Set(additions.map(({ by }) => by));
    return [
      { uid, owner, backwards, added: first.step, ...(isAverage ? { variant: "average", written: written.step } : {}) },
    ];
  });
}

/** Whether the operations of a step take a gradient. */
function readsGradient(facts: RunFacts, step: number) {
  const gradients = facts.gradientTensors;
  return facts.opsAt(step).some(({ inputs }) => inputs.some((input) => gradients.has(input)));
}

/**
 * Whether a step is still of the making of a parameter's module: of a function that made it and ended before it got a
 * gradient, as `__init__` does.
 */
function isWithinMaking(facts: RunFacts, uid: string, step: number, gradientStep: number) {
  const { frame, depth } = facts.steps[step];
  return (
    depth > 0 && facts.steps[facts.birthStep(uid)].frame === frame && !facts.index.isAlive(frame ?? "", gradientStep)
  );
}

/**
 * Whether a parameter is applied to what a trained parameter had a part in: it stands behind the trained module, as a
 * head does. A module before the trained one may be left as it is on purpose, and so may one that other data goes
 * through as well, to compare features of both.
 */
export function isDownstreamOf(facts: RunFacts, uid: string, gradientStep: number, trained: string[]) {
  const flow = facts.dataflow;
  const added = facts.backwardAt(gradientStep)?.step ?? gradientStep;
  const fromParameter = flow.descendants(uid, added);
  const fromTrained = descendantsOfAll(facts, trained, added);
  const ofParametersAlone = (tensor: string) => isMadeOfParameters(facts, tensor);
  let isBehindTrained = false;
  for (const tensor of fromParameter)
    for (const { op } of flow.edgesOutOf.get(tensor) ?? []) {
      if (!op || op.step > added || fromTrained.has(tensor) || !ofParametersAlone(tensor)) continue;
      const data = op.inputs.filter((input) => !fromParameter.has(input) && !ofParametersAlone(input));
      if (data.some((input) => !fromTrained.has(input) && isFloating(facts, input))) return false;
      isBehindTrained ||= data.some((input) => fromTrained.has(input));
    }
  return isBehindTrained;
}

/** what several tensors led to, as it was last asked for */
const lastDescendants = new WeakMap<RunFacts, { uids: string[]; step: number; descendants: Set<string> }>();

/** Everything that was computed from any of several tensors up to a step. */
function descendantsOfAll(facts: RunFacts, uids: string[], step: number): Set<string> {
  const last = lastDescendants.get(facts);
  if (last && last.uids === uids && last.step === step) return last.descendants;
  const { edgesOutOf } = facts.dataflow;
  const descendants = new Set(uids);
  for (const uid of descendants)
    for (const edge of edgesOutOf.get(uid) ?? []) if (edge.step <= step) descendants.add(edge.to);
  lastDescendants.set(facts, { uids, step, descendants });
  return descendants;
}

function isFloating(facts: RunFacts, uid: string) {
  return /float|complex/.test(String(facts.scan.initialFields(uid)?.dtype));
}

/** Integers, such as the classes that pick rows of a parameter, do not count. */
function isMadeOfParameters(facts: RunFacts, uid: string) {
  const { edgesInto } = facts.dataflow;
  const seen = new Set([uid]);
  for (const tensor of seen) {
    if (facts.isParameter(tensor)) continue;
    const edges = edgesInto.get(tensor) ?? [];
    if (!edges.length && isFloating(facts, tensor)) return false;
    for (const { from } of edges) seen.add(from);
  }
  return true;
}

/** A module that the program moves after another one, as an average, takes part in what backward goes through. */
function averageDiagnosis(
  facts: RunFacts,
  { uid, added }: UnoptimizedParameter,
  written: number,
  names: Facts,
): Diagnosis {
  const used = facts.usesOf(uid).find(({ grad_mode }) => grad_mode)?.step ?? added;
  const move = { ...names, code: facts.statementFact(written) };
  return {
    variant: "average",
    severity: "note",
    cause: used,
    chain: [
      [used, "way", [uid]],
      [added, "gradient", [uid], names],
      [written, "written", [uid]],
    ],
    names: [names.module as Fact, names.x as Fact],
    facts: { ...move, write: facts.lineOf(written) },
  };
}

/** The first step of the function that made an optimizer at which a module is there too; its last step if none is. */
function stepWhereBothAreAlive(facts: RunFacts, { uid, made, step: last }: SteppingOptimizer, owner: string) {
  const isThere = ({ frame, kind }: Step, step: number) =>
    step >= made && frame === facts.steps[made].frame && kind === "statement" && facts.index.isAlive(owner, step);
  const step = facts.steps.findIndex(isThere);
  return step >= 0 && [uid, owner].every((each) => facts.nameText(each, step)) ? step : last;
}

/** `owner` has the parameters. */
function diagnosisOf(
  facts: RunFacts,
  optimizer: SteppingOptimizer,
  owner: string,
  parameters: UnoptimizedParameter[],
): Diagnosis {
  const [{ uid, added }] = parameters;
  const module = facts.nameFact(owner, added);
  const x = facts.nameFact(uid, added);
  const optimizerName = facts.nameFact(optimizer.uid, optimizer.step);
  const isNamed = facts.groupsOf(optimizer.uid, optimizer.step).some((group) => group.isNamed);
  const method = isNamed ? "named_parameters" : "parameters";
  const given = stepWhereBothAreAlive(facts, optimizer, owner);
  const names = {
    module,
    name: modulePath(facts.nameFact(owner, given)),
    method,
    x,
    grad: gradNameOf(x),
    optimizer: optimizerName,
    optimizer_name: nameTextOfFact(facts.nameFact(optimizer.uid, given)),
    after: facts.place(given).line,
    n: parameters.length,
    step: facts.place(optimizer.step).line,
  };
  const { variant, written } = parameters[0];
  if (written !== undefined) return averageDiagnosis(facts, parameters[0], written, names);
  return {
    variant,
    severity: variant === "before" ? "note" : "warning",
    cause: optimizer.made,
    chain: [
      [optimizer.made, "made", [optimizer.uid]],
      [added, "gradient", [uid]],
      [optimizer.step, "none", [optimizer.uid]],
    ],
    names: [module, x, optimizerName],
    facts: names,
    concerns: parameters.map((parameter) => parameter.uid),
    fixes: [
      fixHint(
        variant === "twice" ? "optimizer_of" : "optimizer_with",
        facts.place(variant === "twice" ? optimizer.made : given),
        { name: names.name, optimizer: names.optimizer_name, method },
      ),
    ],
  };
}

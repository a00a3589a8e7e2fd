/**
 * Backward came to a node that had let go of what it saved: which backward freed it, and by which tensor it was reached
 * again.
 */

import { codeFact, declareErrorDiagnosis, nameTextOfFact, phrase } from "../diagnosis.ts";
import type { BackwardCall, Diagnosis, Fix, Phrase, RunFacts } from "../diagnosis.ts";
import { referencedUid } from "../../trace/names.ts";
import { numel } from "../../trace/reads.ts";
import { shortestNodePath, ancestorsAndCuts } from "../facts/graph_walk.ts";
import { isOptimizerStep } from "../facts/write_origins.ts";
import type { Value } from "../../trace/wire.ts";

export const ERROR_FINDINGS = [declareErrorDiagnosis({ kind: "backward_twice", say: backwardTwice })];

const BACKWARD_TWICE_ERROR =
  /backward through the graph a second time|saved (?:tensors|variables|intermediate).*freed/i;

function backwardTwice(facts: RunFacts): Diagnosis | null {
  const failed = facts.failedVisit;
  if (!failed) return unseenBackwardDiagnosis(facts);
  const second = facts.backwardAt(failed.step);
  const released = stepThatFreedSavedTensors(facts, failed);
  if (!second || released === null) return null;
  const first = facts.backwardAt(released);
  if (!first || first.uid === second.uid) return null;
  const root = second.roots.find((uid) => uid && facts.tensor(uid, failed.step)?.grad_fn) ?? null;
  const start = facts.tensor(root, failed.step)?.grad_fn;
  const path = start ? shortestNodePath(facts, start, (nodeUid) => nodeUid === failed.node) : null;
  const firstOldNode = path?.find((nodeUid) => facts.birthStep(nodeUid) <= first.end) ?? failed.node;
  const isCarried = start !== firstOldNode;
  const entryNode = isCarried
    ? firstOldNode
    : (path?.find((nodeUid) => isNodeVisitedInBackward(facts, first, nodeUid)) ?? failed.node);
  const carrier = path ? namedOutputOnPath(facts, path, entryNode, [first.end]) : null;
  return diagnosisOfCase(facts, {
    failed,
    first,
    second,
    root,
    again: start === entryNode,
    carried: isCarried,
    entry: entryNode,
    carrier,
  });
}

/**
 * A backward that raised in an iteration that was not recorded: what it came to is known by what the graph still keeps.
 */
function unseenBackwardDiagnosis(facts: RunFacts): Diagnosis | null {
  const step = facts.error?.step ?? -1;
  const call = facts.backwardCalls.find((backward) => backward.step === step);
  if (!call || !BACKWARD_TWICE_ERROR.test(facts.error?.message ?? "")) return null;
  const root = call.roots.find((uid) => uid && facts.tensor(uid, step)?.grad_fn) ?? null;
  const start = facts.tensor(root, step)?.grad_fn;
  const isFreedBefore = (uid: string) => facts.birthStep(uid) < step && hasReleasedSavedTensors(facts, uid, step);
  const path = start ? shortestNodePath(facts, start, isFreedBefore) : null;
  const freedNode = path?.at(-1);
  if (!path || !freedNode) return null;
  const entryNode = path.find((uid) => facts.birthStep(uid) < step) ?? freedNode;
  const carrier = entryNode === start ? null : namedOutputOnPath(facts, path, entryNode, [step - 1]);
  if (!carrier) return null;
  const failed = { step, node: freedNode };
  return diagnosisOfCase(facts, {
    failed,
    first: null,
    second: call,
    root,
    again: false,
    carried: true,
    entry: entryNode,
    carrier,
  });
}

/** Whether a node has nothing left of what it saved. */
function hasReleasedSavedTensors(facts: RunFacts, nodeUid: string, step: number) {
  const node = facts.node(nodeUid, step);
  return Boolean(node?.released) || Object.values(node?.saved ?? {}).some(({ state }) => state === "freed");
}

/** The step before a failed visit at which its node let go of what it had saved. */
function stepThatFreedSavedTensors(facts: RunFacts, { step, node }: { step: number; node: string }): number | null {
  const event = facts
    .eventsOfKind("graph_released")
    .findLast((released) => released.node === node && released.step < step);
  if (event) return event.step;
  const slots = facts
    .slotsOfNode(node)
    .flatMap(({ released }) => (released !== null && released < step ? [released] : []));
  if (slots.length) return Math.max(...slots);
  const visited = facts.visitsOf(node).findLast((visitStep) => visitStep < step);
  return visited !== undefined && BACKWARD_TWICE_ERROR.test(facts.error?.message ?? "") ? visited : null;
}

function isNodeVisitedInBackward(facts: RunFacts, call: BackwardCall, nodeUid: string) {
  return facts.visitsOf(nodeUid).some((step) => step >= call.step && step <= call.end) ?? false;
}

/** The first output on a path of nodes that has a name at one of the steps, or when its node was made. */
function namedOutputOnPath(facts: RunFacts, path: string[], entryNode: string, steps: number[]) {
  for (const nodeUid of path.slice(path.indexOf(entryNode))) {
    const birthStep = facts.birthStep(nodeUid);
    for (const step of [...steps, birthStep]) {
      const output = facts.index.outputsOfNode(nodeUid, step).find((uid) => facts.nameText(uid, step));
      if (output) return { uid: output, made: bindingStep(facts, output, step, birthStep) };
    }
  }
  return null;
}

/** The step that took the carried tensor into the first of two backwards, where an optimizer stepped between them
 * that has nothing of what lies behind that tensor: there it should have been detached, as what a discriminator is
 * shown. */
function missingDetachStep(
  facts: RunFacts,
  { first, second, carrier }: { first: BackwardCall; second: BackwardCall; carrier: { uid: string; made: number } },
): number | null {
  if (first.stmt === second.stmt) return null;
  const optimizersBetween = facts.optimizers.filter(({ steps }) =>
    steps.some((step) => step > first.end && step < second.step),
  );
  const tensorsBehind = new Set(ancestorsAndCuts(facts, carrier.uid, first.step).tensors);
  const optimizerHolds = optimizersBetween.some(({ uid }) =>
    facts.parametersOf(uid, first.step).some((param) => tensorsBehind.has(param)),
  );
  if (!optimizersBetween.length || optimizerHolds) return null;
  const taking = facts
    .usesOf(carrier.uid)
    .find(({ step, grad_mode: recorded }) => recorded && step > carrier.made && step <= first.step);
  return taking ? outermostCallerStep(facts, taking.step) : null;
}

/** The statement that called the function in which a step lies, as far out as the module. */
function outermostCallerStep(facts: RunFacts, step: number) {
  if (!facts.steps[step].depth) return step;
  const returned = facts.steps.findIndex(({ depth, kind }, i) => i > step && !depth && kind === "statement");
  return returned < 0 ? step : returned;
}

/** What a path begins with: `states` of `states[0]`. */
function firstNameOfPath(path: string) {
  return /^[\p{L}_][\p{L}\p{N}_]*/u.exec(path)?.[0] ?? path;
}

/** The step at which the name began to mean a tensor by which it is called at a step; where that is not known, the
 * step that made it. A call that hands a tensor over as an argument names what was there before. */
function bindingStep(facts: RunFacts, uid: string, step: number, birth: number) {
  const name = facts.nameText(uid, step) ?? "";
  const root = firstNameOfPath(name);
  const own = facts
    .bindingsOf(uid)
    .filter((binding) => binding.step >= birth && binding.step <= step && facts.steps[binding.step].kind !== "call");
  const assigned = own.findLast((binding) => binding.name === name) ?? own[0];
  if (assigned) return assigned.step;
  const bindings = [...facts.scan.meaningsByName].flatMap(([key, list]) => (key.endsWith(`/${root}`) ? list : []));
  const steps = bindings.flatMap((binding) => (binding.step >= birth && binding.step <= step ? [binding.step] : []));
  return steps.length ? Math.max(...steps) : birth;
}

/** Whether a backward could still start from a tensor if another one, on the way, were detached. */
function wouldRequireGradWithout(facts: RunFacts, root: string | null, detached: string, step: number) {
  const start = facts.tensor(root, step)?.grad_fn;
  const end = facts.tensor(detached, step)?.grad_fn ?? facts.tensor(detached, step - 1)?.grad_fn;
  if (!start || !end) return true;
  const seen = new Set([start]);
  for (const node of seen) {
    if (node === end) continue;
    if (facts.index.nodes.get(node)?.variable) return true;
    for (const edge of facts.index.nodes.get(node)?.next ?? []) if (edge) seen.add(edge[0]);
  }
  return false;
}

/** Where the backward stands that needs a tensor anew: in a function or a loop that the tensor was made outside of. */
function placeOfUse(facts: RunFacts, made: number, backward: number): Phrase {
  const frameUid = facts.steps[backward].frame;
  const frame = facts.frame(frameUid, backward);
  if (frame?.name && frame.caller && facts.steps[made].frame !== frameUid)
    return phrase("finding.backward_twice.in_function", { function: codeFact(frame.name) });
  const { statements } = facts.trace.program;
  const loop = statements?.[statements[facts.steps[backward].stmt ?? -1]?.loop ?? -1];
  const isMadeOutside = loop && statements?.[facts.steps[made].stmt ?? -1]?.loop !== statements.indexOf(loop);
  if (isMadeOutside) return phrase("finding.backward_twice.in_loop", { loop: loop.line });
  return phrase("finding.backward_twice.before_line", { error_line: facts.lineOf(backward) });
}

interface BackwardTwiceCase {
  failed: { step: number; node: string };
  /** null where no step was recorded of it */
  first: BackwardCall | null;
  second: BackwardCall;
  root: string | null;
  again: boolean;
  carried: boolean;
  entry: string;
  carrier: { uid: string; made: number } | null;
}

function diagnosisOfCase(
  facts: RunFacts,
  { failed, first, second, root, again: isSameStart, carried: isCarried, entry: entryNode, carrier }: BackwardTwiceCase,
): Diagnosis {
  const { step } = failed;
  const isAgain = !isCarried && (first?.roots.includes(root) || isSameStart);
  const useStep = first && isCarried && carrier ? missingDetachStep(facts, { first, second, carrier }) : null;
  const list = first && isCarried && carrier ? listThatGrew(facts, carrier.uid, first, step) : null;
  const carried = list
    ? "kept"
    : carrier && !wouldRequireGradWithout(facts, root, carrier.uid, step)
      ? "computed_once"
      : "carried";
  const variant = useStep ? "walked_in" : isCarried ? carried : isAgain ? "again" : "shared";
  const x = carrier ? facts.nameFact(carrier.uid, carrier.made) : facts.nameFact(root, step);
  const birthStep = carrier?.made ?? facts.birthStep(entryNode);
  const findingFacts = {
    x,
    y: facts.nameFact(root, step),
    first_line: first ? facts.lineOf(first.step) : "",
    made_line: facts.lineOf(birthStep),
    error_line: facts.place(step).line,
    code: facts.statementFact(step),
    list: list ? codeFact(list) : "",
    where: carrier ? placeOfUse(facts, carrier.made, second.step) : "",
  };
  const returned = variant === "carried" && carrier ? returnedResultStep(facts, carrier.uid, birthStep) : null;
  const optimizerStep = first
    ? facts.steps.findIndex((_, i) => i > first.end && i < step && isOptimizerStep(facts, i))
    : -1;
  return {
    variant,
    cause: useStep ?? (isCarried ? birthStep : variant === "shared" && first ? first.step : step),
    chain: [
      returned !== null && [returned, "way", [carrier?.uid]],
      variant !== "again" && [birthStep, "made", [carrier?.uid, entryNode]],
      useStep !== null && [useStep, "way", [carrier?.uid]],
      first && [first.step, "released", first.roots],
      [step, "checked", [failed.node]],
    ],
    names: [x, findingFacts.y],
    facts: findingFacts,
    fixes: backwardTwiceFixes(facts, variant, {
      first,
      use: useStep,
      step,
      made: birthStep,
      stepped: optimizerStep,
      name: list ?? pathWithoutIndex(nameTextOfFact(x)),
    }),
  };
}

/**
 * The list in which a number that an earlier backward walked stands before those that came since: a round adds its own
 * to it, and none empties it.
 */
function listThatGrew(facts: RunFacts, uid: string, first: BackwardCall, step: number): string | null {
  if (numel(facts.tensor(uid, first.end)?.shape ?? []) !== 1) return null;
  for (const { uid: list, step: at, fields } of facts.index.objectChanges) {
    if (at <= first.end || at > step || !(fields.items || fields.splice)) continue;
    const items = [first.end, step].map((each) => tensorsInList(facts, list, each));
    const isKept = items[0].includes(uid) && items[0].every((item, k) => items[1][k] === item);
    if (isKept && items[1].length > items[0].length) return facts.nameText(list, step);
  }
  return null;
}

/** The tensors of a list after a step; none for anything else. */
function tensorsInList(facts: RunFacts, uid: string, step: number): string[] {
  const list = facts.object(uid, step);
  return list?.type === "list" ? (list.items ?? []).flatMap((item) => referencedUid(item as Value) ?? []) : [];
}

/** The step that made a tensor in a function which returned it, where a later step gave it its name. */
function returnedResultStep(facts: RunFacts, uid: string, namedStep: number) {
  const made = facts.birthStep(uid);
  return made >= 0 && made < namedStep && facts.steps[made].kind === "return" ? made : null;
}

/** What a statement would assign to: `net.state` for `net.state[0]`. */
function pathWithoutIndex(name: string) {
  return name.replace(/(\[[^\]]*\])+$/, "") || firstNameOfPath(name);
}

/** The leaf that a name meant before it was given what is carried along: an update that was written as a new tensor. */
function wasNameOfLeaf(facts: RunFacts, name: string, birth: number) {
  const frameUid = facts.steps[birth].frame;
  const [first] = facts.meaningsOf(frameUid, name);
  const tensor = first && first.step < birth ? facts.tensor(first.uid, first.step) : undefined;
  return Boolean(tensor?.leaf && tensor.requires_grad);
}

interface FixPlaces {
  first: BackwardCall | null;
  use: number | null;
  step: number;
  made: number;
  stepped: number;
  name: string;
}

function backwardTwiceFixes(
  facts: RunFacts,
  variant: string,
  { first, use, step, made, stepped, name }: FixPlaces,
): Fix[] {
  const retain: Fix[] = first ? [["retain_graph", {}, first.step]] : [];
  if (use !== null && first) return [["detach_used", { name }, use], ...retain];
  if (variant === "kept") return [["clear_list", { name }, step]];
  if (variant === "carried" || variant === "computed_once") {
    const detach: Fix = ["detach_carried", { name, use_line: facts.place(step).line }, made];
    return wasNameOfLeaf(facts, name, made) ? [["in_place", {}, made], detach] : [detach];
  }
  if (!first) return [];
  if (variant === "again") return [...retain, ["remove_line", {}, step]];
  return stepped < 0 ? [["add_losses", { second: facts.place(step).line }, first.step], ...retain] : retain;
}

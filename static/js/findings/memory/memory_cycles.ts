/** Memory that no name leads to and that lives on: in a cycle of references, or kept by a custom function's `ctx`. */

import { asFound, codeFact, diagnosis, gradNameOf, placeAt, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { groupBy } from "../../trace/multimap.ts";
import { itemsize, numel } from "../../trace/reads.ts";
import { findEntity } from "../../trace/entities.ts";
import { referencedUid } from "../../trace/names.ts";
import { customFunctionName } from "../facts/custom_function_call.ts";
import { hookRegistrations } from "../hooks/hook_registration.ts";
import { rootName } from "../../syntax/expressions.ts";
import { nameUses } from "../../syntax/name_uses.ts";
import { assignments, mayCallMethod } from "../../syntax/statements.ts";
import type { Value } from "../../trace/wire.ts";

/** A tensor on a `ctx` after its backward counts from so many bytes on. */
const MIN_KEPT_BYTES = 2048;
const MAX_OBJECTS_VISITED = 500;

export const FINDINGS = [
  diagnosis({
    kind: "memory_held",
    severity: "note",
    of: (facts) => {
      const end = facts.lastStep();
      return mergeDiagnosesByLine(facts, [
        ...tensorsKeptByContext(facts),
        ...tensorsKeptByObjectCycles(facts, end),
        ...tensorsKeptByHooks(facts, end),
        ...leavesKeptByOwnGradient(facts, end),
      ]);
    },
    say: asFound,
  }),
];

/** Of those of one variant and line the first, with their number. */
export function mergeDiagnosesByLine(facts: RunFacts, diagnoses: Diagnosis[]): Diagnosis[] {
  return groupBy(diagnoses, ({ variant, cause }) => `${variant} ${placeAt(facts, cause).line}`).map(
    ([first, ...others]) => ({ ...first, facts: { ...first.facts, count: 1 + others.length } }),
  );
}

/** The size of what a handle reads. */
export function bytesReadByHandle(facts: RunFacts, uid: string, step: number) {
  const handle = facts.handle(uid, step);
  return numel(handle?.shape) * itemsize(handle?.dtype);
}

/** A `ctx` with its own output as an attribute, or with a tensor that outlives the backward. */
function tensorsKeptByContext(facts: RunFacts): Diagnosis[] {
  const history = facts.history;
  return facts.eventsOfKind("context_kept").flatMap((event) => {
    const { node, tensor, name, step } = event;
    const assignmentStep = attributeAssignmentStep(facts, name, 0, step);
    const isOutput = history.fieldChanges(tensor, "grad_fn").some(({ value }) => value === node);
    const visit = facts.visitsOf(node).at(-1);
    const lastBackward = visit === undefined ? undefined : facts.backwardAt(visit);
    const isOutlived =
      lastBackward && !lastBackward.keepsGraph && (facts.index.lifetimes.get(tensor)?.death ?? 0) > lastBackward.end;
    const bytes = bytesReadByHandle(facts, tensor, step);
    const isInput = facts.birthStep(tensor) < facts.birthStep(node) || history.valueAt(tensor, "leaf", step) === false;
    if (!isOutput && (isInput || !isOutlived || bytes < MIN_KEPT_BYTES)) return [];
    const x = facts.nameFact(tensor, assignmentStep);
    const findingFacts = {
      x,
      ctx: codeFact(`ctx.${name}`),
      function: customFunctionName(facts, node),
      bytes,
      code: facts.statementFact(assignmentStep),
    };
    return [
      {
        variant: isOutput ? "ctx_output" : "ctx_kept",
        cause: assignmentStep,
        chain: [
          [facts.birthStep(tensor), "made", [tensor]],
          [assignmentStep, "kept", [node, tensor], { x: findingFacts.ctx }],
          !(isOutput || !lastBackward) && [lastBackward.step, "released", [node]],
        ],
        names: [x, codeFact("ctx"), findingFacts.ctx],
        facts: findingFacts,
        fixes: [["save_for_backward", { name }]],
      },
    ];
  });
}

/** Leaves that no name leads to and that live on, since their `.grad` has a graph that leads back to them. */
function leavesKeptByOwnGradient(facts: RunFacts, end: number): Diagnosis[] {
  const calls = facts.backwardCalls.filter(({ api, createsGraph }) => api === "backward" && createsGraph);
  if (!calls.length) return [];
  const { tags } = facts.namesAt(end);
  return facts.eventsOfKind("grad_accumulated").flatMap(({ tensor, grad, step }) => {
    const call = calls.find((other) => other.step <= step && step <= other.end);
    if (!call || !facts.index.isAlive(tensor, end) || tags.has(tensor)) return [];
    if (facts.tensor(tensor, end)?.grad !== grad || !facts.tensor(grad, end)?.grad_fn) return [];
    const x = facts.nameFact(tensor, step);
    const freed = facts.bindingsOf(tensor).at(-1)?.step ?? step;
    const findingFacts = {
      x,
      grad: gradNameOf(x),
      bytes: bytesReadByHandle(facts, tensor, step),
      freed: facts.steps[freed].line,
      code: facts.statementFact(call.step),
    };
    return [
      {
        variant: "own_gradient",
        cause: call.step,
        chain: [
          [facts.birthStep(tensor), "made", [tensor]],
          [call.step, "shares", [tensor, grad]],
        ],
        facts: findingFacts,
      },
    ];
  });
}

/** Tensors that live on without a name, kept by objects that keep each other. */
function tensorsKeptByObjectCycles(facts: RunFacts, end: number): Diagnosis[] {
  return facts.attributeChanges.flatMap(({ owner, name, step, after }) => {
    const life = after?.[0] === "t" ? facts.index.lifetimes.get(after) : undefined;
    const ownerEnd = facts.index.lifetimes.get(owner)?.death ?? end;
    if (!after || !life || life.death < end || ownerEnd >= end || facts.namesAt(end).tags.has(after)) return [];
    const cycle = referenceCycleFrom(facts, owner, ownerEnd);
    if (!cycle) return [];
    const x = facts.nameFact(after, ownerEnd);
    const closingChange = facts.attributeChanges.findLast(
      (change) =>
        change.step <= ownerEnd && change.after && cycle.includes(change.owner) && cycle.includes(change.after),
    );
    const assignmentStep = closingChange?.step ?? step;
    const y = closingChange ? codeFact(closingChange.name) : codeFact(name);
    const cause = facts.place(attributeAssignmentStep(facts, y.code, assignmentStep - 20, assignmentStep));
    return [
      {
        variant: "cycle",
        cause,
        chain: [
          [life.birth, "made", [after]],
          [cause, "shares", [owner]],
          [ownerEnd + 1, "kept", [after]],
        ],
        facts: {
          x,
          y,
          bytes: bytesReadByHandle(facts, after, ownerEnd),
          freed: facts.steps[ownerEnd + 1].line,
        },
      },
    ];
  });
}

/** The step of the last statement, from one to another, that assigns an attribute; the latter where there is none. */
function attributeAssignmentStep(facts: RunFacts, name: string, from: number, to: number) {
  for (let i = to; i >= Math.max(0, from); i--) {
    const tree = facts.steps[i].kind === "statement" ? facts.syntax(i) : null;
    if (tree && assignments(tree).some(({ target }) => target.kind === "Attribute" && target.value === name)) return i;
  }
  return to;
}

/** The objects on a way from an object back to itself; null where there is none. */
function referenceCycleFrom(facts: RunFacts, start: string, step: number): string[] | null {
  const entities = facts.stateAt(step);
  const cameFrom: Map<string, string | null> = new Map([[start, null]]);
  for (const uid of cameFrom.keys()) {
    if (cameFrom.size > MAX_OBJECTS_VISITED) return null;
    const object = findEntity(entities, uid, "object");
    const values = [...Object.values(object?.attrs ?? {}), ...(object?.items ?? []).flat()];
    for (const value of values) {
      const ref = referencedUid(value as Value);
      if (ref === start) {
        const cycle = [];
        for (let uidOnWay = uid as string | null; uidOnWay; uidOnWay = cameFrom.get(uidOnWay) ?? null)
          cycle.push(uidOnWay);
        return cycle;
      }
      if (ref?.[0] === "o" && !cameFrom.has(ref)) cameFrom.set(ref, uid);
    }
  }
  return null;
}

/** Tensors that live on without a name and have a hook that mentions them: the hook keeps its tensor. */
function tensorsKeptByHooks(facts: RunFacts, end: number): Diagnosis[] {
  if (!mayCallMethod(facts.trace.program, "register_hook")) return [];
  return [...facts.index.lifetimes.values()].flatMap(({ uid, kind, birth, death }) => {
    const hookChange = kind === "tensor" && death >= end ? facts.history.fieldChanges(uid, "hooks").at(-1) : undefined;
    if (!hookChange || facts.namesAt(end).tags.has(uid)) return [];
    const registrations = hookChange.value ? hookRegistrations(facts.syntax(hookChange.step), "register_hook") : [];
    const own = registrations.find(
      ({ object, hook }) => hook.kind === "Lambda" && nameUses(hook).read.has(rootName(object) ?? ""),
    );
    if (!own || !facts.steps[hookChange.step].depth) return [];
    const x = codeFact(own.object.text);
    const hookPlace = facts.place(hookChange.step);
    return [
      {
        variant: "hook",
        cause: hookPlace,
        chain: [
          [birth, "made", [uid]],
          [hookPlace, "hooked", [uid], { code: facts.statementFact(hookChange.step) }],
        ],
        facts: { x, bytes: bytesReadByHandle(facts, uid, end), code: facts.statementFact(hookChange.step) },
      },
    ];
  });
}

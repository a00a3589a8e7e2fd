/** The calls of modules in a run, and which of them the nodes of the graph were made in. */

import { findEntity, type Container, type Entity } from "./entities.ts";
import { entityHistoryOf, type EntityHistory } from "./entity_history.ts";
import { gradFnInStep } from "./grad_fn_in_step.ts";
import { referencedUid } from "./names.ts";
import type { OpenTrace } from "./state.ts";
import type { Delta, Step } from "./wire.ts";
import { weakMemoize } from "./weak_memoize.ts";

export interface ModuleCall {
  /** its number in the trace */
  call: number;
  /** of the module, null where no name led to it */
  module: string | null;
  /** as the program's names lead to it when the call begins, null where none does: `net.blocks.0` */
  path: string | null;
  /** the module's class */
  type: string;
  /** which call of this module it is, from 0 */
  turn: number;
  /** the call in which it runs */
  within: number | null;
  /** the calls that run in it, in order */
  inner: number[];
  /** the steps in which it begins and ends; ends null where the trace breaks off before */
  begins: number;
  ends: number | null;
  inputs: string[];
  outputs: string[];
  failed: boolean;
  /** the nodes that were made in it and in no inner call, in order */
  nodes: string[];
}

export interface ModuleCalls {
  /** by number, in order */
  calls: Map<number, ModuleCall>;
  /** by node, the innermost call that it was made in */
  callOfNode: Map<string, number>;
}

const ROOT_PATTERN = /^[^.[]+/;

/** The calls of modules of a run, found once. */
export const moduleCallsOf = weakMemoize((opened: OpenTrace): ModuleCalls => new ModuleCallReader(opened).read());

/**
 * A module's name at a step: by the module that has it, `net.0.body` rather than `self.body`; else one of its own
 * names.
 */
export function modulePathAt(opened: OpenTrace, module: string, i: number): string | null {
  const entities = entityHistoryOf(opened).stateAfter(i);
  const names: string[] = [];
  const seen = new Set<string>();
  for (let uid = module; !seen.has(uid); ) {
    seen.add(uid);
    const owner = opened.index.modules.get(uid)?.within ?? "";
    const object = findEntity(entities, owner, "object");
    const isModule = typeof object?.training === "boolean";
    const name = isModule && attributeNames(object).get(uid);
    if (!name) {
      const root = ownNameAt(opened, uid, i);
      return root === null ? ownNameAt(opened, module, i) : [root, ...names].join(".");
    }
    names.unshift(name);
    uid = owner;
  }
  return ownNameAt(opened, module, i);
}

/** What an object's attributes are called, by what they refer to; of several names the first. */
const attributeNames = weakMemoize((object: Container): Map<string, string> => {
  const named = Object.entries(object.attrs ?? {}).map(([name, value]) => [referencedUid(value) ?? "", name] as const);
  return new Map(named.reverse());
});

/** One of a module's names at a step: of the program's module before those of functions, `net` rather than `self`. */
function ownNameAt(opened: OpenTrace, module: string, i: number): string | null {
  const history = entityHistoryOf(opened);
  const main = history.entityAfter(mainFrameOf(opened), i);
  const variables = [...(main?.kind === "frame" ? main.vars : [])];
  const isThere = history.entityAfter(module, i) !== undefined;
  const own = variables.find(([, value]) => referencedUid(value) === module);
  if (isThere && own) return own[0];
  if (isThere && !variables.some(([, value]) => referencedUid(value)?.[0] === "o"))
    for (const frame of framesOf(opened)) {
      const entity = history.entityAfter(frame, i);
      for (const [name, value] of entity?.kind === "frame" ? entity.vars : [])
        if (referencedUid(value) === module) return name;
    }
  const { tags, paths } = opened.names(i);
  const isOfMain = (text: string) => main?.kind === "frame" && main.vars.has(text.match(ROOT_PATTERN)?.[0] ?? text);
  const outer = tags.get(module)?.find(({ kind, scope, text }) => (kind === "var" ? !scope : isOfMain(text)));
  return outer?.text ?? paths.get(module) ?? null;
}

/** All frames of a run, in order of appearance. */
const framesOf = weakMemoize((opened: OpenTrace): string[] =>
  [...opened.index.lifetimes.values()].flatMap(({ uid, kind }) => (kind === "frame" ? [uid] : [])),
);

/** An entity, or what a step said of one that it both made and freed. */
type FindFields = (uid: string) => Entity | Delta | undefined;

function nodeOf(fields: Entity | Delta | undefined): Delta | undefined {
  return fields?.kind === "node" ? (fields as Delta) : undefined;
}

/** The frame of the program's module: the first one. */
const mainFrameOf = weakMemoize((opened: OpenTrace): string => {
  for (const { set } of opened.trace.steps) {
    const uid = Object.keys(set ?? {}).find((key) => set[key].kind === "frame" && !set[key].caller);
    if (uid !== undefined) return uid;
  }
  return "";
});

class ModuleCallReader {
  opened: OpenTrace;
  entities: EntityHistory;
  calls = new Map<number, ModuleCall>();
  callOfNode = new Map<string, number>();
  /** nodes whose origin is known, also those that no module made */
  claimed = new Set<string>();
  /** by module, or by class where it has no uid */
  turns = new Map<string, number>();

  constructor(opened: OpenTrace) {
    this.opened = opened;
    this.entities = entityHistoryOf(opened);
  }

  read(): ModuleCalls {
    const { steps } = this.opened.trace;
    if (steps.some(({ log }) => log?.some((entry) => entry.kind === "event" && entry.event === "module_called")))
      steps.forEach((step, i) => {
        this.readStep(step, i);
      });
    return { calls: this.calls, callOfNode: this.callOfNode };
  }

  readStep(step: Step, i: number) {
    if (!step.log?.length) return;
    const entityOf = (uid: string) =>
      this.entities.entityAfter(uid, i) ?? step.set?.[uid] ?? this.entities.entityAfter(uid, i - 1);
    const gradFnAt = gradFnInStep(step, (uid) => nodeOf(entityOf(uid))?.next);
    for (const [place, entry] of (step.log ?? []).entries()) {
      const nodesOf = (outputs: string[]) =>
        outputs.flatMap((uid) => {
          const tensor = entityOf(uid);
          return (tensor && "grad_fn" in tensor && gradFnAt(uid, place, tensor.grad_fn as string | null)) || [];
        });
      if (entry.kind === "op") this.claimNodes(nodesOf(entry.outputs), entry.call ?? null, i, entityOf);
      else if (entry.kind !== "event") continue;
      else if (entry.event === "module_called") {
        const { call, type } = entry;
        const module = entry.module ?? null;
        const turn = this.turns.get(module ?? type) ?? 0;
        this.turns.set(module ?? type, turn + 1);
        const within = entry.within ?? null;
        if (within !== null) this.calls.get(within)?.inner.push(call);
        const path = module && modulePathAt(this.opened, module, i);
        const { inputs } = entry;
        const place = { begins: i, ends: null, outputs: [], failed: false, inner: [], nodes: [] };
        this.calls.set(call, { call, module, path, type, turn, within, inputs, ...place });
      } else if (entry.event === "module_returned") {
        const call = this.calls.get(entry.call);
        if (!call) continue;
        this.claimNodes(nodesOf(entry.outputs), entry.call, call.begins, entityOf);
        Object.assign(call, { ends: i, outputs: entry.outputs, failed: Boolean(entry.failed) });
      }
    }
  }

  /**
   * Nodes behind results that nobody has claimed yet: what made the results made them. `pending` are the nodes of the
   * results; `since` is the first step in which it can have made them.
   */
  claimNodes(pending: string[], call: number | null, since: number, entityOf: FindFields) {
    const nodes: string[] = [];
    for (let uid = pending.pop(); uid !== undefined; uid = pending.pop()) {
      const node = this.claimed.has(uid) ? undefined : nodeOf(entityOf(uid));
      if (!node || (node.born ?? 0) < since) continue;
      this.claimed.add(uid);
      if (!node.variable) nodes.push(uid);
      for (const edge of node.next ?? []) if (edge && !this.claimed.has(edge[0])) pending.push(edge[0]);
    }
    if (call === null) return;
    const owner = this.calls.get(call);
    for (const uid of nodes.reverse()) {
      this.callOfNode.set(uid, call);
      owner?.nodes.push(uid);
    }
  }
}

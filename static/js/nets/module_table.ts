/**
 * The modules that a run called, as a table: what went in and out, parameters, operations, and what each keeps for
 * backward.
 */

import { findEntity, type EntityLookup } from "../trace/entities.ts";
import { entityHistoryOf } from "../trace/entity_history.ts";
import { referencedUid } from "../trace/names.ts";
import { savedMemoryByNode, peakSavedBytes } from "../findings/account/saved_memory.ts";
import { numel } from "../trace/reads.ts";
import { moduleCallsOf, type ModuleCall, type ModuleCalls } from "../trace/module_calls.ts";
import type { OpenTrace } from "../trace/state.ts";

export interface ModuleRow {
  /** as the program reaches it; its class where no name leads to it */
  path: string;
  type: string;
  /** how many calls it runs in */
  depth: number;
  /** those that were recorded */
  calls: number;
  /** shapes of its first call; null where the trace does not tell */
  inputs: (number[] | null)[];
  outputs: (number[] | null)[];
  /**
   * numbers in parameters, those of inner modules too, each tensor once; null where the trace does not tell of the
   * module
   */
  parameters: number | null;
  /** of those, in parameters that are attributes of the module itself */
  own: number | null;
  /** of those, in parameters that are attributes of another module of the table as well */
  shared: number | null;
  /** of those of `parameters`, in tensors that require a gradient */
  trainable: number | null;
  /** torch operations of its first call, with those of inner modules */
  operations: number;
  /** bytes that it and its inner modules keep for backward at the same time, at most */
  kept: number;
}

/** Of the outermost modules, what several have once. */
export interface ModuleTotals {
  parameters: number | null;
  trainable: number | null;
  operations: number;
  kept: number;
}

interface CalledModule {
  /** the first */
  call: ModuleCall;
  calls: ModuleCall[];
  /** of the module itself, and with those of inner modules; null where the trace does not tell of the module */
  own: ParameterSizes | null;
  all: ParameterSizes | null;
}

type ParameterSizes = Map<string, { size: number; trainable: boolean }>;

/** Rows in the order of first calls, inner modules after the one that calls them. */
export function moduleTable(opened: OpenTrace): { rows: ModuleRow[]; totals: ModuleTotals } {
  const found = moduleCallsOf(opened);
  const modules = calledModules(opened, found);
  const operations = operationsByCall(opened);
  const countOperations = (calls: ModuleCall[]) =>
    calls.reduce((sum, { call }) => sum + (operations.get(call) ?? 0), 0);
  const ownerCounts = new Map<string, number>();
  for (const { own } of modules)
    for (const uid of own?.keys() ?? []) ownerCounts.set(uid, (ownerCounts.get(uid) ?? 0) + 1);
  const rows = modules.map(({ call, calls, own, all }) => {
    return {
      path: call.path ?? call.type,
      type: call.type,
      depth: depthOf(found, call),
      calls: calls.length,
      inputs: call.inputs.map((uid) => shapeOf(opened, uid, call.begins)),
      outputs: call.outputs.map((uid) => shapeOf(opened, uid, call.ends ?? call.begins)),
      parameters: sizeOf(all),
      own: sizeOf(own),
      shared: sizeOf(own, ([uid]) => (ownerCounts.get(uid) ?? 0) > 1),
      trainable: sizeOf(all, ([, { trainable }]) => trainable),
      operations: countOperations(withInnerCalls(found, call)),
      kept: keptBytes(opened, found, calls),
    };
  });
  const outermost = modules.filter(({ call }) => call.within === null);
  const parameters = outermost.every(({ all }) => all)
    ? new Map(outermost.flatMap(({ all }) => [...(all ?? [])]))
    : null;
  return {
    rows,
    totals: {
      parameters: sizeOf(parameters),
      trainable: sizeOf(parameters, ([, { trainable }]) => trainable),
      operations: countOperations(outermost.flatMap(({ call }) => withInnerCalls(found, call))),
      kept: keptBytes(
        opened,
        found,
        outermost.flatMap(({ calls }) => calls),
      ),
    },
  };
}

/** The modules, each with its first call and how many there are. */
function calledModules(opened: OpenTrace, { calls }: ModuleCalls): CalledModule[] {
  const modules = new Map<string, CalledModule>();
  for (const call of calls.values()) {
    const key = call.module ?? `${call.type} ${call.path ?? ""}`;
    const known = modules.get(key);
    if (known) known.calls.push(call);
    else {
      const entities = entityHistoryOf(opened).stateAfter(call.ends ?? call.begins);
      const [own, all] = [false, true].map((inner) => parametersOf(entities, call.module, inner));
      modules.set(key, { call, calls: [call], own, all });
    }
  }
  return [...modules.values()];
}

type SizeEntry = [uid: string, parameter: { size: number; trainable: boolean }];

/** The numbers in parameters, or in those that are wanted. */
function sizeOf(parameters: ParameterSizes | null, isWanted: (entry: SizeEntry) => boolean = () => true) {
  return parameters && [...parameters].reduce((sum, entry) => sum + (isWanted(entry) ? entry[1].size : 0), 0);
}

function depthOf({ calls }: ModuleCalls, call: ModuleCall) {
  let depth = 0;
  for (let within = call.within; within !== null; within = calls.get(within)?.within ?? null) depth += 1;
  return depth;
}

/** A call and all that run in it. */
function withInnerCalls({ calls }: ModuleCalls, call: ModuleCall): ModuleCall[] {
  const out = [call];
  for (const outer of out) out.push(...outer.inner.flatMap((number) => calls.get(number) ?? []));
  return out;
}

function operationsByCall(opened: OpenTrace): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { log } of opened.trace.steps)
    for (const entry of log ?? [])
      if (entry.kind === "op" && typeof entry.call === "number")
        counts.set(entry.call, (counts.get(entry.call) ?? 0) + 1);
  return counts;
}

/** A tensor's shape at a step, also of one that the step freed. */
function shapeOf(opened: OpenTrace, uid: string, step: number): number[] | null {
  const birth = opened.index.lifetimes.get(uid)?.birth;
  const [now, before] = [step, step - 1].map((i) => findEntity(entityHistoryOf(opened).stateAfter(i), uid, "tensor"));
  const tensor = now ?? before;
  return tensor?.shape ?? (birth === undefined ? null : (opened.trace.steps[birth].set[uid]?.shape ?? null));
}

/**
 * The parameters of a module, each once; null where the trace does not tell of the module. `inner`: those of inner
 * modules are wanted too.
 */
function parametersOf(entities: EntityLookup, module: string | null, inner: boolean): ParameterSizes | null {
  const parameters: ParameterSizes = new Map();
  if (!module || !findEntity(entities, module, "object")) return null;
  const seen = new Set([module]);
  for (const uid of seen) {
    const object = findEntity(entities, uid, "object");
    if (typeof object?.training !== "boolean") continue;
    for (const value of Object.values(object.attrs ?? {})) {
      const ref = referencedUid(value);
      const tensor = findEntity(entities, ref, "tensor");
      if (ref && tensor?.type === "Parameter")
        parameters.set(ref, { size: numel(tensor.shape ?? []), trainable: Boolean(tensor.requires_grad) });
      else if (inner && ref?.[0] === "o") seen.add(ref);
    }
  }
  return parameters;
}

/** What the nodes of calls keep for backward at the same time, at most. */
function keptBytes(opened: OpenTrace, found: ModuleCalls, calls: ModuleCall[]): number {
  const inner = new Set(calls.flatMap((call) => withInnerCalls(found, call)));
  const nodes = [...inner].flatMap((call) => call.nodes);
  return peakSavedBytes(nodes.flatMap((node) => savedMemoryByNode(opened).get(node) ?? []));
}

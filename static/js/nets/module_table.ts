/** The modules that a run called, as a table: what went in and out, parameters, operations, and what each keeps for backward. */

import { findEntity } from "../trace/entities.ts";
import { referencedUid } from "../trace/names.ts";
import { moduleCallsOf, type ModuleCall, type ModuleCalls } from "../trace/module_calls.ts";
import type { Entities, OpenTrace } from "../trace/state.ts";

export interface ModuleRow {
  /** as the program reaches it; its class where no name leads to it */
  path: string;
  type: string;
  /** how many calls it runs in */
  depth: number;
  calls: number;
  /** shapes of its first call; null where the trace does not tell */
  inputs: (number[] | null)[];
  outputs: (number[] | null)[];
  /** numbers in parameters, those of inner modules too, each tensor once; trainable: of those that require a gradient */
  parameters: number;
  trainable: number;
  /** torch operations of its first call, with those of inner modules */
  operations: number;
  /** bytes that nodes of its first call save for backward, parameters left out, each memory once */
  kept: number;
}

/** In the order of first calls, inner modules after the one that calls them. */
export function moduleTable(opened: OpenTrace): ModuleRow[] {
  const found = moduleCallsOf(opened);
  const firstCalls = new Map<string, { call: ModuleCall; count: number }>();
  for (const call of found.calls.values()) {
    const key = call.module ?? `${call.type} ${call.path ?? ""}`;
    const first = firstCalls.get(key);
    if (first) first.count += 1;
    else firstCalls.set(key, { call, count: 1 });
  }
  const operations = operationsByCall(opened);
  return [...firstCalls.values()].map(({ call, count }) => {
    const calls = withInnerCalls(found, call);
    const parameters = parametersOf(opened.state(call.begins), call.module);
    return {
      path: call.path ?? call.type,
      type: call.type,
      depth: depthOf(found, call),
      calls: count,
      inputs: call.inputs.map((uid) => shapeOf(opened, uid, call.begins)),
      outputs: call.outputs.map((uid) => shapeOf(opened, uid, call.ends ?? call.begins)),
      parameters: parameters.reduce((sum, { size }) => sum + size, 0),
      trainable: parameters.reduce((sum, { size, trainable }) => sum + (trainable ? size : 0), 0),
      operations: calls.reduce((sum, { call: number }) => sum + (operations.get(number) ?? 0), 0),
      kept: keptBytes(opened, calls),
    };
  });
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
  const tensor = findEntity(opened.state(step), uid, "tensor") ?? findEntity(opened.state(step - 1), uid, "tensor");
  return tensor?.shape ?? (birth === undefined ? null : (opened.trace.steps[birth].set[uid]?.shape ?? null));
}

/** The parameters that attributes of a module lead to, each once. */
function parametersOf(entities: Entities, module: string | null): { size: number; trainable: boolean }[] {
  const parameters = new Map<string, { size: number; trainable: boolean }>();
  const seen = new Set(module ? [module] : []);
  for (const uid of seen)
    for (const value of Object.values(findEntity(entities, uid, "object")?.attrs ?? {})) {
      const ref = referencedUid(value);
      const tensor = findEntity(entities, ref, "tensor");
      if (ref && tensor?.type === "Parameter")
        parameters.set(ref, {
          size: (tensor.shape ?? []).reduce((a, b) => a * b, 1),
          trainable: Boolean(tensor.requires_grad),
        });
      else if (ref?.[0] === "o") seen.add(ref);
    }
  return [...parameters.values()];
}

/** Bytes that the nodes of calls save, parameters left out; memory that several keep counts once. */
function keptBytes(opened: OpenTrace, calls: ModuleCall[]): number {
  const bytes = new Map<string, number>();
  for (const uid of calls.flatMap(({ nodes }) => nodes)) {
    const step = opened.index.lifetimes.get(uid)?.birth ?? -1;
    const entities = opened.state(step);
    const { set } = opened.trace.steps[step] ?? {};
    const node = findEntity(entities, uid, "node") ?? set?.[uid];
    for (const { storage } of Object.values((node && "saved" in node && node.saved) || {})) {
      if (!storage || bytes.has(storage) || isMemoryOfParameter(opened, storage, step)) continue;
      const nbytes = findEntity(entities, storage, "storage")?.nbytes ?? set?.[storage]?.nbytes;
      if (typeof nbytes === "number") bytes.set(storage, nbytes);
    }
  }
  return [...bytes.values()].reduce((a, b) => a + b, 0);
}

function isMemoryOfParameter(opened: OpenTrace, storage: string, step: number) {
  const entities = opened.state(step);
  return opened.index
    .handlesOfStorage(storage, step)
    .some((uid) => findEntity(entities, uid, "tensor")?.type === "Parameter");
}

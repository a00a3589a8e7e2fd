/** What each step touched: the entities that have to be in sight after it, and when each was last touched. */

import { iterateStates, type Entities, type OpenTrace } from "../trace/state.ts";
import { referencedUid } from "../trace/names.ts";
import type { Delta, Step, Visit } from "../trace/wire.ts";
import { weakMemoize } from "../trace/weak_memoize.ts";

export interface TouchedEntities {
  /**
   * living entities that the step made, changed, wrote or visited, and what its names now mean, and storages that it
   * freed
   */
  uids: Set<string>;
  /** those that were bound, as `frame/name` */
  names: Set<string>;
}

/** Kinds of entities that are drawn; a frame is touched by its names, a mode or a device never. */
const DRAWN_UID_PREFIXES = new Set("tascno");

/** What a step touched, by the state after it: both panes ask, and their marks. */
const touchedByState = new WeakMap<Entities, { traceStep: Step | null | undefined; result: TouchedEntities }>();

/** What a step touched; `entities` is the state after it. */
export function touchedByStep(traceStep: Step | null | undefined, entities: Entities): TouchedEntities {
  const last = touchedByState.get(entities);
  if (last && last.traceStep === traceStep) return last.result;
  const result = findTouchedEntities(traceStep, entities);
  touchedByState.set(entities, { traceStep, result });
  return result;
}

function findTouchedEntities(traceStep: Step | null | undefined, entities: Entities): TouchedEntities {
  const touchedHere: TouchedEntities = { uids: new Set(), names: new Set() };
  if (!traceStep) return touchedHere;
  for (const [uid, fields] of Object.entries(traceStep.set ?? {})) {
    if (!entities.has(uid)) continue;
    if (DRAWN_UID_PREFIXES.has(uid[0]) && Object.keys(fields).some((field) => field !== "held_by"))
      touchedHere.uids.add(uid);
    if (uid[0] === "f") addTouchedNames(touchedHere, uid, fields, entities);
  }
  for (const uid of traceStep.gone ?? []) if (uid[0] === "s") touchedHere.uids.add(uid);
  if (traceStep.visit) addVisitedNode(touchedHere, traceStep.visit, entities);
  return touchedHere;
}

function addTouchedNames(touchedHere: TouchedEntities, uid: string, fields: Delta, entities: Entities) {
  const frame = entities.get(uid);
  if (frame?.kind !== "frame") return;
  for (const name of Object.keys((fields as { vars?: Record<string, unknown> }).vars ?? {})) {
    const boundUid = referencedUid(frame.vars.get(name));
    if (!boundUid || !entities.has(boundUid)) continue;
    touchedHere.names.add(`${uid}/${name}`);
    touchedHere.uids.add(boundUid);
  }
}

/** The node that backward visits, where its gradients go, and their memory. */
function addVisitedNode(touchedHere: TouchedEntities, visit: Visit, entities: Entities) {
  const node = entities.get(visit.node);
  touchedHere.uids.add(visit.node);
  (visit.grad_inputs ?? []).forEach((grad, k) => {
    const inputUid = node?.kind === "node" ? node.next?.[k]?.[0] : undefined;
    if (grad && inputUid && entities.has(inputUid)) touchedHere.uids.add(inputUid);
  });
  for (const grad of [...(visit.grad_inputs ?? []), ...(visit.grad_outputs ?? [])])
    if (grad?.storage && entities.has(grad.storage)) touchedHere.uids.add(grad.storage);
  const leaf = visit.accumulates ? entities.get(visit.accumulates) : undefined;
  if (leaf?.kind !== "tensor" || !visit.accumulates) return;
  touchedHere.uids.add(visit.accumulates);
  if (leaf.grad && entities.has(leaf.grad)) touchedHere.uids.add(leaf.grad);
}

/** When each entity was touched, over the whole run. */
export class TouchHistory {
  /** steps in order, by uid */
  stepsByUid = new Map<string, number[]>();

  constructor(opened: OpenTrace) {
    let i = -1;
    for (const entities of iterateStates(opened.trace)) {
      i += 1;
      for (const uid of touchedByStep(opened.trace.steps[i], entities).uids) {
        const steps = this.stepsByUid.get(uid);
        if (steps) steps.push(i);
        else this.stepsByUid.set(uid, [i]);
      }
    }
  }

  /** The last step up to `i` that touched an entity; -1 where none did. */
  lastTouchStep(uid: string, i: number) {
    const steps = this.stepsByUid.get(uid) ?? [];
    let low = 0;
    let high = steps.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (steps[middle] <= i) low = middle + 1;
      else high = middle;
    }
    return low ? steps[low - 1] : -1;
  }
}

/** When each entity of a run was touched, found once. */
export const cachedTouchHistory = weakMemoize((opened: OpenTrace) => new TouchHistory(opened));

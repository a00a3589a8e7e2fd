/**
 * Which stretch of the run a step belongs to: a round of training has its own forward and backward through the same
 * net.
 */

import { findEntity } from "../trace/entities.ts";
import { entityHistoryOf } from "../trace/entity_history.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Statement, Step } from "../trace/wire.ts";
import type { InvocationTree } from "./net_calls.ts";

export interface Rounds {
  /** by step, the number of its stretch */
  stretchOfStep: number[];
  /** by stretch, the loop that it is an iteration of; null for what lies between */
  loopOfStretch: (number | null)[];
}

interface LoopContext {
  frame: string;
  stmt: number | null;
  iter: readonly number[];
  kind: Step["kind"];
}

const LOOPS = new Set(["For", "AsyncFor", "While"]);

export function isLoop(statements: Statement[], stmt: number | null): boolean {
  return LOOPS.has(statements[stmt ?? -1]?.kind ?? "");
}

/** The loops around a statement, the outermost first. */
export function loopsAround(statements: Statement[], stmt: number | null): number[] {
  const loops: number[] = [];
  for (let loop = statements[stmt ?? -1]?.loop; typeof loop === "number"; loop = statements[loop]?.loop)
    loops.unshift(loop);
  return loops;
}

/**
 * The loops that train, each with the frame that it runs in; the innermost around a backward that keeps no graph of
 * itself.
 */
export function roundsOf(opened: OpenTrace, { frames }: Pick<InvocationTree, "frames">): Rounds {
  const { steps, program } = opened.trace;
  const statements = program.statements ?? [];
  const placesOf = (step: Step): LoopContext[] => {
    const places: LoopContext[] = [
      { frame: step.frame ?? "", stmt: step.stmt ?? null, iter: step.iter ?? [], kind: step.kind },
    ];
    for (let facts = frames.get(step.frame ?? ""); facts?.site; facts = frames.get(facts.site.frame ?? ""))
      places.push({
        frame: facts.site.frame ?? "",
        stmt: facts.site.stmt ?? null,
        iter: facts.site.iter ?? [],
        kind: "call",
      });
    return places;
  };
  const iterationsOf = ({ stmt, iter, kind }: LoopContext) => {
    const loops = loopsAround(statements, stmt);
    if (kind === "head" && stmt !== null && iter.length > loops.length) loops.push(stmt);
    return loops.map((loop, k) => ({ loop, count: iter.slice(0, k + 1).join(), isKnown: k < iter.length }));
  };
  const training = new Set<number>();
  for (const step of steps) {
    if (!isTraining(opened, step)) continue;
    const innermost = placesOf(step)
      .flatMap((place) => iterationsOf(place).reverse())
      .find(({ isKnown }) => isKnown);
    if (innermost) training.add(innermost.loop);
  }
  const stretchOfStep: number[] = [];
  const loopOfStretch: (number | null)[] = [];
  let before: string | null = null;
  for (const step of steps) {
    let key = "";
    let loop: number | null = null;
    if (training.size)
      for (const place of placesOf(step)) {
        const found = iterationsOf(place).findLast((iteration) => iteration.isKnown && training.has(iteration.loop));
        if (!found) continue;
        key = `${place.frame} ${found.loop} ${found.count}`;
        loop = found.loop;
        break;
      }
    if (key !== before) loopOfStretch.push(loop);
    before = key;
    stretchOfStep.push(loopOfStretch.length - 1);
  }
  return { stretchOfStep, loopOfStretch };
}

/** Whether a step runs a node of a backward that ends a round. */
export function isTraining(opened: OpenTrace, step: Step) {
  if (!step.visit) return false;
  const history = entityHistoryOf(opened);
  const [call] = [step.i, step.i - 1].flatMap(
    (i) => findEntity(history.stateAfter(i), step.visit?.backward, "backward") ?? [],
  );
  return !call?.parent && !(call?.api === "grad" && call.create_graph);
}

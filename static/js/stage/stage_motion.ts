/**
 * When a stage's drawing is seen on its way to the next one: one step further or back, slowly enough to be followed,
 * for a reader who wants motion. What plays it is loaded at the reader's first sign.
 */

import { onFirstInteraction } from "../browser/first_interaction.ts";
import { PANE_HEADING_HEIGHT, type PaneSide, type StagePlan } from "../layout/stage_plan.ts";
import type { VNode } from "../browser/svg.ts";
import { changeOfStep, type StepChange } from "./motion/step_change.ts";
import type { StageDrawing } from "./motion/drawing.ts";

/** Whoever steps faster sees where things come to stand, and nothing on its way. */
const SLOW_STEP_MS = 180;

/** a pane in the document */
interface DrawnPane {
  marks: Element;
  drawn: VNode[] | null;
  /** how far it is scrolled, in units */
  scrolled: number;
}

/** `overlay` lies over both panes. */
export function createStageMotion(document: Document, panes: Record<PaneSide, DrawnPane>, overlay: Element) {
  const isReduced = matchMedia("(prefers-reduced-motion: reduce)");
  let player: typeof import("./motion/play.ts") | null = null;
  let endMotion: (() => void) | null = null;
  let lastStepTime = Number.NEGATIVE_INFINITY;
  const hosts = { marks: { memory: panes.memory.marks, graph: panes.graph.marks }, overlay };

  async function load() {
    if (!isReduced.matches) player ??= await import("./motion/play.ts").catch(() => null); // nothing moves
  }
  onFirstInteraction(load);

  /** What is drawn now. */
  function drawing(plan: StagePlan | null | undefined): StageDrawing | null {
    if (!plan || isReduced.matches) return null;
    const paneOf = (side: PaneSide, x: number) => {
      const [pane, { drawn: body, scrolled }] = [plan[side], panes[side]];
      return pane && body ? { body, x, y: PANE_HEADING_HEIGHT - scrolled } : null;
    };
    return { memory: paneOf("memory", 0), graph: paneOf("graph", plan.widths.memory) };
  }

  /** `change` is null where only the layout is another. */
  function playMotions(before: StageDrawing | null, plan: StagePlan | null | undefined, change: StepChange | null) {
    const after = before && drawing(plan);
    if (!after) return;
    if (!player)
      void load(); // the next step moves
    else endMotion = player.playMotion(document, hosts, player.describeMotion(before, after, change));
  }

  return {
    drawing,
    /** At once everything stands at its final place. */
    end() {
      endMotion?.();
      endMotion = null;
    },
    /** `stepBefore` is the step that was drawn, null where it was another run's. */
    playStep(before: StageDrawing | null, plan: StagePlan | null, stepBefore: number | null) {
      const isSlowStepping = performance.now() - lastStepTime > SLOW_STEP_MS;
      lastStepTime = performance.now();
      if (!plan || stepBefore === null || Math.abs(plan.i - stepBefore) !== 1 || !isSlowStepping) return;
      playMotions(before, plan, changeOfStep(plan.model.opened, stepBefore, plan.i));
    },
    /** Of what was laid out anew at the same step. */
    playLayout(before: StageDrawing | null, plan: StagePlan | null | undefined) {
      playMotions(before, plan, null);
    },
  };
}

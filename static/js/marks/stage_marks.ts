/** All marks of a step's plan: of memory and graph, each with its heading. */

import { UNBOUNDED_BAND, type HeightBand } from "../layout/view.ts";
import { graphMarks } from "./graph/graph_marks.ts";
import { STAGE_LABELS, type StageLabels } from "./labels.ts";
import { memoryMarks } from "./memory/memory_marks.ts";
import { createRenderContext, type RenderContext } from "./render_context.ts";
import type { VNode } from "../browser/svg.ts";
import type { PaneSide, StagePlan } from "../layout/stage_plan.ts";

export interface PaneMarks {
  heading: VNode[];
  body: VNode[];
}

/**
 * `windowStarts` says from where on big storages show their cells, `bands` what is drawn of each pane.
 */
export function stageMarks(
  plan: StagePlan,
  labels: Partial<StageLabels> = {},
  windowStarts: Map<string, number> = new Map(),
  bands: Record<PaneSide, HeightBand> = { memory: UNBOUNDED_BAND, graph: UNBOUNDED_BAND },
): { facts: RenderContext; memory: PaneMarks | null; graph: PaneMarks | null } {
  const { opened } = plan.model;
  const facts = createRenderContext(opened, opened.at(plan.i), { ...STAGE_LABELS, ...labels }, windowStarts);
  return {
    facts,
    memory: plan.memory && memoryMarks(facts, plan.memory, bands.memory),
    graph: plan.graph && graphMarks(facts, plan.graph, bands.graph),
  };
}

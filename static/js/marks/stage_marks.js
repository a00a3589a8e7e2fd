/** All marks of a step's plan: of memory and graph, each with its heading. */

import { WHOLE_BAND } from "../layout/view.js";
import { graphMarks } from "./graph_marks.js";
import { startNextStep } from "./mark_cache.js";
import { LABELS } from "./labels.js";
import { memoryMarks } from "./memory_marks.js";
import { stepFacts } from "./step_facts.js";

/** @typedef {import("../browser/svg.js").VNode} VNode */
/** @typedef {{heading: VNode[], body: VNode[]}} PaneMarks */

/**
 * @param {import("../layout/stage_plan.js").StagePlan} plan
 * @param {Partial<import("./labels.js").Labels>} [labels]
 * @param {Map<string, number>} [windowStarts] from where on big storages show their cells
 * @param {Record<import("../layout/stage_plan.js").Side, import("../layout/view.js").Band>} [bands] what is drawn of each pane
 * @param {import("./mark_cache.js").MarkCache | null} [markCache] of the step of this run that was drawn before with these labels
 * @returns {{facts: import("./step_facts.js").StepFacts, memory: PaneMarks | null, graph: PaneMarks | null}}
 */
export function stageMarks(
  plan,
  labels = {},
  windowStarts = new Map(),
  bands = { memory: WHOLE_BAND, graph: WHOLE_BAND },
  markCache = null,
) {
  const { opened } = plan.model;
  const facts = stepFacts(opened, opened.at(plan.i), { ...LABELS, ...labels }, windowStarts);
  const drawn = {
    facts,
    memory: plan.memory && memoryMarks(facts, plan.memory, bands.memory, markCache),
    graph: plan.graph && graphMarks(facts, plan.graph, bands.graph, markCache),
  };
  if (markCache) startNextStep(markCache);
  return drawn;
}

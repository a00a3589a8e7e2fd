/** The picture of a step as it is saved or previewed: memory and graph with their links, cropped to what they show. */

import {
  PANE_HEADING_HEIGHT,
  buildStageModel,
  planStage,
  type StageSize,
  type StageModel,
  type StageOptions,
  type StagePlan,
} from "../layout/stage_plan.ts";
import { h, type VNode } from "../browser/svg.ts";
import { pathMark } from "../browser/shapes.ts";
import { pictureExtent } from "./extent.ts";
import { STAGE_LABELS, type StageLabels } from "./labels.ts";
import { stageOverlayMarks } from "./overlay.ts";
import { stageMarks, type PaneMarks } from "./stage_marks.ts";
import type { Pane } from "../layout/pane.ts";
import type { OpenTrace } from "../trace/state.ts";
import type { Picture } from "./svg_document.ts";

export interface StepPictureOptions {
  /** w, h: the room that the picture is planned for, in units; what does not fit closes, as on the page */
  w?: number;
  h?: number;
  /** null for the largest at which everything fits */
  scale?: number | null;
  toggled?: ReadonlySet<string>;
  peeks?: Map<string, number>;
}

/** The usual room: as wide as on a desktop, and as high as shows a net. */
const DEFAULT_PICTURE_SIZE = { w: 1080, h: 1000 };
/** Narrower ones, the first in which the picture says as much is taken. */
const NARROWER_PICTURE_WIDTHS = [640, 720, 800, 900];
const PICTURE_CROP_MARGIN = 24;

export function stepPicture(
  opened: OpenTrace,
  i: number,
  labels: Partial<StageLabels>,
  options: StepPictureOptions = {},
): Picture {
  const {
    w = DEFAULT_PICTURE_SIZE.w,
    h: high = DEFAULT_PICTURE_SIZE.h,
    scale = 1,
    toggled = new Set(),
    peeks,
  } = options;
  const model = buildStageModel(opened);
  const drawAtWidth = (width: number) => {
    const plan = planPicture(model, i, { w: width, h: high }, { scale, toggled });
    return { plan, ...stageMarks(plan, labels, peeks) };
  };
  const { plan, facts, memory, graph } = drawAsNarrowAsPossible(drawAtWidth, w);
  const paneOffsets = paneScrollOffsets(plan);
  const memoryExtent = pictureExtent([...(memory?.heading ?? []), ...(memory?.body ?? [])]);
  const graphExtent = pictureExtent([...(graph?.heading ?? []), ...(graph?.body ?? [])]);
  const memoryWidth = graph
    ? Math.min(plan.widths.memory, memoryExtent.x + PICTURE_CROP_MARGIN)
    : memoryExtent.x + PICTURE_CROP_MARGIN;
  const bodyHeight = Math.max(plan.memory?.height ?? 0, plan.graph?.height ?? 0, memoryExtent.y, graphExtent.y);
  const height = PANE_HEADING_HEIGHT + Math.min(Math.max(bodyHeight, 1), plan.height) + PICTURE_CROP_MARGIN / 2;
  const cropped = { ...plan, widths: { memory: memoryWidth, graph: graphExtent.x + PICTURE_CROP_MARGIN } };
  const nothingBeyond = () => ({ above: [], below: [] });
  const panes = {
    memory: { scrolled: paneOffsets.memory, beyond: nothingBeyond },
    graph: { scrolled: paneOffsets.graph, beyond: nothingBeyond },
  };
  const overlay = stageOverlayMarks(facts, cropped, panes, null, { ...STAGE_LABELS, ...labels });
  return {
    width: memoryWidth + (graph ? graphExtent.x + PICTURE_CROP_MARGIN : 0),
    height,
    cut: bodyHeight > plan.height,
    nodes: [
      hatchPatternMark(),
      ...clippedPaneMarks("memory", memory, 0, memoryWidth, height, paneOffsets.memory),
      ...(graph
        ? clippedPaneMarks("graph", graph, memoryWidth, graphExtent.x + PICTURE_CROP_MARGIN, height, paneOffsets.graph)
        : []),
      ...(graph ? [pathMark("fence", `M${memoryWidth} 0V${height}`, "divider")] : []),
      h("g", { key: "overlay" }, overlay),
    ],
  };
}

type DrawnStep = { plan: StagePlan } & ReturnType<typeof stageMarks>;

/** As narrow as nothing is lost by it, not even height. */
function drawAsNarrowAsPossible(drawAtWidth: (w: number) => DrawnStep, w: number): DrawnStep {
  const widest = drawAtWidth(w);
  const textsOfWidest = textsInPicture(widest);
  const height = tallestPaneHeight(widest.plan);
  for (const narrower of NARROWER_PICTURE_WIDTHS) {
    if (narrower >= w) break;
    const drawn = drawAtWidth(narrower);
    if (tallestPaneHeight(drawn.plan) <= height && textsInPicture(drawn) === textsOfWidest) return drawn;
  }
  return widest;
}

function tallestPaneHeight({ memory, graph }: StagePlan) {
  return Math.max(memory?.height ?? 0, graph?.height ?? 0);
}

/** All that stands in a picture. */
function textsInPicture({ memory, graph }: DrawnStep) {
  const out = [] as string[];
  const collectTexts = ({ text, children }: VNode) => {
    if (text) out.push(text);
    children.forEach(collectTexts);
  };
  for (const pane of [memory, graph])
    for (const mark of [...(pane?.heading ?? []), ...(pane?.body ?? [])]) collectTexts(mark);
  return out.join("\n");
}

/** Everything open, one below the other, where that is no higher than the room: a picture needs no places for what
 * comes later. */
function planPicture(model: StageModel, i: number, paneSize: StageSize, options: StageOptions) {
  const openPlan = planStage(model, i, { w: paneSize.w, h: Infinity }, { ...options, compact: true });
  return PANE_HEADING_HEIGHT + tallestPaneHeight(openPlan) <= paneSize.h
    ? openPlan
    : planStage(model, i, paneSize, { ...options, compact: true });
}

/** How far each pane is scrolled so that what the step touched is in the picture. */
function paneScrollOffsets({ memory, graph, height }: StagePlan) {
  const offsetOf = (pane: Pane | null) => {
    if (!pane || pane.height <= height || !pane.focus.length) return 0;
    return Math.max(0, Math.min(pane.focus[0].y - height / 3, pane.height - height));
  };
  return { memory: offsetOf(memory), graph: offsetOf(graph) };
}

/** A pane with its heading above it. */
function clippedPaneMarks(
  name: string,
  marks: PaneMarks | null,
  x: number,
  width: number,
  height: number,
  scrollOffset: number,
) {
  const bodyHeight = height - PANE_HEADING_HEIGHT;
  const body = marks?.body ?? [];
  const key = `${name} body`;
  const className = `${name}-pane`;
  const view = {
    x,
    y: PANE_HEADING_HEIGHT,
    width,
    height: bodyHeight,
    viewBox: `0 ${Math.round(scrollOffset)} ${width} ${bodyHeight}`,
  };
  return [
    h(
      "g",
      { key: `${name} heading`, class: className, transform: x ? `translate(${Math.round(x)} 0)` : null },
      marks?.heading ?? [],
    ),
    scrollOffset
      ? h("svg", { key, class: className, ...view }, body)
      : h("g", { key, class: className, transform: `translate(${Math.round(x)} ${PANE_HEADING_HEIGHT})` }, body),
  ];
}

/** The pattern of memory that is shown as a stretch. */
function hatchPatternMark() {
  const pattern = { width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" };
  const stripe = h("rect", { class: "hatch-stripe", width: 1.6, height: 8 });
  return h("defs", { key: "hatching" }, h("pattern", { id: "hatch-memory", ...pattern }, stripe));
}

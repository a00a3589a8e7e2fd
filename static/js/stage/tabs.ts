/** The tabs of a narrow stage, which shows one pane at a time; a dot tells of what a step did in the other. */

import { findEntity } from "../trace/entities.ts";
import { shortNumberText } from "../trace/format.ts";
import { touchedByStep } from "../layout/touched.ts";
import type { PaneSide } from "../layout/stage_plan.ts";
import type { StageLabels } from "../marks/labels.ts";
import type { RenderContext } from "../marks/render_context.ts";
import type { Entities, Snapshot } from "../trace/state.ts";

const SIDES: PaneSide[] = ["memory", "graph"];
const MAX_CELLS = 4;
const MAX_NODES = 5;

export function createTabs(document: Document, labels: StageLabels, onChosen: (side: PaneSide) => void) {
  const element = document.createElement("div");
  element.className = "stage-tabs";
  element.hidden = true;
  const buttons = SIDES.map((side) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = side === "memory" ? labels.memoryTab : labels.graph;
    button.dataset.side = side;
    button.addEventListener("click", () => onChosen(side));
    return { side, button };
  });
  element.append(...buttons.map(({ button }) => button));

  return {
    element,
    /** Their height in pixels. */
    height() {
      element.hidden = false;
      return element.offsetHeight;
    },
    /** `side` is the one that is shown. */
    show(narrow: boolean, side: PaneSide, renderContext: RenderContext) {
      element.hidden = !narrow;
      if (!narrow) return;
      for (const each of buttons) {
        const isShown = each.side === side;
        const hasNews = !isShown && hasPaneChanged(each.side, renderContext.snap);
        each.button.setAttribute("aria-pressed", String(isShown));
        each.button.classList.toggle("has-news", hasNews);
        if (hasNews) each.button.setAttribute("aria-label", paneChangeText(each.side, renderContext, labels));
        else each.button.removeAttribute("aria-label");
      }
    },
  };
}

/**
 * Whether a step did something in a pane that there is to see: of a visit in the memory, only what arrived in a
 * `.grad`.
 */
function hasPaneChanged(side: PaneSide, { step, entities, fresh }: Snapshot): boolean {
  if (side === "graph") return Boolean(step?.visit) || newNonLeafNodes(fresh, entities).length > 0;
  if (step?.visit) return Boolean(step.visit.accumulates);
  const { uids, names } = touchedByStep(step, entities);
  return names.size > 0 || [...uids].some((uid) => uid[0] !== "n");
}

/** The pane that a step is about; null: it did nothing in either. */
export function paneOfStep(snapshot: Snapshot): PaneSide | null {
  return SIDES.find((side) => hasPaneChanged(side, snapshot)) ?? null;
}

/** What a step did in a pane, in one line. */
function paneChangeText(side: PaneSide, renderContext: RenderContext, labels: StageLabels) {
  return side === "memory" ? memoryChangeText(renderContext, labels) : graphChangeText(renderContext, labels);
}

function memoryChangeText({ snap, names }: RenderContext, labels: StageLabels) {
  const leafUid = snap.step?.visit?.accumulates;
  const owner = findEntity(snap.entities, leafUid ?? "", "tensor");
  const grad = findEntity(snap.entities, owner?.grad ?? "", "tensor");
  const cells = Object.values(findEntity(snap.entities, grad?.storage ?? "", "storage")?.cells ?? {})[0];
  if (leafUid && cells) {
    const shownCells = cells.slice(0, MAX_CELLS).map((value) => shortNumberText(value, 6));
    const more = cells.length > MAX_CELLS ? ", …" : "";
    return `${labels.memoryTab}: ${names.paths.get(leafUid) ?? leafUid}.grad = [${shownCells.join(", ")}${more}]`;
  }
  const newStorageCount = [...snap.fresh].filter((uid) => uid[0] === "s").length;
  const parts = [
    newStorageCount && `${newStorageCount} ${labels.newStorages}`,
    snap.written.size && `${snap.written.size} ${labels.writtenStorages}`,
    snap.freed.size && `${snap.freed.size} ${labels.freed}`,
  ].filter(Boolean);
  return `${labels.memoryTab}: ${parts.join(", ") || labels.otherNames}`;
}

function graphChangeText(renderContext: RenderContext, labels: StageLabels) {
  const { snap, nodeName } = renderContext;
  const visit = snap.step?.visit;
  if (visit) return `${labels.graph}: ${nodeName(visit.node)}`;
  const newNodes = newNonLeafNodes(snap.fresh, snap.entities);
  const shownNodes = newNodes.slice(0, MAX_NODES).map(nodeName);
  const more = newNodes.length > MAX_NODES ? `, … (${newNodes.length})` : "";
  return `${labels.graph}: + ${shownNodes.join(", ")}${more}`;
}

/** The nodes that a step made, but those of leaves. */
function newNonLeafNodes(fresh: Set<string>, entities: Entities) {
  return [...fresh].filter((uid) => uid[0] === "n" && !findEntity(entities, uid, "node")?.variable);
}

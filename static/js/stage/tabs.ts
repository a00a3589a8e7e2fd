/** The tabs of a narrow stage, which shows one pane at a time, with a line of the other's news. */

import { findEntity } from "../trace/entities.ts";
import { shortNumberText } from "../layout/format.ts";
import type { PaneSide } from "../layout/stage_plan.ts";
import type { StageLabels } from "../marks/labels.ts";
import type { StepFacts } from "../marks/step_facts.ts";

const MAX_CELLS = 4;
const MAX_NODES = 5;

export function createTabs(document: Document, labels: StageLabels, onChosen: (side: PaneSide) => void) {
  const element = document.createElement("div");
  element.className = "stage-tabs";
  element.hidden = true;
  let other: PaneSide = "graph";
  const buttons = (["memory", "graph"] as PaneSide[]).map((side) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = side === "memory" ? labels.memoryTab : labels.graph;
    button.dataset.side = side;
    button.addEventListener("click", () => onChosen(side));
    return { side, button };
  });
  const newsButton = document.createElement("button");
  newsButton.type = "button";
  newsButton.className = "stage-news";
  newsButton.addEventListener("click", () => onChosen(other));
  element.append(...buttons.map(({ button }) => button), newsButton);

  return {
    element,
    /** Their height in pixels. */
    height() {
      element.hidden = false;
      return element.offsetHeight;
    },
    /** @param side the one that is shown */
    show(narrow: boolean, side: PaneSide, stepFacts: StepFacts) {
      element.hidden = !narrow;
      if (!narrow) return;
      for (const each of buttons) each.button.setAttribute("aria-pressed", String(each.side === side));
      other = side === "memory" ? "graph" : "memory";
      newsButton.textContent = paneNews(other, stepFacts, labels);
    },
  };
}

/** What a step did in a pane, in one line. */
function paneNews(side: PaneSide, stepFacts: StepFacts, labels: StageLabels) {
  return side === "memory" ? memoryNews(stepFacts, labels) : graphNews(stepFacts, labels);
}

function memoryNews({ snap, names }: StepFacts, labels: StageLabels) {
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
  return `${labels.memoryTab}: ${parts.join(", ") || labels.nothingNew}`;
}

function graphNews({ snap, nodeName }: StepFacts, labels: StageLabels) {
  const visit = snap.step?.visit;
  if (visit) return `${labels.graph}: ${nodeName(visit.node)}`;
  const newNodes = [...snap.fresh].filter((uid) => uid[0] === "n" && !findEntity(snap.entities, uid, "node")?.variable);
  const shownNodes = newNodes.slice(0, MAX_NODES).map(nodeName);
  const more = newNodes.length > MAX_NODES ? `, … (${newNodes.length})` : "";
  return `${labels.graph}: ${newNodes.length ? `+ ${shownNodes.join(", ")}${more}` : labels.nothingNew}`;
}

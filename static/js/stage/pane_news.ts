/** What a step did in the pane that a narrow stage does not show, in one line. */

import { findEntity } from "../trace/entities.ts";
import { shortNumberText } from "../layout/format.ts";
import type { PaneSide } from "../layout/stage_plan.ts";
import type { StageLabels } from "../marks/labels.ts";
import type { StepFacts } from "../marks/step_facts.ts";

const MAX_CELLS = 4;
const MAX_NODES = 5;

export function paneNews(side: PaneSide, stepFacts: StepFacts, labels: StageLabels) {
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

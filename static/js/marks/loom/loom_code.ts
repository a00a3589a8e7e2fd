/** The loom's program: a row's code with its line, its iteration and the visits of its backward. */

import { truncateText } from "../../trace/format.ts";
import { fileAndLineOf } from "../../trace/program_files.ts";
import {
  BOLD_WIDTH_FACTOR,
  CODE_LINE_HEIGHT,
  ROW_VISIT_FOOT_HEIGHT,
  ROW_FOOT_HEIGHT,
  LOOM_HEADER_HEIGHT,
} from "../../layout/loom/loom_sizes.ts";
import { shortNodeName } from "../../layout/loom/loom_graph.ts";
import { pathThatFits } from "../../layout/loom/loom_names.ts";
import { textWidth } from "../../layout/text/metrics.ts";
import { classNames, h, type VNode } from "../../browser/svg.ts";
import { circleMark, pathMark, rectMark, textMark } from "../../browser/shapes.ts";
import { loomGradientMark, nodeNameWidth } from "./loom_node.ts";
import { visibleRows, type LoomScene } from "./loom_scene.ts";
import type { LoomPlan } from "../../layout/loom/loom_plan.ts";

const MAX_FILE_NAME_LENGTH = 32;

/** Signs of steps that go to another frame. */
const FRAME_TRANSFER_SIGNS: Record<string, string> = { call: "→", return: "←", yield: "⇠", resume: "⇢" };

export function loomCodeMarks(scene: LoomScene): VNode[] {
  const { plan } = scene;
  const rows = visibleRows(scene).map((r) => codeRowMark(scene, r));
  if (plan.stacked) return rows;
  const ground = { x: 0, y: LOOM_HEADER_HEIGHT, width: plan.code, height: plan.height - LOOM_HEADER_HEIGHT };
  return [h("rect", { key: "ground", class: "loom-ground", ...ground }), ...rows];
}

/** The code of a row, and what stands around it. */
function codeRowMark(scene: LoomScene, r: number) {
  const { plan, now: currentRow, labels } = scene;
  const box = plan.rows[r];
  const row = plan.run.rows[r];
  const x = 46 + row.inset * 10;
  const isCurrent = r === currentRow;
  const isEnd = row.kind === "end";
  const parts = codeBackgroundMarks(scene, r, x);
  if (row.skipped)
    parts.push(
      pathMark("loom-fold", `M16 ${box.foldY + 12}l3 -4l4 8l4 -8l4 8l3 -4`, "fold"),
      textMark("loom-note", 42, box.foldY + 16, labels.unseen.replace("{n}", String(row.skipped)), "unseen"),
    );
  if (isCurrent) parts.push(pathMark("loom-here", `M7 ${box.codeY + 3}l8 5l-8 5z`, "here"));
  parts.push(
    textMark(
      isEnd ? "loom-note" : "loom-line end",
      isEnd ? x : 36,
      box.codeY + 13,
      isEnd ? labels.end : String(fileAndLineOf(row.line)?.line ?? row.line),
      "line",
    ),
    ...fileNameMarks(scene, r, x),
    ...box.code.map((line, k) => textMark("loom-code", x, box.codeY + 13 + k * CODE_LINE_HEIGHT, line, `code ${k}`)),
    ...iterationAndCallMarks(scene, r, x),
    ...rowFootMarks(scene, r, x),
  );
  return h(
    "g",
    {
      key: `code ${r}`,
      class: classNames("loom-statement", isCurrent && "now", r > currentRow && "future", box.thin && "thin"),
      "data-loom-row": r,
      "data-step": row.last,
      "aria-current": isCurrent ? "step" : null,
    },
    parts,
  );
}

/**
 * What lies under the code, which begins at `x`: a band where it is the current row; on narrow screens paper of its
 * own.
 */
function codeBackgroundMarks({ plan, now: currentRow }: LoomScene, r: number, x: number) {
  const box = plan.rows[r];
  if (!plan.stacked) return r === currentRow ? [rectMark("loom-now", 0, box.y, plan.code, box.h, "band")] : [];
  const widest = Math.max(90, ...box.code.map((line) => textWidth(line, 12.5)));
  return [
    rectMark(
      classNames("loom-under", r === currentRow && "now"),
      4,
      box.codeY - 4,
      x + widest + (plan.run.rows[r].turn ? 40 : 4),
      box.codeH + 4,
      { key: "ground", rx: 4 },
    ),
  ];
}

/** Behind the code, which begins at `x`: its iteration, and whether it calls, returns, yields or goes on. */
function iterationAndCallMarks({ plan }: LoomScene, r: number, x: number) {
  const box = plan.rows[r];
  const { turn, kind } = plan.run.rows[r];
  const notes = [turn && `[${turn}]`, FRAME_TRANSFER_SIGNS[kind]].filter(Boolean).join(" ");
  if (!notes) return [];
  const maxX = (plan.stacked ? 360 : plan.code) - notes.length * 7 - 4;
  const left = Math.min(x + textWidth(box.code[0] ?? "", 12.5) + 8, maxX);
  return [textMark("loom-note", left, box.codeY + 13, notes, "turn")];
}

/** The file of a row's line, above its code, which begins at `x`, where the row before it is of another. */
function fileNameMarks({ plan }: LoomScene, r: number, x: number) {
  const [fileBefore, fileHere] = [r - 1, r].map((k) => fileAndLineOf(plan.run.rows[k]?.line ?? 0)?.name);
  if (!fileHere || fileHere === fileBefore || plan.run.rows[r].kind === "end") return [];
  return [textMark("loom-file", x, plan.rows[r].codeY + 1, truncateText(fileHere, MAX_FILE_NAME_LENGTH), "file")];
}

/** What stands under a row's code: an exception, the visits of its backward, what was freed, what there is no room
 * for. */
function rowFootMarks(scene: LoomScene, r: number, x: number) {
  const { plan, labels } = scene;
  const row = plan.run.rows[r];
  const box = plan.rows[r];
  let y = box.codeY + 12 + box.code.length * CODE_LINE_HEIGHT;
  const marks = [];
  const addNote = (key: string, text: string, className = "loom-note") => {
    const maxChars = Math.floor((codeRightEdge(plan) - x - 4) / 6);
    marks.push(textMark(className, x, y, truncateText(text, maxChars), { key, title: text }));
    y += ROW_FOOT_HEIGHT;
  };
  if (row.kind === "raise") addNote("raises", `✕ ${labels.raises}`, "loom-alarm raised");
  if (row.visits.length) {
    marks.push(...backwardVisitMarks(scene, r, x, y));
    y += ROW_FOOT_HEIGHT + ROW_VISIT_FOOT_HEIGHT;
  } else if (row.freed && row.kind !== "raise") addNote("freed", labels.passing.replace("{n}", String(row.freed)));
  if (box.hidden.length)
    addNote("hidden", `${labels.hidden.replace("{n}", String(box.hidden.length))}: ${box.hidden.join(", ")}`);
  return marks;
}

/** Where what stands with the code ends. */
function codeRightEdge(plan: LoomPlan) {
  return plan.stacked ? Math.min(plan.width, 360) : plan.code;
}

/** A node's short name, of one that accumulates whose gradient it is. */
function visitedNodeName({ plan, opened, i }: LoomScene, uid: string) {
  const node = plan.run.nodes.get(uid);
  if (!node?.variable) return shortNodeName(node?.name ?? uid);
  return `+= ${pathThatFits(opened.names(i).paths.get(node.variable) ?? "", 12)}`;
}

/** The visits of a backward: a point each, which leads to its step, and what the step visits with the gradient that
 * came. */
function backwardVisitMarks(scene: LoomScene, r: number, x: number, y: number) {
  const { plan, opened, i, now: currentRow, labels } = scene;
  const { visits } = plan.run.rows[r];
  const visitsDone = visits.filter((k) => k <= i).length;
  const text = labels.visit.replace("{k}", String(visitsDone)).replace("{n}", String(visits.length));
  const marks = [textMark("loom-visit", x, y, text, "visit")];
  const visited = r === currentRow && opened.trace.steps[i]?.visit;
  if (visited) {
    const name = truncateText(visitedNodeName(scene, visited.node), 16);
    marks.push(
      textMark("loom-label", x, y + 20, `▸ ${name}`, { key: "echo", "data-loom-visited": visited.node }),
      ...loomGradientMark(scene, i, x + 6 + nodeNameWidth(`▸ ${name}`), y + 16, true, codeRightEdge(plan) - 2),
    );
  }
  const pointsX = x + 12 + textWidth(text, 11) * BOLD_WIDTH_FACTOR;
  const pitch = Math.min(11, (codeRightEdge(plan) - pointsX - 4) / visits.length);
  if (pitch < 4) return marks;
  visits.forEach((k, n) => {
    marks.push(
      circleMark(classNames("loom-point", k === i && "now", k > i && "future"), pointsX + n * pitch, y - 4, 3.6, {
        key: `visit ${k}`,
        "data-step": k,
        target: { kind: "step", step: k },
      }),
    );
  });
  return marks;
}

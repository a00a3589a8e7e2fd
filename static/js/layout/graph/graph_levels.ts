/** How much of each node of the graph is open at a step: what matters in full, the rest slim, the coldest in folds. */

import { GRAPH_FOLD_HEIGHT } from "./graph_sizes.ts";

export type NodeDetailLevel = "full" | "slim" | "fold";

export interface CollapsibleLine {
  /** 3 for what this step is about, 2 for what it touched, 1 for what is broken, 0 for the rest. */
  rank: number;
  /** the last step that touched it */
  seen: number;
  /** full, slim: its height at these levels */
  full: number;
  slim: number;
  /** whose graph it is; folds do not span two */
  group: number;
  level: NodeDetailLevel;
}

/** What has rank 3 is open whatever the room. */
const ALWAYS_OPEN_RANK = 3;

/** Sets the level of each line, from top to bottom, so that they fit into `maxHeight`. */
export function assignDetailLevels(lines: CollapsibleLine[], maxHeight: number) {
  for (const line of lines) line.level = line.rank >= ALWAYS_OPEN_RANK ? "full" : "slim";
  const stack = new FoldableLines(lines);
  const untouched = sortLinesByImportance(lines.filter((line) => line.rank === 0)).reverse();
  const touched = lines.filter((line) => line.rank > 0 && line.rank < ALWAYS_OPEN_RANK);
  for (const line of [...untouched, ...touched]) {
    if (stack.height <= maxHeight) break;
    stack.foldLine(line);
  }
  if (stack.foldCount > 0) stack.unfoldSingleNodes(maxHeight);
  for (const line of sortLinesByImportance(lines.filter((line) => line.level === "slim"))) {
    if (stack.height + line.full - line.slim > maxHeight) continue;
    stack.height += line.full - line.slim;
    line.level = "full";
  }
}

/** What matters most first: by rank, by when it was touched, the lower one of two. */
function sortLinesByImportance<T extends CollapsibleLine>(lines: T[]) {
  const lineIndex = new Map(lines.map((line, i) => [line, i]));
  return [...lines].sort(
    (a, b) => b.rank - a.rank || b.seen - a.seen || (lineIndex.get(b) ?? 0) - (lineIndex.get(a) ?? 0),
  );
}

/** The height of lines of which some are folded; neighbours in folds are one line. */
class FoldableLines {
  lines: CollapsibleLine[];
  indexOfLine: Map<CollapsibleLine, number>;
  height: number;
  foldCount = 0;

  constructor(lines: CollapsibleLine[]) {
    this.lines = lines;
    this.indexOfLine = new Map(lines.map((line, i) => [line, i]));
    this.height = lines.reduce((sum, line) => sum + line[line.level === "full" ? "full" : "slim"], 0);
  }

  /** Whether the line beside one is folded with it. */
  isNeighbourFolded(i: number, offset: number) {
    const neighbour = this.lines[i + offset];
    return neighbour?.level === "fold" && neighbour.group === this.lines[i].group;
  }

  /** How many fold lines the neighbours of a line have less when it folds too. */
  foldLinesSaved(i: number) {
    return Number(this.isNeighbourFolded(i, -1)) + Number(this.isNeighbourFolded(i, 1)) - 1;
  }

  foldLine(line: CollapsibleLine) {
    this.height -= line.slim + this.foldLinesSaved(this.indexOfLine.get(line) ?? 0) * GRAPH_FOLD_HEIGHT;
    line.level = "fold";
    this.foldCount++;
  }

  /** A fold of one node says less than the node. */
  unfoldSingleNodes(maxHeight: number) {
    this.lines.forEach((line, i) => {
      if (line.level !== "fold" || this.isNeighbourFolded(i, -1) || this.isNeighbourFolded(i, 1)) return;
      if (this.height + line.slim - GRAPH_FOLD_HEIGHT > maxHeight) return;
      this.height += line.slim - GRAPH_FOLD_HEIGHT;
      line.level = "slim";
    });
  }
}

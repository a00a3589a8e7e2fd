/**
 * Runs of nodes that have no room: one line says how many nodes and leaves, of which module, and what they are called.
 */

import { GRAPH_FOLD_HEIGHT, type GraphColumn } from "./graph_sizes.ts";
import { foldToggleKey, type GraphStep } from "./graph_step.ts";
import { shortNodeName } from "../text/node_labels.ts";
import type { Rect } from "../pane.ts";
import type { NodeBlock } from "./graph_parts.ts";

export type GraphFoldPlace = Rect & {
  /** what opens and closes it */
  key: string;
  open: boolean;
  /** of all that it stands for, leaves too */
  uids: string[];
  nodes: number;
  leaves: number;
  /** of its nodes, in order */
  names: string;
  /** the path of the innermost one that has all the parameters of its leaves */
  module: string | null;
  broken: boolean;
  running: boolean;
};

const MAX_FOLD_NAMES = 24;

/** `blocks` are neighbours in one graph. The fold is open where the reader opened it by one of its nodes. */
export function placeGraphFold(
  graphStep: GraphStep,
  blocks: NodeBlock[],
  column: GraphColumn,
  y: number,
): GraphFoldPlace {
  const openedBlock = blocks.find(({ uid }) => graphStep.toggled.has(foldToggleKey(uid)));
  const leaves = new Set(blocks.flatMap(({ docks }) => docks.map(({ leaf }) => leaf)));
  const vias = blocks.flatMap(({ docks }) => docks.flatMap((dock) => dock.vias));
  const uids = [...blocks.map(({ uid }) => uid), ...vias, ...leaves];
  const left = column.railed ? column.left : 8;
  return {
    ...{ x: left, y: y + 2, w: column.right - left, h: GRAPH_FOLD_HEIGHT - 4 },
    key: foldToggleKey((openedBlock ?? blocks[0]).uid),
    open: openedBlock !== undefined,
    uids,
    nodes: blocks.length + vias.length,
    leaves: leaves.size,
    names: joinRepeatedNames(blocks.map(({ uid }) => shortNodeName(graphStep.node(uid)?.name ?? uid))),
    module: innermostCommonModule(graphStep, leaves),
    broken: blocks.some(({ uid }) => graphStep.hasBrokenSlot(uid)),
    running: graphStep.visitedNode !== null && uids.includes(graphStep.visitedNode),
  };
}

/** Names one after the other; the same several times over once. */
function joinRepeatedNames(names: string[]) {
  const runs: { name: string; times: number }[] = [];
  for (const name of names) {
    const last = runs[runs.length - 1];
    if (last?.name === name) last.times++;
    else if (runs.length < MAX_FOLD_NAMES) runs.push({ name, times: 1 });
    else break;
  }
  return runs.map(({ name, times }) => (times > 1 ? `${name}×${times}` : name)).join(" ");
}

/** The path of the innermost module around the parameters of leaves; null where there is none, or no name leads to
 * it. */
function innermostCommonModule(graphStep: GraphStep, leaves: Set<string>): string | null {
  const { modules, moduleOfTensor: moduleOf } = graphStep.model.index;
  let commonModules = null as string[] | null;
  for (const leafUid of leaves) {
    const enclosing: string[] = [];
    let moduleUid = moduleOf.get(graphStep.node(leafUid)?.variable ?? "") ?? null;
    for (; moduleUid && !enclosing.includes(moduleUid); moduleUid = modules.get(moduleUid)?.within ?? null)
      enclosing.unshift(moduleUid);
    commonModules = commonModules ? commonModules.filter((uid, i) => enclosing[i] === uid) : enclosing;
  }
  const uid = commonModules?.at(-1);
  return (uid && graphStep.names.paths.get(uid)) || null;
}

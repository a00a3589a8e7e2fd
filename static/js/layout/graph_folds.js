/** Runs of nodes that have no room: one line says how many nodes and leaves, of which module, and what they are called. */

import { FOLD } from "./graph_sizes.js";
import { openKey } from "./graph_step.js";
import { shortNodeName } from "./node_labels.js";

/** @typedef {import("./graph_step.js").GraphStep} GraphStep */
/** @typedef {import("./graph_model.js").Block} Block */
/** @typedef {import("./pane.js").Rect} Rect */
/**
 * @typedef {Rect & {key: string, open: boolean, uids: string[], nodes: number, leaves: number, names: string,
 *   module: string | null, broken: boolean, running: boolean}} FoldPlace
 *   key: what opens and closes it. uids: of all that it stands for, leaves too. names: of its nodes, in order. module:
 *   the path of the innermost one that has all the parameters of its leaves
 */

const MAX_NAMES = 24;

/**
 * @param {GraphStep} graphStep @param {Block[]} blocks neighbours in one graph @param {import("./graph_sizes.js").Column} column
 * @param {number} y @returns {FoldPlace} open where the reader opened it by one of its nodes
 */
export function foldPlace(graphStep, blocks, column, y) {
  const openedBlock = blocks.find(({ uid }) => graphStep.toggled.has(openKey(uid)));
  const leaves = new Set(blocks.flatMap(({ docks }) => docks.map(({ leaf }) => leaf)));
  const vias = blocks.flatMap(({ docks }) => docks.flatMap((dock) => dock.vias));
  const uids = [...blocks.map(({ uid }) => uid), ...vias, ...leaves];
  const left = column.railed ? column.left : 8;
  return {
    ...{ x: left, y: y + 2, w: column.right - left, h: FOLD - 4 },
    key: openKey((openedBlock ?? blocks[0]).uid),
    open: openedBlock !== undefined,
    uids,
    nodes: blocks.length + vias.length,
    leaves: leaves.size,
    names: namesInOrder(blocks.map(({ uid }) => shortNodeName(graphStep.node(uid)?.name ?? uid))),
    module: commonModule(graphStep, leaves),
    broken: blocks.some(({ uid }) => graphStep.isBroken(uid)),
    running: graphStep.now !== null && uids.includes(graphStep.now),
  };
}

/** Names one after the other; the same several times over once. @param {string[]} names */
function namesInOrder(names) {
  /** @type {{name: string, times: number}[]} */
  const runs = [];
  for (const name of names) {
    const last = runs[runs.length - 1];
    if (last?.name === name) last.times++;
    else if (runs.length < MAX_NAMES) runs.push({ name, times: 1 });
    else break;
  }
  return runs.map(({ name, times }) => (times > 1 ? `${name}×${times}` : name)).join(" ");
}

/** The path of the innermost module around the parameters of leaves; null where there is none, or no name leads to it.
 * @param {GraphStep} graphStep @param {Set<string>} leaves @returns {string | null} */
function commonModule(graphStep, leaves) {
  const { modules, moduleOf } = graphStep.model.index;
  let commonModules = /** @type {string[] | null} */ (null);
  for (const leafUid of leaves) {
    /** @type {string[]} */
    const enclosing = [];
    let moduleUid = moduleOf.get(graphStep.node(leafUid)?.variable ?? "") ?? null;
    for (; moduleUid && !enclosing.includes(moduleUid); moduleUid = modules.get(moduleUid)?.within ?? null)
      enclosing.unshift(moduleUid);
    commonModules = commonModules ? commonModules.filter((uid, i) => enclosing[i] === uid) : enclosing;
  }
  const uid = commonModules?.at(-1);
  return (uid && graphStep.names.paths.get(uid)) || null;
}

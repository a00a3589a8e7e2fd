/** What there is to draw in the memory pane at a step, in the order that never changes: headings, rows, folds. */

import { allocatorItems } from "./allocator.js";
import { memoryBlocks } from "./memory_blocks.js";
import { objectEntries } from "./memory_outline.js";
import { uidNumber } from "./pane_names.js";

/** @typedef {import("./memory_step.js").MemoryStep} MemoryStep */
/** @typedef {import("./memory_blocks.js").Block} Block */
/** @typedef {import("./pane_names.js").ShownName} ShownName */
/**
 * @typedef {{kind: "row", key: string, block: Block, indent: number, section: string, small: boolean,
 *   place?: string}} RowItem   small: without cards, its numbers alone. place: by the names' order, of all but the foot
 * @typedef {{kind: "heading", key: string, section: string, uid: string, type: "frame" | "object" | "optimizer" | "inner",
 *   names: ShownName[], state: Block[], open: boolean, indent: number, hot: boolean, place?: string}} HeadingItem
 *   type: inner for an object under another's heading. state: of an optimizer, the storages that only it
 *   keeps; open: whether the reader wants them drawn
 * @typedef {{kind: "rule", key: string}} RuleItem
 * @typedef {{kind: "fold", key: string, blocks: Block[], foldKind: "flight" | "kept" | "unnamed" | "rows" | "calls", count?: number,
 *   place?: string}} FoldItem   count: of what is folded, where that is not the storages
 * @typedef {{kind: "ghosts", key: string, freed: {uid: string, name: string, nbytes: number | undefined}[]}} GhostItem
 * @typedef {{rank: number, inner: number, number: number, items: MemoryItem[]}} Entry   items with their place in the order
 * @typedef {RowItem | HeadingItem | RuleItem | FoldItem | GhostItem | import("./allocator.js").AllocatorItem} MemoryItem
 */

/** Calls under way that each have a line. */
const MAX_CALL_LINES = 6;

/** @param {MemoryStep} memoryStep @returns {MemoryItem[]} */
export function memoryItems(memoryStep) {
  const { named: namedBlocks, states, nameless } = memoryBlocks(memoryStep);
  const items = sectionItems(memoryStep, namedBlocks, states);
  return [...items, ...footItems(memoryStep, nameless), ...allocatorItems(memoryStep)];
}

/** Headings with the rows under them. @param {MemoryStep} memoryStep @param {Block[]} named @param {Block[]} states
 * @returns {MemoryItem[]} */
function sectionItems(memoryStep, named, states) {
  const entries = /** @type {Entry[]} */ ([]);
  for (const block of named) {
    const home = memoryStep.homes.ofStorage(block.key) ?? memoryStep.homes.homeOf.get(block.handles[0]);
    const section = home?.section ?? "";
    const rank = section ? memoryStep.homes.sectionRank(section) : (home?.rank ?? Infinity);
    block.label = block.names.get(block.handles[0])?.[0].text ?? block.key;
    const indent = section ? 1 : 0;
    const item = /** @type {RowItem} */ ({ kind: "row", key: block.key, block, indent, section, small: false });
    entries.push({ rank, inner: home?.rank ?? Infinity, number: uidNumber(block.key), items: [item] });
  }
  const calls = [...memoryStep.homes.frames].filter(([uid]) => memoryStep.entities.has(uid));
  const foldedKeys = sectionsOfFoldedCalls(memoryStep, calls);
  for (const [uid, key] of calls)
    if (!foldedKeys.has(key))
      entries.push({
        rank: memoryStep.homes.sectionRank(key),
        inner: -1,
        number: 0,
        items: [frameHeading(memoryStep, uid, key)],
      });
  if (foldedKeys.size) entries.push(foldCallEntries(memoryStep, calls, foldedKeys, entries));
  entries.push(...objectEntries(memoryStep, states));
  entries.sort((a, b) => a.rank - b.rank || a.inner - b.inner || a.number - b.number);
  return entries.flatMap(({ rank, inner: rankWithin, items }) =>
    items.map((item) => ({ ...item, place: `${rank}:${rankWithin}` })),
  );
}

/** Calls that wait for others in a deep recursion: the sections of those between the first and the last few.
 * @param {MemoryStep} memoryStep @param {[string, string][]} calls @returns {Set<string>} */
function sectionsOfFoldedCalls(memoryStep, calls) {
  if (calls.length <= MAX_CALL_LINES || memoryStep.options.toggled.has("calls")) return new Set();
  return new Set(calls.slice(1, calls.length - MAX_CALL_LINES + 2).map(([, key]) => key));
}

/** One line for the calls that are folded; their rows are taken out of the entries.
 * @param {MemoryStep} memoryStep @param {[string, string][]} calls @param {Set<string>} foldedKeys @param {Entry[]} entries
 * @returns {Entry} */
function foldCallEntries(memoryStep, calls, foldedKeys, entries) {
  const blocks = /** @type {Block[]} */ ([]);
  const keptEntries = entries.filter(({ items: [item] }) => {
    const isHidden = item.kind === "row" && foldedKeys.has(item.section) && !item.block.hot;
    if (isHidden) blocks.push(item.block);
    return !isHidden;
  });
  entries.splice(0, entries.length, ...keptEntries);
  const count = foldedKeys.size;
  const rank = memoryStep.homes.sectionRank(calls[1][1]);
  return { rank, inner: -2, number: 0, items: [{ kind: "fold", key: "calls", blocks, foldKind: "calls", count }] };
}

/** @param {MemoryStep} memoryStep @param {string} uid @param {string} key @returns {HeadingItem} */
function frameHeading(memoryStep, uid, key) {
  const isTouched =
    memoryStep.snap.fresh.has(uid) || [...memoryStep.snap.changed].some((name) => name.startsWith(`${uid}/`));
  return {
    kind: "heading",
    key: `frame ${uid}`,
    section: key,
    uid,
    type: "frame",
    names: [],
    state: [],
    open: false,
    indent: 0,
    hot: isTouched,
  };
}

/** At the foot: what has no name, and what the step freed. @param {MemoryStep} memoryStep @param {Block[]} nameless
 * @returns {MemoryItem[]} */
function footItems(memoryStep, nameless) {
  const folds = /** @type {Map<string, FoldItem>} */ (new Map());
  const rows = /** @type {RowItem[]} */ ([]);
  for (const block of nameless) {
    const foldKind = block.purpose?.foldKind ?? "unnamed";
    const key = `nameless ${foldKind}`;
    if (!block.hot && !memoryStep.options.toggled.has(key) && !block.uids.includes(memoryStep.options.selected ?? "")) {
      const fold = folds.get(key) ?? { kind: "fold", key, blocks: [], foldKind };
      fold.blocks.push(block);
      folds.set(key, fold);
    } else rows.push({ kind: "row", key: block.key, block, indent: 0, section: key, small: true });
  }
  const freed = [...memoryStep.snap.freed].map(([uid, storage]) => ({
    uid,
    name: nameBeforeFreed(memoryStep, uid),
    nbytes: storage.nbytes,
  }));
  /** @type {MemoryItem[]} */
  const out = [];
  if (rows.length || folds.size || freed.length) out.push({ kind: "rule", key: "rule" });
  out.push(...rows);
  for (const foldKind of ["flight", "kept", "unnamed"]) {
    const fold = folds.get(`nameless ${foldKind}`);
    if (fold) out.push(fold);
  }
  if (freed.length) out.push({ kind: "ghosts", key: "ghosts", freed });
  return out;
}

/** What a freed storage was called. @param {MemoryStep} memoryStep @param {string} storageUid */
function nameBeforeFreed(memoryStep, storageUid) {
  const { paths } = memoryStep.model.opened.names(memoryStep.index - 1);
  for (const uid of memoryStep.model.opened.index.handlesOf(storageUid, memoryStep.index - 1)) {
    const path = paths.get(uid);
    if (path) return path;
  }
  return "";
}

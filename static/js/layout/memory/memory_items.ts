/** What there is to draw in the memory pane at a step, in the order that never changes: headings, rows, folds. */

import { allocatorItems } from "./allocator.ts";
import { memoryRowBlocks, type RowBlocks } from "./memory_blocks.ts";
import { objectOutlineEntries } from "./memory_outline.ts";
import { uidNumber } from "./pane_names.ts";
import type { MemoryStep } from "./memory_step.ts";
import type { RowBlock, RowItem, HeadingItem, FoldItem, RankedItems, MemoryItem } from "./memory_parts.ts";

/** What lost a name stands right below what has it now. */
const AFTER_ITS_NAME = 0.5;

/** Calls under way that each have a line. */
const MAX_CALL_LINES = 6;

/** `foldsGradients`: gradients on their way are counted, since they stand on their edges in the graph. */
export function memoryItems(
  memoryStep: MemoryStep,
  rowBlocks: RowBlocks = memoryRowBlocks(memoryStep),
  foldsGradients = false,
): MemoryItem[] {
  const { named: namedBlocks, states, nameless } = rowBlocks;
  const former = nameless.filter((block) => block.former);
  const items = headingsWithRows(memoryStep, namedBlocks, states, former);
  const others = nameless.filter((block) => !block.former);
  return [...items, ...namelessItems(memoryStep, others, foldsGradients), ...allocatorItems(memoryStep)];
}

/** Headings with the rows under them. */
function headingsWithRows(
  memoryStep: MemoryStep,
  named: RowBlock[],
  states: RowBlock[],
  former: RowBlock[],
): MemoryItem[] {
  const entries = [] as RankedItems[];
  for (const block of named) {
    const firstName = memoryStep.firstNames.ofStorage(block.key) ?? memoryStep.firstNames.byUid.get(block.handles[0]);
    const section = firstName?.section ?? "";
    const rank = section ? memoryStep.firstNames.sectionRank(section) : (firstName?.rank ?? Infinity);
    block.label = block.names.get(block.handles[0])?.[0].text ?? block.key;
    const indent = section ? 1 : 0;
    const item = { kind: "row", key: block.key, block, indent, section, small: false } as RowItem;
    entries.push({ rank, inner: firstName?.rank ?? Infinity, number: uidNumber(block.key), items: [item] });
  }
  for (const block of former) {
    const { rank: inner, section } = block.former ?? { rank: Infinity, section: "" };
    const rank = section ? memoryStep.firstNames.sectionRank(section) : inner;
    const indent = section ? 1 : 0;
    const item = { kind: "row", key: block.key, block, indent, section, small: false } as RowItem;
    entries.push({ rank, inner: inner + AFTER_ITS_NAME, number: uidNumber(block.key), items: [item] });
  }
  const calls = [...memoryStep.firstNames.sectionKeyByFrame].filter(([uid]) => memoryStep.entities.has(uid));
  const foldedKeys = sectionsOfFoldedCalls(memoryStep, calls);
  for (const [uid, key] of calls)
    if (!foldedKeys.has(key))
      entries.push({
        rank: memoryStep.firstNames.sectionRank(key),
        inner: -1,
        number: 0,
        items: [frameHeadingItem(memoryStep, uid, key)],
      });
  if (foldedKeys.size) entries.push(foldCallEntries(memoryStep, calls, foldedKeys, entries));
  entries.push(...objectOutlineEntries(memoryStep, states));
  entries.sort((a, b) => a.rank - b.rank || a.inner - b.inner || a.number - b.number);
  return entries.flatMap(({ rank, inner: rankWithin, items }) =>
    items.map((item) => ({ ...item, place: `${rank}:${rankWithin}` })),
  );
}

/** Calls that wait for others in a deep recursion: the sections of those between the first and the last few. */
function sectionsOfFoldedCalls(memoryStep: MemoryStep, calls: [string, string][]): Set<string> {
  if (calls.length <= MAX_CALL_LINES || memoryStep.options.toggled.has("calls")) return new Set();
  return new Set(calls.slice(1, calls.length - MAX_CALL_LINES + 2).map(([, key]) => key));
}

/** One line for the calls that are folded; their rows are taken out of the entries. */
function foldCallEntries(
  memoryStep: MemoryStep,
  calls: [string, string][],
  foldedKeys: Set<string>,
  entries: RankedItems[],
): RankedItems {
  const blocks = [] as RowBlock[];
  const keptEntries = entries.filter(({ items: [item] }) => {
    const isHidden = item.kind === "row" && foldedKeys.has(item.section) && !item.block.hot;
    if (isHidden) blocks.push(item.block);
    return !isHidden;
  });
  entries.splice(0, entries.length, ...keptEntries);
  const count = foldedKeys.size;
  const rank = memoryStep.firstNames.sectionRank(calls[1][1]);
  return { rank, inner: -2, number: 0, items: [{ kind: "fold", key: "calls", blocks, foldKind: "calls", count }] };
}

function frameHeadingItem(memoryStep: MemoryStep, uid: string, key: string): HeadingItem {
  const isTouched =
    memoryStep.snapshot.fresh.has(uid) || [...memoryStep.snapshot.changed].some((name) => name.startsWith(`${uid}/`));
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

/** One that is in a `.grad` has arrived. */
function isGradientInFlight({ owners }: MemoryStep, { purpose, uids }: RowBlock) {
  return (
    (purpose?.labelKey === "gradient" || purpose?.labelKey === "gradientFor") && !uids.some((uid) => owners.has(uid))
  );
}

/** At the foot: what has no name. */
function namelessItems(memoryStep: MemoryStep, nameless: RowBlock[], foldsGradients: boolean): MemoryItem[] {
  const folds = new Map<string, FoldItem>();
  const rows = [] as RowItem[];
  for (const block of nameless) {
    const foldKind = block.purpose?.foldKind ?? "unnamed";
    const key = `nameless ${foldKind}`;
    const isOpen = memoryStep.options.toggled.has(key);
    const isOnEdge = foldsGradients && isGradientInFlight(memoryStep, block);
    if ((!block.hot || isOnEdge) && !isOpen && !block.uids.includes(memoryStep.options.selected ?? "")) {
      const fold = folds.get(key) ?? { kind: "fold", key, blocks: [], foldKind };
      fold.blocks.push(block);
      folds.set(key, fold);
    } else rows.push({ kind: "row", key: block.key, block, indent: 0, section: key, small: true });
  }
  const out: MemoryItem[] = [];
  if (rows.length || folds.size) out.push({ kind: "rule", key: "rule" });
  out.push(...rows);
  for (const foldKind of ["flight", "kept", "unnamed"]) {
    const fold = folds.get(`nameless ${foldKind}`);
    if (fold) out.push(fold);
  }
  return out;
}

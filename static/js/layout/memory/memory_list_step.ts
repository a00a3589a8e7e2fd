/** What the lines of the list of names stand for at a step. */

import { isHandle } from "../../trace/entities.ts";
import { referencedUid, type NameTag } from "../../trace/names.ts";
import { pathRoot } from "./homes.ts";
import { nameLineKey, oldNameLineKey, stateOwnerOfPath } from "./name_lines.ts";
import type { ListLine, MemoryList } from "./memory_parts.ts";
import type { RowBlocks } from "./memory_blocks.ts";
import type { MemoryStep } from "./memory_step.ts";
import type { RowBlock, ShownName } from "./memory_parts.ts";

/** a line of the list at a step */
export interface ListEntry {
  line: ListLine;
  /** what its first name means */
  uid: string | null;
  name: ShownName | null;
  /** the memory that its names mean */
  blocks: RowBlock[];
  /** by block, the gradient of what its name means */
  grad: RowBlock | null;
  /** it may have a gradient */
  wantsGrad: boolean;
  /** the frame or the object that it is the heading of, or means */
  container: string | null;
  hot: boolean;
}

export interface ListAtStep {
  list: MemoryList;
  /** from top to bottom */
  entries: ListEntry[];
  /** what no line stands for */
  rest: RowBlock[];
}

export function listAtStep(memoryStep: MemoryStep, list: MemoryList, rowBlocks: RowBlocks): ListAtStep {
  return new ListFiller(memoryStep, list).fill(rowBlocks);
}

class ListFiller {
  step: MemoryStep;
  list: MemoryList;
  byLine = new Map<ListLine, ListEntry>();
  mainFrame = "";
  /** living frames of functions, each with the key of its section */
  functions: [string, string][] = [];

  constructor(step: MemoryStep, list: MemoryList) {
    this.step = step;
    this.list = list;
    for (const [uid, entity] of step.entities) {
      if (entity.kind !== "frame") continue;
      const key = step.homes.sectionKeyByFrame.get(uid);
      if (key) this.functions.push([uid, key]);
      else this.mainFrame ||= uid;
    }
  }

  fill({ named, states, nameless }: RowBlocks): ListAtStep {
    const rest = [] as RowBlock[];
    for (const block of named) if (!this.addNamedBlock(block)) rest.push(block);
    for (const block of states)
      if (!this.addTo(stateOwnerOfPath(block.state?.text ?? "").key, block, null)) rest.push(block);
    for (const block of nameless) if (!this.addOldBlock(block)) rest.push(block);
    this.addContainers();
    const entries = [] as ListEntry[];
    const sections = new Set([...this.byLine.keys()].flatMap(({ names }) => names.map(({ section }) => section)));
    for (const line of this.list.lines) {
      const entry = this.byLine.get(line);
      if (entry) entries.push(entry);
      else if (line.kind === "heading" && sections.has(line.key)) entries.push(this.newEntry(line));
    }
    return { list: this.list, entries, rest };
  }

  newEntry(line: ListLine): ListEntry {
    return { line, uid: null, name: null, blocks: [], grad: null, wantsGrad: false, container: null, hot: false };
  }

  entryOf(key: string): ListEntry | null {
    const line = this.list.lineOfName.get(key);
    return line ? this.entryOfLine(line) : null;
  }

  entryOfLine(line: ListLine): ListEntry {
    const entry = this.byLine.get(line) ?? this.newEntry(line);
    this.byLine.set(line, entry);
    return entry;
  }

  /** Returns whether a line stands for it. */
  addTo(key: string, block: RowBlock, name: ShownName | null, uid = block.handles[0] ?? block.others[0] ?? null) {
    const entry = this.entryOf(key);
    if (!entry) return false;
    if (!entry.blocks.includes(block)) entry.blocks.push(block);
    entry.hot ||= block.hot;
    if (entry.uid !== null) return true;
    [entry.uid, entry.name] = [uid, name];
    const handle = this.step.entities.get(uid ?? "");
    if (isHandle(handle)) {
      entry.grad = block.grads.get(uid ?? "") ?? null;
      entry.wantsGrad =
        handle.kind === "tensor" && Boolean(handle.requires_grad && (handle.leaf || handle.retains_grad));
    }
    return true;
  }

  addNamedBlock(block: RowBlock) {
    let isAdded = false;
    for (const uid of block.handles)
      for (const name of block.names.get(uid) ?? [])
        isAdded = this.addTo(this.keyOf(name.tag), block, name, uid) || isAdded;
    return isAdded;
  }

  /** What lost its name: a leaf, and the gradient that it still gets. */
  addOldBlock(block: RowBlock) {
    for (const uid of block.uids) {
      const ownerUid = this.step.owners.get(uid);
      const isGradient = ownerUid !== undefined;
      const home = this.step.homes.homeOf.get(ownerUid ?? uid);
      if (!home?.main || this.step.names.tags.has(ownerUid ?? uid)) continue;
      const handle = this.step.entities.get(uid);
      if (!isGradient && !(isHandle(handle) && handle.leaf && handle.requires_grad)) continue;
      const entry = this.entryOf(oldNameLineKey(home.key));
      if (!entry) continue;
      if (isGradient) entry.grad = block;
      else {
        this.addTo(oldNameLineKey(home.key), block, null, uid);
        entry.grad ??= block.grads.get(uid) ?? null;
      }
      entry.hot ||= block.hot;
      return true;
    }
    return false;
  }

  /** Objects that names mean, and functions that run. */
  addContainers() {
    const { entities, touched } = this.step;
    for (const [frameUid, frame] of entities) {
      if (frame.kind !== "frame") continue;
      const scope = this.step.homes.sectionKeyByFrame.get(frameUid) ?? "";
      for (const [name, value] of frame.vars) {
        const uid = referencedUid(value);
        if (uid?.[0] !== "o" || !entities.has(uid)) continue;
        const entry = this.entryOf(scope ? `${scope}/${name}` : name);
        if (!entry) continue;
        entry.container ??= uid;
        entry.hot ||= touched.uids.has(uid);
      }
    }
    const lineByKey = new Map(this.list.lines.map((line) => [line.key, line]));
    for (const [uid, key] of this.functions) {
      const line = lineByKey.get(`frame ${key}`);
      if (!line) continue;
      const entry = this.entryOfLine(line);
      entry.container = uid;
      entry.hot ||= this.step.snapshot.fresh.has(uid);
    }
  }

  keyOf(tag: NameTag) {
    return nameLineKey(tag, this.scopeOf(tag));
  }

  /** The function that a name is of, empty for the module. */
  scopeOf(tag: NameTag): string {
    if (tag.kind === "var") return this.step.homes.sectionKeyByFrame.get(tag.frame ?? "") ?? "";
    const root = pathRoot(tag.text);
    const binds = (uid: string) => {
      const frame = this.step.entities.get(uid);
      return frame?.kind === "frame" && frame.vars.has(root);
    };
    return binds(this.mainFrame) ? "" : (this.functions.find(([uid]) => binds(uid))?.[1] ?? "");
  }
}

/** All uids that a line stands for. */
export function uidsOfEntry({ blocks, grad, container }: ListEntry): string[] {
  return [...(container ? [container] : []), ...[...blocks, ...(grad ? [grad] : [])].flatMap(uidsOfBlock)];
}

export function uidsOfBlock(block: RowBlock): string[] {
  return [...block.uids, ...[...block.grads.values()].flatMap(({ uids }) => uids)];
}

/** The names of a run, each with its line in the list of the memory pane: decided once, in the order of their first
 * appearance. */

import type { NameTag } from "../../trace/names.ts";

/** a name's line; a name that comes to mean something else keeps it */
export interface NameLine {
  key: string;
  /** as the program writes it; of an optimizer's own tensors the parameter that they are for */
  text: string;
  /** the key of the object or the function under whose line it stands, empty for a name of the module */
  section: string;
  /** old: of a leaf that lost its name and still gets gradients; state: of an optimizer's own tensors */
  kind: "name" | "old" | "state";
  /** lines of one row stand below each other: the names of one memory, in their order */
  row: number;
}

/** The line of an optimizer's own tensors for one parameter. */
interface StateOwner {
  key: string;
  /** the parameter, like `net.0.weight`; what leads to the tensor where it is for none */
  owner: string;
  /** like `exp_avg` */
  kind: string;
}

const OPTIMIZER_STATE_PATTERN = /^(.*)\.state\[(.+)\]\['(\w+)'\]$/s;

/** Of which parameter an optimizer's own tensor is, by the path that leads to it. */
export function stateOwnerOfPath(path: string): StateOwner {
  const [, optimizer, owner, kind] = path.match(OPTIMIZER_STATE_PATTERN) ?? [];
  return optimizer === undefined
    ? { key: `state ${path}`, owner: path, kind: "" }
    : { key: `state ${optimizer} ${owner}`, owner, kind };
}

/**
 * What a name's line is called, the same at every step. `scope` is the section of the function that it is of, empty for
 * the module's.
 */
export function nameLineKey(tag: NameTag, scope: string) {
  return scope ? `${scope}/${tag.text}` : tag.text;
}

export function oldNameLineKey(key: string) {
  return `old ${key}`;
}

/** Gathers the lines while the run is followed step by step. */
export class NameLines {
  byKey = new Map<string, NameLine>();
  /** by scope and storage, the line with which its row began */
  rowOfStorage = new Map<string, NameLine>();

  /** `storage` is the name's memory, null where it means an object. */
  addName(key: string, text: string, section: string, scope: string, storage: string | null) {
    const rowKey = storage === null ? "" : `${scope} ${storage}`;
    const rowHead = rowKey ? this.rowOfStorage.get(rowKey) : undefined;
    let line = this.byKey.get(key);
    if (!line) {
      const row = rowHead?.row ?? this.byKey.size;
      line = { key, text, section: rowHead?.section ?? section, kind: "name", row };
      this.byKey.set(key, line);
    }
    if (rowKey && !rowHead) this.rowOfStorage.set(rowKey, line);
  }

  /** `path` is that of an optimizer's own tensor. */
  addState(path: string, section: string) {
    const { key, owner } = stateOwnerOfPath(path);
    if (!this.byKey.has(key)) this.byKey.set(key, { key, text: owner, section, kind: "state", row: this.byKey.size });
  }

  /** A line of a leaf that gets a gradient and has no name any more. `key` is that of the name that it had. */
  addOldName(key: string) {
    const line = this.byKey.get(key);
    const oldKey = oldNameLineKey(key);
    if (!line || this.byKey.has(oldKey)) return;
    this.byKey.set(oldKey, { ...line, key: oldKey, text: line.text, kind: "old" });
  }
}

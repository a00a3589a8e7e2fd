/** What a node keeps for backward, under the names that the program has for it. */

import { findEntity } from "../../trace/entities.ts";
import { shortValueText } from "../../trace/format.ts";
import { lastPathParts } from "../text/node_labels.ts";
import type { Names } from "../../trace/names.ts";
import type { Slot } from "../../trace/wire.ts";
import type { GraphStep } from "./graph_step.ts";

/** Longer names are told by their ends. */
const MAX_NAME_LENGTH = 18;
/** Slots that torch calls after an operand's place: they say nothing to who wrote the program. */
const OPERAND_SLOT_PATTERN = /^(self|other|input|mat\d?|tensor\d?|result\d?)$/;

export interface SavedSlotText {
  slot: string;
  saved: Slot;
  /** the saved slot's, `freed` where the node let go of everything */
  state: string;
  /** the reader's name of what it keeps; empty for a result that has none */
  text: string;
  /** the version that it has by now, where backward will refuse it */
  now: number | null;
  /** as long as what is said of it may be */
  said: string;
  /** whether anything is known of it: not of what was let go of at an earlier step */
  known: boolean;
}

export function savedSlotTexts(graphStep: GraphStep, uid: string): SavedSlotText[] {
  const node = graphStep.node(uid);
  return Object.entries(node?.saved ?? {}).map(([slot, saved]) => {
    const state = saved.state === "freed" || node?.released ? "freed" : saved.state;
    const value = findEntity(graphStep.entities, saved.counter, "counter")?.value;
    const now = state === "stale" && typeof value === "number" ? value : null;
    const kept = state === "freed" ? savedBefore(graphStep, uid, slot) : saved;
    const names = state === "freed" ? graphStep.model.opened.names(graphStep.i - 1) : graphStep.names;
    const text = kept ? savedValueName(slot, kept, names, graphStep.firstNameByStorage) : "";
    return { slot, saved, state, text, now, said: text || "a result", known: kept !== null };
  });
}

/** What a node kept in the step before, where this one let go of it. */
function savedBefore(graphStep: GraphStep, uid: string, slot: string): Slot | null {
  const before = graphStep.i > 0 ? findEntity(graphStep.model.opened.state(graphStep.i - 1), uid, "node") : undefined;
  const saved = before?.released ? undefined : before?.saved?.[slot];
  return saved && saved.state !== "freed" ? saved : null;
}

function savedValueName(slot: string, saved: Slot, names: Names, nameByStorage: Map<string, string>) {
  if (saved.value != null) {
    const value = shortValueText(saved.value, 10);
    return OPERAND_SLOT_PATTERN.test(slot) ? value : `${slot} ${value}`;
  }
  const tags = names.tags.get(saved.tensor ?? "") ?? [];
  const tag = tags.find(({ kind }) => kind === "var") ?? tags.find(({ text }) => !text.includes("param_groups"));
  const name = tag?.text ?? nameByStorage.get(saved.storage ?? "") ?? "";
  return name.length > MAX_NAME_LENGTH ? lastPathParts(name) : name;
}

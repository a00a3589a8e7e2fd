/** A note on a step: a sentence's key with its arguments, and what notes are made from. */

import type { Snapshot, OpenTrace, Entities } from "../trace/state.ts";
import type { Step } from "../trace/wire.ts";

/** a text or a number as it is; something of the program's, written as code; a phrase of its own; a list */
export type NoteArgument =
  | string
  | number
  | boolean
  | null
  | undefined
  | { name: string }
  | { key: string; args: NoteArguments }
  | NoteArgument[];

export interface NoteArguments {
  [name: string]: NoteArgument;
}

export interface CaptionNote {
  /** key, args: of a sentence in the locales */
  key: string;
  args: NoteArguments;
  tone?: "bad" | "cut" | "plain";
  /** told last */
  minor?: boolean;
}

/** a step with the state before it */
export type NoteContext = Snapshot & {
  opened: OpenTrace;
  step: Step;
  before: Entities;
  /** the first path that leads to a thing, null where none does */
  pathOf: (uid: string | null | undefined) => string | null;
  /** that path as an argument, else the words for a thing without a name */
  named: (uid: string | null | undefined) => NoteArgument;
  /** a node as the graph calls it */
  node: (uid: string) => NoteArgument;
};

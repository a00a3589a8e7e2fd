/** A note on a step: a sentence's key with its arguments, and what notes are made from. */

import type { Snapshot, OpenTrace, Entities } from "../trace/state.ts";
import type { Step } from "../trace/wire.ts";

/** a text or a number as it is; something of the program's, written as code; a phrase of its own; a list */
export type CaptionArgument =
  | string
  | number
  | boolean
  | null
  | undefined
  | NameArgument
  | { key: string; args: CaptionArguments; of?: string }
  | CaptionArgument[];

/**
 * A name in a sentence.
 * of: the entity that it leads to after the step, where it is one; a phrase for a thing without a name has it, too
 * wasOf: the entity that it led to before the step
 */
interface NameArgument {
  name: string;
  of?: string;
  wasOf?: string;
}

export interface CaptionArguments {
  [name: string]: CaptionArgument;
}

export interface CaptionNote {
  /** key, args: of a sentence in the locales */
  key: string;
  args: CaptionArguments;
  tone?: "bad" | "cut" | "plain";
  /** told last */
  minor?: boolean;
}

/** a step with the state before it */
export type CaptionContext = Snapshot & {
  opened: OpenTrace;
  step: Step;
  before: Entities;
  /** the name that leads to a thing after the step, as the step's function reads it; null where none does */
  pathOf: (uid: string | null | undefined) => string | null;
  /** that name as an argument; else "what `y` meant before", or the words for a thing without a name */
  named: (uid: string | null | undefined) => CaptionArgument;
  /** whether `named` has a name for it */
  hasName: (uid: string | null | undefined) => boolean;
  /** a node as the graph calls it */
  node: (uid: string) => CaptionArgument;
};

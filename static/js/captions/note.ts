/** A note on a step: a sentence's key with its arguments, and what notes are made from. */

import type { Snapshot, OpenTrace, Entities } from "../trace/state.ts";
import type { Step } from "../trace/wire.ts";

export interface CaptionNote {
  /** key, args: of a sentence in the locales */
  key: string;
  args: Record<string, unknown>;
  tone?: "bad" | "cut" | "plain";
  /** told last */
  minor?: boolean;
}

/** a step with the state before it */
export type NoteContext = Snapshot & {
  opened: OpenTrace;
  step: Step;
  before: Entities;
  /** the first path that leads to a thing, else its uid */
  nameOf: (uid: string | null | undefined) => string;
  /** whether one does */
  hasName: (uid: string | null | undefined) => boolean;
  nodeName: (uid: string) => string;
};

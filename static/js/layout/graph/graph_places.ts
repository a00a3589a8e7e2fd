/** What a row of the graph pane holds, each with its place. */

import type { Rect } from "../pane.ts";
import type { Slot, Grad } from "../../trace/wire.ts";
import type { GradientChip } from "../text/grad_chip.ts";
import type { VisitOrder } from "./graph_step.ts";
import type { NodeBlock, AttachedLeaf } from "./graph_parts.ts";

/** words of the page, by their label */
export type GradientLabel = "backwardStarts" | "gradientsTogether" | "leftEdge" | "rightEdge" | "edgeNumber";

export type TextPlace = Rect & {
  text: string;
  /** what there is no room for */
  hidden: string[];
  /** of its type */
  font: number;
};

export type SlotPlace = Rect & {
  key: string;
  slot: string;
  saved: Slot;
  /** the saved slot's, `freed` where the node let go of everything */
  state: string;
  /** there is no room for its text */
  dot: boolean;
  head: string;
  now: number | null;
};

export type GradientPlace = Rect & {
  /** the edge that the gradient is on, else the node that it is at */
  key: string;
  grad: Grad;
  chip: GradientChip;
  now: boolean;
  /** it was added to what a `.grad` held: a sign before it says so */
  adds?: boolean;
  /** where it climbs to, and where that is written */
  to: { text: string; x: number } | null;
  /** what is said after it */
  words?: { label: GradientLabel; name: string; x: number; w: number };
};

/** a node between a leaf and its reader */
export type ReshapingNodePlace = Rect & {
  uid: string;
  label: string;
  turn: VisitOrder | null;
  lead: number;
  font: number;
};

export type AttachedLeafPlace = Rect & {
  leaf: string;
  label: string;
  turn: VisitOrder | null;
  /** the leaf stands for itself elsewhere */
  again: boolean;
  /** how many gradients it got in this backward */
  met: number;
  shapings: ReshapingNodePlace[];
  dock: AttachedLeaf;
  cy: number;
  lead: number;
  /** characters of its name */
  most: number;
  /** of its type */
  font: number;
};

/** its rectangle is the node's box. */
export type NodePlace = Rect & {
  uid: string;
  block: NodeBlock;
  /** top, bottom: with its leaves and gradients */
  top: number;
  bottom: number;
  cy: number;
  rail: number;
  font: number;
  label: string;
  /** the room before its label */
  lead: number;
  name: string;
  /** whether an edge reaches its rail */
  dot: boolean;
  turn: VisitOrder | null;
  met: number;
  tag: TextPlace | null;
  flags: TextPlace[];
  slots: SlotPlace[];
  /** saved slots that have none */
  moreSlots: (Rect & { keys: string[] }) | null;
  docks: AttachedLeafPlace[];
  grads: GradientPlace[];
  seed: boolean;
  /** how many gradients have none */
  moreGrads: number;
  /** backward is over and let go of what its graph saved */
  past: boolean;
};

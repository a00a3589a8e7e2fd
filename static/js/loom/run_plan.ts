/** What a picture of a run by its modules consists of. Pixels; heights are below the heads. */

import type { ModuleColumn, ColumnGroup, ModuleRun } from "./run_columns.ts";
import type { EdgeRun, NetPlace } from "../nets/net_places.ts";
import type { Phase, Section } from "./run_sections.ts";

export interface RunBox {
  run: ModuleRun;
  column: ModuleColumn;
  x: number;
  y: number;
  w: number;
  h: number;
}

/** What an optimizer wrote of a column's parameters. */
export interface StepBox extends Omit<RunBox, "run"> {
  key: string;
  step: number;
  parameters: string[];
}

/** An edge from the box that made something to the box that read it; reversed for backward. */
export interface BoxEdge {
  key: string;
  from: RunBox;
  to: RunBox;
  kind: "forward" | "backward";
  /** the step at which the edge is traversed */
  step: number;
  /** other columns lie between */
  skips: boolean;
  cut: EdgeRun["cut"];
}

export interface PhasePlace {
  phase: Phase;
  y: number;
  h: number;
  boxes: RunBox[];
  stepBoxes: StepBox[];
  /** of the moments, and last the bottom */
  heights: number[];
  steps: number[];
}

export interface SectionPlace {
  section: Section;
  /** drawn in full */
  isFull: boolean;
  y: number;
  h: number;
  phases: PhasePlace[];
  bars: KeptBar[];
  edges: BoxEdge[];
}

/** Rounds that there is no room for. */
export interface HiddenRounds {
  y: number;
  h: number;
  count: number;
  /** the nearest of them */
  section: Section;
}

export interface RunLayout {
  width: number;
  /** without the heads */
  height: number;
  /** of the heads */
  head: number;
  /** where the columns begin */
  left: number;
  columnWidth: number;
  columns: ModuleColumn[];
  groups: ColumnGroup[];
  columnOf: Map<NetPlace, ModuleColumn>;
  sections: SectionPlace[];
  hidden: HiddenRounds[];
}

/** What is kept from one step until another lets go of it; released: null where none does. from, to: heights */
interface KeptPiece {
  bytes: number;
  birth: number;
  released: number | null;
  from: number;
  to: number;
}

export interface KeptBar {
  key: string;
  column: ModuleColumn;
  pieces: KeptPiece[];
}

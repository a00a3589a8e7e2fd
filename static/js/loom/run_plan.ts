/** What a picture of a run by its modules consists of. Pixels; heights are below the heads. */

import type { ModuleColumn, Group, ModuleRun } from "./run_columns.ts";
import type { EdgeRun, Place } from "../nets/net_places.ts";
import type { Phase, Section } from "./run_sections.ts";

export interface Box {
  run: ModuleRun;
  column: ModuleColumn;
  x: number;
  y: number;
  w: number;
  h: number;
}

/** What an optimizer wrote of a column's parameters. */
export interface StepBox extends Omit<Box, "run"> {
  key: string;
  step: number;
  parameters: string[];
}

/** A way from what made something to what read it; backward goes it the other way round. */
export interface Way {
  key: string;
  from: Box;
  to: Box;
  kind: "forward" | "backward";
  /** the step by which it has been gone */
  step: number;
  /** other columns lie between */
  skips: boolean;
  cut: EdgeRun["cut"];
}

export interface PhasePlace {
  phase: Phase;
  y: number;
  h: number;
  boxes: Box[];
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
  ways: Way[];
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
  groups: Group[];
  columnOf: Map<Place, ModuleColumn>;
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

/** How a cell depends on the situation: which of tensor, memory and mode make a difference, and to what. */

import type { CellVerdict } from "./filter.ts";

export interface MatrixCell {
  verdict: CellVerdict;
  detail?: string;
}

type SituationDimension = "tensor" | "memory" | "mode";

interface VerdictTable {
  dimensions: SituationDimension[];
  /** values of the dimensions that matter but the last */
  rows: string[][];
  /** of the last, or one of no name */
  columns: string[];
  /** a situation's name */
  at: (row: string[], column: string) => string;
}

/** In the order in which the name of a situation has them. */
const SITUATION_DIMENSIONS: SituationDimension[] = ["tensor", "memory", "mode"];

/** Every value of a dimension, in order. */
function valuesOfSituationDimension(situations: string[], index: number) {
  return [...new Set(situations.map((name) => name.split(".")[index]))];
}

/** The dimensions that change a verdict. `cells` are by the situation's name. */
export function dimensionsThatChangeVerdict(cells: Record<string, MatrixCell>): SituationDimension[] {
  const situations = Object.keys(cells);
  return SITUATION_DIMENSIONS.filter((_, index) =>
    situations.some((name) =>
      valuesOfSituationDimension(situations, index).some(
        (value) => cells[name].verdict !== cells[situationWithValue(name, index, value)].verdict,
      ),
    ),
  );
}

function situationWithValue(situation: string, index: number, value: string) {
  return situation.split(".").with(index, value).join(".");
}

/**
 * A small table of the verdicts, no larger than it has to be. `current` is the situation that the page shows: what does
 * not matter is as it is there.
 */
export function verdictTable(cells: Record<string, MatrixCell>, current: string): VerdictTable {
  const situations = Object.keys(cells);
  const dimensions = dimensionsThatChangeVerdict(cells);
  const columnDimension = dimensions.findLast((name) => name !== "tensor");
  const rowDimensions = dimensions
    .filter((name) => name !== columnDimension)
    .map((name) => SITUATION_DIMENSIONS.indexOf(name));
  const rows = rowDimensions.reduce(
    (combinations: string[][], index) =>
      combinations.flatMap((row) => valuesOfSituationDimension(situations, index).map((value) => [...row, value])),
    [[]],
  );
  const columnIndex = columnDimension ? SITUATION_DIMENSIONS.indexOf(columnDimension) : -1;
  return {
    dimensions,
    rows,
    columns: columnDimension ? valuesOfSituationDimension(situations, columnIndex) : [""],
    at(row, value) {
      const rowSituation = row.reduce((name, part, k) => situationWithValue(name, rowDimensions[k], part), current);
      return value ? situationWithValue(rowSituation, columnIndex, value) : rowSituation;
    },
  };
}

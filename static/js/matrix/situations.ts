/** How a cell depends on the situation: which of tensor, memory and mode make a difference, and to what. */

import type { Verdict } from "./filter.ts";

export interface Cell {
  verdict: Verdict;
  detail?: string;
}

type Dimension = "tensor" | "memory" | "mode";

interface VerdictTable {
  dimensions: Dimension[];
  /** values of the dimensions that matter but the last */
  rows: string[][];
  /** of the last, or one of no name */
  columns: string[];
  /** a situation's name */
  at: (row: string[], column: string) => string;
}

/** In the order in which the name of a situation has them. */
const DIMENSIONS: Dimension[] = ["tensor", "memory", "mode"];

/** Every value of a dimension, in order. */
function valuesOfDimension(situations: string[], index: number) {
  return [...new Set(situations.map((name) => name.split(".")[index]))];
}

/** The dimensions that change a verdict. @param cells by the situation's name */
export function decisiveDimensions(cells: Record<string, Cell>): Dimension[] {
  const situations = Object.keys(cells);
  return DIMENSIONS.filter((_, index) =>
    situations.some((name) =>
      valuesOfDimension(situations, index).some(
        (value) => cells[name].verdict !== cells[withValue(name, index, value)].verdict,
      ),
    ),
  );
}

function withValue(situation: string, index: number, value: string) {
  return situation.split(".").with(index, value).join(".");
}

/**
 * A small table of the verdicts, no larger than it has to be.
 * @param current the situation that the page shows: what does not matter is as it is there
 */
export function verdictTable(cells: Record<string, Cell>, current: string): VerdictTable {
  const situations = Object.keys(cells);
  const dimensions = decisiveDimensions(cells);
  const columnDimension = dimensions.findLast((name) => name !== "tensor");
  const rowDimensions = dimensions.filter((name) => name !== columnDimension).map((name) => DIMENSIONS.indexOf(name));
  const rows = rowDimensions.reduce(
    (combinations: string[][], index) =>
      combinations.flatMap((row) => valuesOfDimension(situations, index).map((value) => [...row, value])),
    [[]],
  );
  const columnIndex = columnDimension ? DIMENSIONS.indexOf(columnDimension) : -1;
  return {
    dimensions,
    rows,
    columns: columnDimension ? valuesOfDimension(situations, columnIndex) : [""],
    at(row, value) {
      const rowSituation = row.reduce((name, part, k) => withValue(name, rowDimensions[k], part), current);
      return value ? withValue(rowSituation, columnIndex, value) : rowSituation;
    },
  };
}

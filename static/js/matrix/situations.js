/** How a cell depends on the situation: which of tensor, memory and mode make a difference, and to what. */

/**
 * @typedef {import("./filter.js").Verdict} Verdict
 * @typedef {{verdict: Verdict, detail?: string}} Cell
 * @typedef {"tensor" | "memory" | "mode"} Dimension
 * @typedef {{dimensions: Dimension[], rows: string[][], columns: string[], at: (row: string[], column: string) => string}} VerdictTable
 *   rows: values of the dimensions that matter but the last; columns: of the last, or one of no name; at: a situation's name
 */

/** In the order in which the name of a situation has them. @type {Dimension[]} */
const DIMENSIONS = ["tensor", "memory", "mode"];

/** Every value of a dimension, in order. @param {string[]} situations @param {number} index */
function valuesOfDimension(situations, index) {
  return [...new Set(situations.map((name) => name.split(".")[index]))];
}

/** The dimensions that change a verdict. @param {Record<string, Cell>} cells by the situation's name @returns {Dimension[]} */
export function decisiveDimensions(cells) {
  const situations = Object.keys(cells);
  return DIMENSIONS.filter((_, index) =>
    situations.some((name) =>
      valuesOfDimension(situations, index).some(
        (value) => cells[name].verdict !== cells[withValue(name, index, value)].verdict,
      ),
    ),
  );
}

/** @param {string} situation @param {number} index @param {string} value */
function withValue(situation, index, value) {
  return situation.split(".").with(index, value).join(".");
}

/** A small table of the verdicts, no larger than it has to be. @param {Record<string, Cell>} cells @param {string} current
 * the situation that the page shows: what does not matter is as it is there @returns {VerdictTable} */
export function verdictTable(cells, current) {
  const situations = Object.keys(cells);
  const dimensions = decisiveDimensions(cells);
  const columnDimension = dimensions.findLast((name) => name !== "tensor");
  const rowDimensions = dimensions.filter((name) => name !== columnDimension).map((name) => DIMENSIONS.indexOf(name));
  const rows = rowDimensions.reduce(
    (/** @type {string[][]} */ combinations, index) =>
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

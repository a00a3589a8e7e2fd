/** The tables of parameters and of modules as CSV. What is not known is empty. */

import { normAsNumber, parameterStatesOf, type ParameterState } from "../findings/account/parameter_rounds.ts";
import { moduleTable, type ModuleRow } from "./module_table.ts";
import type { OpenTrace } from "../trace/state.ts";

type Cell = string | number | boolean | null | undefined;

const PARAMETER_HEADINGS = [
  "name",
  "also",
  "shape",
  "numbers",
  "dtype",
  "optimizer",
  "group",
  "lr",
  "learns",
  "updated",
  "rounds",
  "gradient_norm",
  "gradient_scale",
  "weight_norm",
  "moved",
  "step",
];

/** The parameters after a step, which counts from 0; below, the modules of the run. */
export function tablesCsv(opened: OpenTrace, step: number): string {
  const parameters = parameterLines(parameterStatesOf(opened).at(step), step);
  return [csvText(parameters), csvText(moduleLines(moduleTable(opened).rows))].join("\n");
}

function parameterLines(moments: ParameterState[], step: number): Cell[][] {
  const rows = moments.map(({ row, held_by, learns, updated, rounds, gradient, scale, weight }) => [
    row.name,
    row.also.join(" "),
    shapeCell(row.shape),
    row.numbers,
    row.dtype,
    held_by.map(({ optimizer }) => optimizer).join(" "),
    held_by.map(({ group }) => group).join(" "),
    held_by.map(({ lr }) => lr ?? "").join(" "),
    learns,
    updated,
    rounds.length,
    gradient === null ? "None" : normAsNumber(gradient),
    scale,
    normAsNumber(weight),
    rounds[rounds.length - 1]?.moved,
    step,
  ]);
  return [PARAMETER_HEADINGS, ...rows];
}

function moduleLines(rows: ModuleRow[]): Cell[][] {
  const headings = ["path", "type", "calls", "inputs", "outputs", "parameters", "trainable", "operations", "kept"];
  return [
    headings,
    ...rows.map((row) => [
      row.path,
      row.type,
      row.calls,
      row.inputs.map(shapeCell).join(" "),
      row.outputs.map(shapeCell).join(" "),
      row.parameters,
      row.trainable,
      row.operations,
      row.kept,
    ]),
  ];
}

/** `2x3`; `()` of a number alone, `?` where it is not known: as `gradbox summary --csv` has it. */
function shapeCell(shape: number[] | null) {
  return shape === null ? "?" : shape.join("x") || "()";
}

/** RFC 4180, but with line feeds. */
export function csvText(lines: Cell[][]) {
  return lines.map((line) => `${line.map(csvCell).join(",")}\n`).join("");
}

function csvCell(value: Cell) {
  const text = cellText(value);
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

function cellText(value: Cell) {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  return String(value);
}

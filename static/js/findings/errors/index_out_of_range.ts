/**
 * An index beyond the end: of an embedding, of the classes of a loss, of a dimension. Which value, and which are
 * allowed.
 */

import { findHandle } from "../../trace/entities.ts";
import { chainLink, namesInFacts, type Diagnosis } from "../finding.ts";
import { cellsReadBy, cellAsNumber } from "../facts/cell_values.ts";
import { operandsOf, shapeText, type Operand } from "./operands.ts";
import { operationName } from "../facts/operation_name.ts";
import type { RunFacts } from "../facts/run_facts.ts";
import type { DiagnosisRow } from "../diagnosis_row.ts";

export const ERROR_FINDINGS: DiagnosisRow[] = [
  { kind: "index_out_of_range", severity: "error", diagnose: diagnoseIndexOutOfRange, onError: true },
];

interface IndexLookup {
  variant: string;
  from: Operand;
  index: Operand;
  size: number;
}

const OUT_OF_RANGE_ERROR = /out of (?:range|bounds)/;
const INTEGER_DTYPE = /^u?int(?:8|16|32|64)$/;

function diagnoseIndexOutOfRange(facts: RunFacts): Diagnosis[] {
  const { message = "", type = "" } = facts.error ?? {};
  const op = facts.failedOperation;
  if (!op || !/^(?:IndexError|RuntimeError)$/.test(type) || !OUT_OF_RANGE_ERROR.test(message)) return [];
  const name = operationName(op.name);
  const lookup = indexLookupOf(name, operandsOf(facts, op), message);
  const value = lookup ? firstIndexOutOfRange(facts, lookup, op.step) : null;
  if (!lookup || value === null) return [];
  const { variant, from: lookedUpIn, index, size } = lookup;
  const findingFacts = {
    x: index.name,
    y: lookedUpIn.name,
    y_shape: shapeText(lookedUpIn.shape),
    value,
    size,
    last: size - 1,
    op: name,
    code: facts.statementFact(op.step),
  };
  const madeLinks = [lookedUpIn, index]
    .filter((operand) => operand.made < op.step)
    .map((operand) =>
      chainLink(
        facts.place(operand.made),
        "made",
        { ...findingFacts, x: operand.name, code: facts.statementFact(operand.made) },
        [operand.uid],
      ),
    )
    .sort((a, b) => a.step - b.step);
  return [
    {
      variant,
      cause: facts.place(op.step),
      chain: [...madeLinks, chainLink(facts.place(op.step), "checked", findingFacts, [index.uid, lookedUpIn.uid])],
      names: namesInFacts(index.name, lookedUpIn.name),
      facts: findingFacts,
      fixes: [],
      explainsError: true,
    },
  ];
}

/** What is looked up in what. */
function indexLookupOf(op: string, operands: Operand[], message: string): IndexLookup | null {
  const index = operands.find(({ dtype }, k) => INTEGER_DTYPE.test(dtype) && (k > 0 || op === "embedding"));
  const lookedUpIn = operands.find((operand) => operand !== index);
  if (!index || !lookedUpIn) return null;
  if (op === "embedding") return { variant: "embedding", from: lookedUpIn, index, size: lookedUpIn.shape[0] };
  if (/^(?:cross_entropy_loss|nll_loss\w*)$/.test(op))
    return { variant: "classes", from: lookedUpIn, index, size: lookedUpIn.shape[lookedUpIn.shape.length > 1 ? 1 : 0] };
  const statedSize = /size (\d+)/.exec(message)?.[1];
  return statedSize === undefined ? null : { variant: "dimension", from: lookedUpIn, index, size: Number(statedSize) };
}

/** The first number that is no index; null where none of those that are known is beyond. */
function firstIndexOutOfRange(facts: RunFacts, { variant, index, size }: IndexLookup, step: number) {
  const handle = findHandle(facts.stateAt(step), index.uid) ?? facts.handle(index.uid, step);
  const cells = handle ? (cellsReadBy(facts.stateAt(step), handle) ?? []) : [];
  const minimum = variant === "dimension" ? -size : 0;
  return (
    cells.map(cellAsNumber).find((number) => Number.isFinite(number) && (number < minimum || number >= size)) ?? null
  );
}

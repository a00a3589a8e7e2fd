/**
 * An index beyond the end: of an embedding, of the classes of a loss, of a dimension. Which value, and which are
 * allowed.
 */

import { declareErrorDiagnosis, operationName, type RunFacts } from "../diagnosis.ts";
import { tupleText } from "../../trace/format.ts";
import { findHandle } from "../../trace/entities.ts";
import { cellsReadBy, cellAsNumber } from "../facts/cell_values.ts";
import { creationLinks, operandsOf, type Operand } from "./operands.ts";

export const ERROR_FINDINGS = [
  declareErrorDiagnosis({
    kind: "index_out_of_range",
    message: /out of (?:range|bounds)/,
    say: (facts, _, { input: message }) => {
      const op = facts.failedOperation;
      if (!op || !/^(?:IndexError|RuntimeError)$/.test(facts.error?.type ?? "")) return null;
      const name = operationName(op.name);
      const lookup = indexLookupOf(name, operandsOf(facts, op), message);
      const value = lookup ? firstIndexOutOfRange(facts, lookup, op.step) : null;
      if (!lookup || value === null) return null;
      const { variant, from: lookedUpIn, index, size } = lookup;
      return {
        variant,
        cause: op.step,
        chain: [...creationLinks([lookedUpIn, index], op.step), [op.step, "checked", [index.uid, lookedUpIn.uid]]],
        names: [index.name, lookedUpIn.name],
        facts: {
          x: index.name,
          y: lookedUpIn.name,
          y_shape: tupleText(lookedUpIn.shape),
          value,
          size,
          last: size - 1,
          op: name,
        },
      };
    },
  }),
];

interface IndexLookup {
  variant: string;
  from: Operand;
  index: Operand;
  size: number;
}

const INTEGER_DTYPE = /^u?int(?:8|16|32|64)$/;

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

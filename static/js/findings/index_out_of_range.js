/** An index beyond the end: of an embedding, of the classes of a loss, of a dimension. Which value, and which are allowed. */

import { findHandle } from "../trace/entities.js";
import { link, namesOf } from "./finding.js";
import { cellsRead, numberOf } from "./numbers.js";
import { operandsOf, shapeText } from "./operands.js";
import { operationName } from "./operation_name.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./operands.js").Operand} Operand */
/** @typedef {{variant: string, from: Operand, index: Operand, size: number}} Lookup */

const MESSAGE = /out of (?:range|bounds)/;
const INTEGER_DTYPE = /^u?int(?:8|16|32|64)$/;

/** @param {RunFacts} facts @returns {import("./finding.js").Diagnosis[]} */
export function indexOutOfRange(facts) {
  const { message = "", type = "" } = facts.error ?? {};
  const op = facts.failedOperation;
  if (!op || !/^(?:IndexError|RuntimeError)$/.test(type) || !MESSAGE.test(message)) return [];
  const name = operationName(op.name);
  const lookup = lookupOf(name, operandsOf(facts, op), message);
  const value = lookup ? indexOutside(facts, lookup, op.step) : null;
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
    code: facts.codeFact(op.step),
  };
  const madeLinks = [lookedUpIn, index]
    .filter((operand) => operand.made < op.step)
    .map((operand) =>
      link(
        facts.place(operand.made),
        "made",
        { ...findingFacts, x: operand.name, code: facts.codeFact(operand.made) },
        [operand.uid],
      ),
    )
    .sort((a, b) => a.step - b.step);
  return [
    {
      variant,
      cause: facts.place(op.step),
      chain: [...madeLinks, link(facts.place(op.step), "checked", findingFacts, [index.uid, lookedUpIn.uid])],
      names: namesOf(index.name, lookedUpIn.name),
      facts: findingFacts,
      fixes: [],
      explainsError: true,
    },
  ];
}

/** What is looked up in what. @param {string} op @param {Operand[]} operands @param {string} message @returns {Lookup | null} */
function lookupOf(op, operands, message) {
  const index = operands.find(({ dtype }, k) => INTEGER_DTYPE.test(dtype) && (k > 0 || op === "embedding"));
  const lookedUpIn = operands.find((operand) => operand !== index);
  if (!index || !lookedUpIn) return null;
  if (op === "embedding") return { variant: "embedding", from: lookedUpIn, index, size: lookedUpIn.shape[0] };
  if (/^(?:cross_entropy_loss|nll_loss\w*)$/.test(op))
    return { variant: "classes", from: lookedUpIn, index, size: lookedUpIn.shape[lookedUpIn.shape.length > 1 ? 1 : 0] };
  const statedSize = /size (\d+)/.exec(message)?.[1];
  return statedSize === undefined ? null : { variant: "dimension", from: lookedUpIn, index, size: Number(statedSize) };
}

/** The first number that is no index; null where none of those that are known is beyond. @param {RunFacts} facts
 * @param {Lookup} lookup @param {number} step */
function indexOutside(facts, { variant, index, size }, step) {
  const handle = findHandle(facts.state(step), index.uid) ?? facts.handle(index.uid, step);
  const cells = handle ? (cellsRead(facts.state(step), handle) ?? []) : [];
  const minimum = variant === "dimension" ? -size : 0;
  return cells.map(numberOf).find((number) => Number.isFinite(number) && (number < minimum || number >= size)) ?? null;
}

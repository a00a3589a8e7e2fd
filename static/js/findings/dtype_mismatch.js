/** An operation was refused because its operands are of different dtypes: which, and where the odd one has it from. */

import { mentionedTensors } from "./expressions.js";
import { fix, link, namesOf } from "./finding.js";
import { operandsOf } from "./operands.js";
import { operationName } from "./operation_name.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./operands.js").Operand} Operand */

const MESSAGE =
  /same dtype|scalar type|Found dtype|expected .*dtype|dtype .*(?:expected|but got|does not match)|can't be cast|to have the same dtype|not implemented for '|could not infer output dtype|must be (?:long|floating|either a floating)|Expected tensor for argument .* to have .*type|data type|tensors used as indices must be|dtypes? to be the same|Input type \(/i;

/** @param {RunFacts} facts @returns {import("./finding.js").Diagnosis[]} */
export function dtypeMismatch(facts) {
  if (!facts.error || !MESSAGE.test(facts.error.message)) return [];
  const op = facts.failedOperation;
  const step = op?.step ?? facts.errorStep;
  const operands = op ? operandsOf(facts, op) : mentionedOperands(facts, step);
  if (!operands.length) return [];
  const index = /used as indices|argument .*(?:indices|index)|dtype \S*int64 for index/i.test(facts.error.message)
    ? operands.at(-1)
    : /target/i.test(facts.error.message) && operands.every(({ dtype }) => dtype === operands[0].dtype)
      ? operands[1]
      : undefined;
  const a = index ?? operands.find((operand) => !isParameter(operand)) ?? operands[0];
  const b = index ? undefined : operands.find(({ dtype }) => dtype !== a.dtype);
  const odd = b ? operandToConvert(a, b) : a;
  const other = b ? (odd === a ? b : a) : null;
  const all = {
    x: odd.name,
    x_dtype: odd.dtype,
    y: other?.name ?? "",
    y_dtype: other?.dtype ?? "",
    wanted: requiredDtype(facts.error.message, other),
    op: op ? operationName(op.name) : "",
    code: facts.codeFact(step),
    message: facts.error.message.split("\n")[0],
  };
  const chain = operands
    .filter((operand) => (operand === odd || operand === other) && operand.made < step)
    .map((operand) =>
      link(
        facts.place(operand.made),
        "made",
        { ...all, x: operand.name, x_dtype: operand.dtype, code: facts.codeFact(operand.made) },
        [operand.uid],
      ),
    )
    .sort((first, second) => first.step - second.step);
  return [
    {
      variant: other ? undefined : "alone",
      cause: facts.place(step),
      chain: [...chain, link(facts.place(step), "checked", all, [odd.uid, other?.uid])],
      names: namesOf(odd.name, other?.name),
      facts: all,
      fixes: [
        fix("convert", facts.place(step), {
          name: facts.nameText(odd.uid, step) ?? "",
          dtype: requiredDtype(facts.error.message, other),
        }),
        fix("out_of_place", facts.place(step)),
      ],
      explainsError: true,
    },
  ];
}

/** Whether an operand has the name of a layer's parameter. @param {Operand} operand */
function isParameter({ name }) {
  return typeof name === "object" && "code" in name && /\.(weight|bias)$/.test(name.code);
}

/** The operand that a reader would convert: the one that is no parameter, and of two the one that is not float32.
 * @param {Operand} a @param {Operand} b */
function operandToConvert(a, b) {
  if (isParameter(a) !== isParameter(b)) return isParameter(a) ? b : a;
  return a.dtype === "float32" ? b : a;
}

/** @param {string} message @param {Operand | null} other */
function requiredDtype(message, other) {
  if (/int64 for index/.test(message)) return "long";
  if (
    /Long/.test(message) &&
    /expected.*Long|must be long|one of the following scalar types: Long|used as indices|to be Long/i.test(message)
  )
    return "long";
  return other?.dtype ?? "float32";
}

/** @param {RunFacts} facts @param {number} step @returns {Operand[]} */
function mentionedOperands(facts, step) {
  return mentionedTensors(facts, step).flatMap(({ uid, text }) => {
    const tensor = facts.tensor(uid, step);
    if (!tensor) return [];
    const shape = tensor.shape ?? [];
    return [
      {
        uid,
        name: { code: text },
        shape,
        dtype: tensor.dtype ?? "",
        made: Math.max(0, facts.birth(uid)),
        isNumber: !shape.length,
      },
    ];
  });
}

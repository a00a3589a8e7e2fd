/** An operation was refused because its operands are of different dtypes: which, and where the odd one has it from. */

import { declareErrorDiagnosis, operationName, type Operation, type RunFacts } from "../diagnosis.ts";
import { mentionedTensors } from "../statements/mentioned_entities.ts";
import { creationLinks, operandOf, operandsOf, type Operand } from "./operands.ts";

export const ERROR_FINDINGS = [
  declareErrorDiagnosis({
    kind: "dtype_mismatch",
    message:
      /same dtype|scalar type|Found dtype|expected .*dtype|dtype .*(?:expected|but got|does not match)|can't be cast|to have the same dtype|not implemented for '|could not infer output dtype|must be (?:long|floating|either a floating)|Expected tensor for argument .* to have .*type|data type|tensors used as indices must be|dtypes? to be the same|Input type \(/i,
    say: (facts, raised, { input: message }) => {
      const op = facts.failedOperation;
      const step = op?.step ?? raised;
      const operands = op ? operandsOf(facts, op) : mentionedOperands(facts, step);
      if (!operands.length) return null;
      const indexOperand = /used as indices|argument .*(?:indices|index)|dtype \S*int64 for index/i.test(message)
        ? operands.at(-1)
        : isAboutLossTarget(message, op) && operands.every(({ dtype }) => dtype === operands[0].dtype)
          ? operands[1]
          : undefined;
      const named = indexOperand ? null : operandsNamedInMessage(message, operands);
      const firstOperand = indexOperand ?? named?.[0] ?? operands.find((each) => !isParameter(each)) ?? operands[0];
      const operandOfOtherDtype = indexOperand
        ? undefined
        : (named?.[1] ?? operands.find(({ dtype }) => dtype !== firstOperand.dtype));
      const oddOperand = operandOfOtherDtype ? operandToConvert(firstOperand, operandOfOtherDtype) : firstOperand;
      const otherOperand = operandOfOtherDtype
        ? oddOperand === firstOperand
          ? operandOfOtherDtype
          : firstOperand
        : null;
      const taking = operands.filter((operand) => operand === oddOperand || operand === otherOperand);
      const wanted = requiredDtype(message, otherOperand);
      return {
        variant: otherOperand ? undefined : "alone",
        cause: step,
        chain: [...creationLinks(taking, step), [step, "checked", [oddOperand.uid, otherOperand?.uid]]],
        names: [oddOperand.name, otherOperand?.name],
        facts: {
          x: oddOperand.name,
          x_dtype: oddOperand.dtype,
          y: otherOperand?.name ?? "",
          y_dtype: otherOperand?.dtype ?? "",
          wanted,
          op: op ? operationName(op.name) : "",
          message: message.split("\n")[0],
        },
        fixes: [["convert", { name: facts.nameText(oddOperand.uid, step) ?? "", dtype: wanted }], ["out_of_place"]],
      };
    },
  }),
];

/** What torch calls a dtype in these messages. */
const SCALAR_TYPES: Record<string, string> = {
  Float: "float32",
  Double: "float64",
  Half: "float16",
  BFloat16: "bfloat16",
  Long: "int64",
  Int: "int32",
};

/** Of the dtypes that a message says were expected and found the first operands; null where it names none of them. */
function operandsNamedInMessage(message: string, operands: Operand[]): [Operand, Operand] | null {
  const [, expected, found] = /expected scalar type (\w+) but found (\w+)/.exec(message) ?? [];
  const [wanted, odd] = [expected, found].map((type) => operands.find(({ dtype }) => dtype === SCALAR_TYPES[type]));
  return wanted && odd ? [wanted, odd] : null;
}

/** Whether torch refused the target of a loss; 2.11 doesn't call it that. */
function isAboutLossTarget(message: string, op: Operation | null | undefined) {
  if (/target/i.test(message)) return true;
  return /^expected scalar type Long/.test(message) && !!op && /cross_entropy|nll_loss/.test(operationName(op.name));
}

/** Whether an operand has the name of a layer's parameter. */
function isParameter({ name }: Operand) {
  return typeof name === "object" && "code" in name && /\.(weight|bias)$/.test(name.code);
}

/** The operand that a reader would convert: the one that is no parameter, and of two the one that is not float32. */
function operandToConvert(a: Operand, b: Operand) {
  if (isParameter(a) !== isParameter(b)) return isParameter(a) ? b : a;
  return a.dtype === "float32" ? b : a;
}

function requiredDtype(message: string, otherOperand: Operand | null) {
  if (/int64 for index/.test(message)) return "long";
  if (
    /Long/.test(message) &&
    /expected.*Long|must be long|one of the following scalar types: Long|used as indices|to be Long/i.test(message)
  )
    return "long";
  return otherOperand?.dtype ?? "float32";
}

function mentionedOperands(facts: RunFacts, step: number): Operand[] {
  return mentionedTensors(facts, step).flatMap(({ uid, text }) => operandOf(facts, uid, step, () => ({ code: text })));
}

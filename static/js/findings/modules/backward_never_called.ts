/** A `backward` of a module, which autograd never calls: the gradient that it was to change passes as it is. */

import { codeFact, diagnosis, operationName, type Diagnosis, type RunFacts } from "../diagnosis.ts";
import { importedPath } from "../../syntax/expressions.ts";
import { functionParameters } from "../../syntax/name_uses.ts";
import { textOfStatement } from "../../syntax/statement_text.ts";
import { mayCallMethod } from "../../syntax/statements.ts";
import { childOf, childrenOf, statementTrees, walk, type SyntaxNode } from "../../syntax/tree.ts";
import { moduleCallsOf } from "../../trace/module_calls.ts";

export const FINDINGS = [
  diagnosis({
    kind: "backward_never_called",
    severity: "warning",
    when: ({ ranToItsEnd, trace: { program } }) =>
      ranToItsEnd &&
      !mayCallMethod(program, ...HOOKS) &&
      statementTrees(program).every((tree) => tree && ![...walk(tree)].some(mayCallBackwardOfModule)),
    of: backwardMethodsOfModules,
    say: diagnosisOf,
  }),
];

const HOOKS = ["register_hook", "register_full_backward_hook", "register_backward_hook", "register_multi_grad_hook"];
const GRADIENT = /grad|^g$|^d_?(?:out|y)/i;
/** What a forward may do and still mean to give back what it got, or a step function of it. */
const PLAIN = /^(?:view|view_as|alias|clone|detach|sign|sgn|round|floor|ceil)$/;

/** Whether it hands a method `backward` on, or calls one with an argument. */
function mayCallBackwardOfModule({ kind, value, field, parent }: SyntaxNode) {
  if (value !== "backward") return false;
  return kind === "Constant" || (kind === "Attribute" && (field !== "func" || childrenOf(parent, "args").length > 0));
}

/** The statements that define them, with the class. */
function backwardMethodsOfModules({ trace: { program } }: RunFacts) {
  const trees = statementTrees(program);
  return trees.flatMap((tree, stmt) => {
    const { parent, end_line: endLine } = program.statements?.[stmt] ?? {};
    const [around, gradient] = [trees[parent ?? -1], tree && functionParameters(tree)[1]?.value];
    const bases = childrenOf(around, "bases");
    const isModule = around?.kind === "ClassDef" && bases.length === 1 && importedPath(bases[0]) === "torch.nn.Module";
    if (tree?.value !== "backward" || !isModule || !GRADIENT.test(String(gradient))) return [];
    // one that only hands the gradient on is not missed
    const passes = trees.some(
      (inner, k) =>
        program.statements?.[k].parent === stmt &&
        inner?.kind === "Return" &&
        childOf(inner, "value")?.kind === "Name" &&
        childOf(inner, "value")?.value === gradient,
    );
    return passes ? [] : [{ stmt, line: tree.line, endLine: endLine ?? tree.line, type: String(around.value) }];
  });
}

function diagnosisOf(
  facts: RunFacts,
  { stmt, line, endLine, type }: ReturnType<typeof backwardMethodsOfModules>[number],
): Diagnosis | null {
  const frames = facts.index.frameChanges.map(({ fields }) => fields);
  if (frames.some((frame) => frame.name === "backward" && Number(frame.line) >= line && Number(frame.line) <= endLine))
    return null;
  for (const { type: called, inputs, outputs, begins, ends } of moduleCallsOf(facts.opened).calls.values()) {
    if (called !== type || inputs.length !== 1 || outputs.length !== 1) continue;
    const maker = inputs[0] === outputs[0] ? null : facts.producingOperation(outputs[0]);
    if (maker === undefined || (maker && (maker.inputs[0] !== inputs[0] || !PLAIN.test(operationName(maker.name)))))
      return null;
    const [visit] = facts.visitsOf(facts.gradFnOf(outputs[0], ends ?? begins));
    if (visit === undefined) continue;
    const backward = facts.backwardAt(visit);
    const x = facts.nameFact(inputs[0], begins);
    const code = codeFact(textOfStatement(facts.trace.program, stmt));
    return {
      cause: { line, step: begins },
      chain: [
        [begins, "used", [inputs[0]]],
        backward && [backward, "starts"],
        [{ line, step: visit }, "none", [], { code }],
      ],
      names: [codeFact(type), codeFact("backward")],
      facts: { x, module: codeFact(type), base: codeFact("nn.Module"), code },
    };
  }
  return null;
}

/** An optimizer that got nothing because the generator of parameters had been gone through before. */

import { codeFact, declareErrorDiagnosis, type RunFacts } from "../diagnosis.ts";
import { callArgument, callsIn, calleeName, calleePath } from "../../syntax/expressions.ts";
import { nameUses } from "../../syntax/name_uses.ts";
import { singleAssignment } from "../../syntax/statements.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";

const GENERATOR_MAKERS = new Set(["builtins.filter", "builtins.map", "builtins.iter", "itertools.chain"]);

export const FINDINGS = [
  declareErrorDiagnosis({
    kind: "parameter_detached",
    lookedFor: "cut",
    message: /empty parameter list/,
    say: (facts, step) => {
      const [generator] = callsIn(facts.syntax(step)).flatMap((call) => {
        const params = callArgument(call, "params", 0);
        return (params?.kind === "Name" && exhaustedGeneratorSteps(facts, String(params.value), step)) || [];
      });
      if (!generator) return null;
      const { name, made, used } = generator;
      return {
        variant: "exhausted",
        cause: used,
        chain: [
          [made, "made"],
          [used, "read"],
          [step, "none"],
        ],
        facts: { x: codeFact(name), made: facts.steps[made].line, effect: facts.steps[step].line },
        fixes: [["list_parameters", {}, made]],
      };
    },
  }),
];

/** The frame of a step and, for a variable of a function around it, those that called it. */
function framesOfVariable(facts: RunFacts, name: string, step: number) {
  const frames = new Set<string | null | undefined>();
  for (let uid = facts.steps[step].frame; uid && !frames.has(uid); ) {
    frames.add(uid);
    const fields = facts.scan.initialFields(uid);
    const isFree = fields?.kind === "frame" && fields.free?.includes(name);
    uid = isFree ? fields.caller : null;
  }
  return frames;
}

/**
 * The steps that made the generator of parameters that a name means, and that first went through it, both before
 * another step. null where it is none, or nothing did.
 */
export function exhaustedGeneratorSteps(facts: RunFacts, name: string, before: number) {
  const frames = framesOfVariable(facts, name, before);
  const own = [...facts.steps.keys()].filter(
    (step) => step < before && frames.has(facts.steps[step].frame) && facts.steps[step].kind !== "visit",
  );
  const made = own.findLast((step) => {
    const tree = facts.syntax(step);
    return !tree || nameUses(tree).bound.has(name);
  });
  const tree = made === undefined ? null : facts.syntax(made);
  const named = tree && singleAssignment(tree);
  if (made === undefined || named?.name !== name || !isGenerator(named.value)) return null;
  const used = own.find((step) => step > made && facts.mentionsAt(step).names.has(name));
  return used === undefined ? null : { name, made, used };
}

/** Whether an expression gives what can be gone through only once. */
function isGenerator(node: SyntaxNode): boolean {
  if (node.kind !== "Call") return node.kind === "GeneratorExp";
  const isOfModule = ["parameters", "named_parameters"].includes(calleeName(node));
  return isOfModule || GENERATOR_MAKERS.has(calleePath(node) ?? "");
}

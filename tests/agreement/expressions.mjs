/** What the page says that operations of a trace made: the values of which expressions, for tests. */

import { RunFacts } from "../../static/js/findings/facts/run_facts.ts";
import { operationExpression } from "../../static/js/findings/facts/operation_expression.ts";
import { openTrace } from "../../static/js/trace/state.ts";

export default function expressionsOf(trace) {
  const facts = new RunFacts(openTrace(trace));
  return trace.steps.flatMap((_, step) =>
    facts.opsAt(step).flatMap((op, own, ops) => {
      const expression = operationExpression(trace.program, ops, own);
      const results = op.outputs.map((uid) => facts.tensor(uid, step)).filter((fields) => fields?.dtype);
      if (!expression || results.length !== 1 || results.length !== op.outputs.length) return [];
      const { dtype, shape } = results[0];
      return [{ ...expression, op: op.name, step, uid: op.outputs[0], value: [dtype, shape] }];
    }),
  );
}

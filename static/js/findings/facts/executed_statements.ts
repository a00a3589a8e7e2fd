/** What executed statements say, by their syntax. */

import { statementTrees, type SyntaxNode } from "../../syntax/tree.ts";
import type { RecordedRun } from "./recorded_run.ts";

/** what was found in a statement, at a step that ran it */
interface FoundInStatement<T> {
  step: number;
  stmt: number;
  found: T;
}

/** What is found in the syntax of statements, each time that they run; each statement is looked at once. */
export function findInStatements<T>(
  facts: RecordedRun,
  find: (tree: SyntaxNode, stmt: number) => T[],
): FoundInStatement<T>[] {
  const findings = statementTrees(facts.trace.program).map((tree, stmt) => (tree ? find(tree, stmt) : []));
  if (!findings.some(({ length }) => length)) return [];
  return facts.steps.flatMap(({ kind, stmt }, step) =>
    stmt != null && (kind === "statement" || kind === "return")
      ? (findings[stmt] ?? []).map((found) => ({ step, stmt, found }))
      : [],
  );
}

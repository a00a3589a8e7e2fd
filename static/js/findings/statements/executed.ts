/** The executed statements that say something, found by their syntax. */

import { statementTrees, type SyntaxNode } from "../../syntax/tree.ts";
import type { RunFacts } from "../facts/run_facts.ts";

/**
 * The steps of statements in whose syntax `find` finds something, with what it found; each statement is looked at once.
 */
export function executedWith<T>(
  facts: RunFacts,
  find: (tree: SyntaxNode, stmt: number) => T | null | undefined,
): { step: number; stmt: number; found: T }[] {
  const findings = statementTrees(facts.trace.program).map((tree, stmt) => tree && find(tree, stmt));
  if (!findings.some(Boolean)) return [];
  return facts.steps.flatMap(({ kind, stmt }, step) => {
    const found = kind === "statement" || kind === "return" ? findings[stmt ?? -1] : null;
    return found && stmt != null ? [{ step, stmt, found }] : [];
  });
}

/** What a statement mentions: names, the `.grad` that it reads, and what it writes to. */

import { mentionedNames } from "../../syntax/name_uses.ts";
import { gradReads, namesWritten } from "../../syntax/statements.ts";
import type { SyntaxNode } from "../../syntax/tree.ts";
import type { RecordedRun } from "./recorded_run.ts";
import { weakMemoize } from "../../trace/weak_memoize.ts";

export interface StatementMentions {
  /** whether it is known what it mentions; else all is empty */
  isKnown: boolean;
  /** every name that it reads or binds in its own scope: no keyword, no attribute, no parameter of a lambda */
  names: Set<string>;
  /** what it reads the `.grad` of */
  gradReads: SyntaxNode[];
  /** the names through which it writes, of an assignment, of a method that ends in `_`, of `out=` */
  targets: Set<string>;
}

const UNKNOWN: StatementMentions = { isKnown: false, names: new Set(), gradReads: [], targets: new Set() };

/** What the statement of a step mentions. */
export function mentionsAt(facts: RecordedRun, step: number): StatementMentions {
  const tree = facts.syntax(step);
  return tree ? statementMentions(tree) : UNKNOWN;
}

const statementMentions = weakMemoize(
  (tree: SyntaxNode): StatementMentions => ({
    isKnown: true,
    names: mentionedNames(tree),
    gradReads: gradReads(tree),
    targets: namesWritten(tree),
  }),
);

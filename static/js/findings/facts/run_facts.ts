/** What diagnoses ask of a run, in one vocabulary: what the trace tells, and what is found out of it once for all. */

import { dataflowOf } from "./dataflow.ts";
import { attributeChanges } from "./object_history.ts";
import { optimizerGroups, optimizerParameters, optimizersOf, optimizerWith } from "./optimizers.ts";
import { RecordedRun, type RunError } from "./recorded_run.ts";
import { resolveExpressionUids } from "./resolve.ts";
import { mentionsAt } from "./statement_mentions.ts";
import { cellsOfTensor, numbersOfTensor, rangeOfTensor } from "./tensor_values.ts";
import { statementTrees, type SyntaxNode } from "../../syntax/tree.ts";

/** what was found in a statement, at a step that ran it */
interface FoundInStatement<T> {
  step: number;
  stmt: number;
  found: T;
}

/** Built for one trace; every method answers for the state after a step, unless it says otherwise. */
export class RunFacts extends RecordedRun {
  /** The facts as they would be if another error had ended the run, such as one that the program caught. */
  withError(error: RunError): RunFacts {
    return Object.assign(new RunFacts(this.opened), {
      _scan: this.scan,
      _naming: this.naming,
      _entities: this.entities,
      _history: this.history,
      error,
    });
  }

  /** What tensors were computed from, with or without a history. */
  get dataflow() {
    return dataflowOf(this);
  }

  /** Every attribute that was given or exchanged, in order. */
  get attributeChanges() {
    return attributeChanges(this);
  }

  get optimizers() {
    return [...optimizersOf(this).values()];
  }

  optimizer(uid: string | null | undefined) {
    return optimizersOf(this).get(uid ?? "");
  }

  /** The optimizer that has this uid, or wraps the one that has it. */
  optimizerWith(uid: string | null | undefined) {
    return optimizerWith(optimizersOf(this), uid ?? "");
  }

  /** The tensors in an optimizer's groups. */
  parametersOf(optimizer: string, step: number) {
    return optimizerParameters(this, optimizer, step);
  }

  /** An optimizer's groups of parameters; the last ones where that step freed it. */
  groupsOf(optimizer: string, step: number) {
    return optimizerGroups(this, optimizer, step);
  }

  /** The elements of a tensor, of one that the step freed as it was before; null where they are not listed. */
  cellsOf(uid: string, step: number) {
    return cellsOfTensor(this, uid, step);
  }

  /** The same as numbers. */
  numbersOf(uid: string, step: number) {
    return numbersOfTensor(this, uid, step);
  }

  /** The smallest and the largest element of a tensor; null where the trace tells neither. */
  rangeOf(uid: string, step: number) {
    return rangeOfTensor(this, uid, step);
  }

  /** What is found in the syntax of statements, each time that they run; each statement is looked at once. */
  findInStatements<T>(find: (tree: SyntaxNode, stmt: number) => T[]): FoundInStatement<T>[] {
    const found = statementTrees(this.trace.program).map((tree, stmt) => (tree ? find(tree, stmt) : []));
    if (!found.some(({ length }) => length)) return [];
    return this.steps.flatMap(({ kind, stmt }, step) =>
      stmt != null && (kind === "statement" || kind === "return")
        ? (found[stmt] ?? []).map((each) => ({ step, stmt, found: each }))
        : [],
    );
  }

  /** What the statement of a step mentions. */
  mentionsAt(step: number) {
    return mentionsAt(this, step);
  }

  /**
   * The uid that an expression, a name with attributes and keys in whatever spelling, refers to: read in the frame of
   * `step`, in the state after `stateStep`. Null where the trace doesn't show it, and where it means several things.
   */
  resolve(node: SyntaxNode | null, step: number, stateStep = step): string | null {
    const uids = this.resolveAll(node, step, stateStep);
    return uids.length === 1 ? uids[0] : null;
  }

  /** The uids that an expression refers to: of the variable of a comprehension, one an item. */
  resolveAll(node: SyntaxNode | null, step: number, stateStep = step): string[] {
    return resolveExpressionUids(this, node, step, stateStep);
  }
}

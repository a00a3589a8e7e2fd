/**
 * What a reader calls a thing at a step: a name that leads to it, as the running function reads it; else one of before,
 * which is said as such where it means something else now.
 */

import { codeFact, type Fact } from "../finding.ts";
import { operationExpression } from "./operation_expression.ts";
import { operationName } from "./operation_name.ts";
import type { Names } from "../../trace/names.ts";
import type { ObjectNames } from "../../trace/object_names.ts";
import type { Step, Trace } from "../../trace/wire.ts";
import type { NameBinding, Operation, RunScan } from "./scan.ts";

/** What of a run its names are found from. */
interface NamedRun {
  trace: Trace;
  steps: Step[];
  scan: RunScan;
  namesAt: (step: number) => Names;
  bindingsOf: (uid: string | null | undefined) => NameBinding[];
  objectNamesAt: (step: number, frameUid: string | null) => ObjectNames;
  birthStep: (uid: string | null | undefined) => number;
  lineOf: (step: number) => number | "";
  producingOperation: (uid: string | null | undefined) => Operation | undefined;
  opsAt: (step: number) => Operation[];
}

/** Names of one trace. */
export class EntityNaming {
  facts: NamedRun;

  constructor(facts: NamedRun) {
    this.facts = facts;
  }

  nameFact(uid: string | null | undefined, step: number): Fact {
    const name = uid ? this.nameAt(uid, step) : null;
    const nameInModule = uid && name ? this.nameInModuleScope(uid, step, name) : null;
    if (name) return nameInModule ? { code: name, also: nameInModule } : codeFact(name);
    const earlier = uid ? this.earlierName(uid, step) : null;
    if (earlier) return this.isBound(earlier, step) ? { ...codeFact(earlier), isEarlier: true } : codeFact(earlier);
    const next = uid ? this.nextName(uid, step) : null;
    if (next && !this.isBound(next, step)) return codeFact(next);
    const type = uid?.startsWith("o") && this.facts.scan.initialFields(uid)?.type;
    if (type) return codeFact(type);
    const op = this.facts.producingOperation(uid);
    const ops = op ? this.facts.opsAt(op.step) : [];
    const own = ops.findIndex(({ at }) => at === op?.at);
    const expression = own < 0 ? null : operationExpression(this.facts.trace.program, ops, own);
    if (expression?.isValue) return { result: expression.text, line: expression.line };
    const line = this.facts.lineOf(op?.step ?? this.facts.birthStep(uid));
    const result = { result: op ? this.operationText(op, uid) : "", line };
    return expression ? { ...result, within: expression.text, line: expression.line } : result;
  }

  /** What made a thing; `torch.tensor` is several operations, of which `lift_fresh` is only in that. */
  operationText(op: Operation, uid: string | null | undefined) {
    const isLifted = this.facts
      .opsAt(op.step)
      .some(({ name, inputs }) => name === "aten::lift_fresh" && uid && inputs.includes(uid));
    return isLifted ? "torch.tensor" : operationName(op.name);
  }

  /** What leads to a thing at a step or, failing that, led to it before or will. */
  nameText(uid: string | null | undefined, step: number): string | null {
    if (!uid) return null;
    return this.nameAt(uid, step) ?? this.earlierName(uid, step) ?? this.nextName(uid, step);
  }

  /** The best name of a thing that the function of a step sees; else one of another function's, free in this one. */
  nameAt(uid: string, step: number): string | null {
    if (step < 0) return null;
    const names = this.namesAsRead(step);
    return names.namesOf(uid).find(({ text, scope }) => !scope || !names.isBound(text))?.text ?? null;
  }

  /** The names after a step, as the step's function reads them. */
  namesAsRead(step: number) {
    return this.facts.objectNamesAt(step, this.facts.steps[step]?.frame ?? null);
  }

  /** A name that a thing had and has no more: before the step, of the reader's, when it was made, of others. */
  earlierName(uid: string, step: number): string | null {
    const { steps } = this.facts;
    const bindings = this.facts.bindingsOf(uid).filter((binding) => binding.step <= step);
    const own = bindings.findLast(({ frame }) => frame === steps[step]?.frame || frame === steps[0]?.frame);
    return this.nameAt(uid, step - 1) ?? own?.name ?? this.pathWhenMade(uid, step) ?? bindings.at(-1)?.name ?? null;
  }

  /** The name that it will have first. */
  nextName(uid: string, step: number): string | null {
    return this.facts.bindingsOf(uid).find((binding) => binding.step > step)?.name ?? null;
  }

  /** Whether a name leads to anything at a step. */
  isBound(name: string, step: number) {
    return this.namesAsRead(step).isBound(name);
  }

  /** The name that a thing has in the module, where the running function has another. */
  nameInModuleScope(uid: string, step: number, name: string): string | null {
    if (!this.facts.steps[step]?.depth) return null;
    const moduleName = this.facts.objectNamesAt(step, null).nameOf(uid);
    return moduleName !== name ? moduleName : null;
  }

  /** The path of a `.grad` to its tensor, where it is one: `x.grad`. */
  gradPathAt(uid: string, step: number): string | null {
    const names = step < 0 ? [] : this.namesAsRead(step).namesOf(uid);
    return names.find(({ text }) => text.endsWith(".grad"))?.text ?? null;
  }

  /** Its path when it was made. */
  pathWhenMade(uid: string, step: number) {
    const birth = this.facts.birthStep(uid);
    return birth >= 0 && birth !== step ? this.nameAt(uid, birth) : null;
  }
}

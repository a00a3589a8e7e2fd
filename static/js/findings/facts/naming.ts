/** What a reader calls a thing at a step: the name in the function that runs, a path, or a name of before or after. */

import { codeFact, type Fact } from "../finding.ts";
import { operationName } from "./operation_name.ts";
import type { NameTag, Names } from "../../trace/names.ts";
import type { Step } from "../../trace/wire.ts";
import type { Operation, RunScan } from "./scan.ts";

/** What of a run its names are found from. */
interface NamedRun {
  steps: Step[];
  scan: RunScan;
  namesAt: (step: number) => Names;
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
    const name = this.nameText(uid, step);
    const nameInModule = uid && name ? this.nameInModuleScope(uid, step, name) : null;
    if (name) return nameInModule ? { code: name, also: nameInModule } : codeFact(name);
    const op = this.facts.producingOperation(uid);
    const line = this.facts.lineOf(op?.step ?? this.facts.birthStep(uid));
    return { result: op ? this.operationText(op, uid) : "", line };
  }

  /** What made a thing; `torch.tensor` is several operations, of which `lift_fresh` is only in that. */
  operationText(op: Operation, uid: string | null | undefined) {
    const isLifted = this.facts
      .opsAt(op.step)
      .some(({ name, inputs }) => name === "aten::lift_fresh" && uid && inputs.includes(uid));
    return isLifted ? "torch.tensor" : operationName(op.name);
  }

  nameText(uid: string | null | undefined, step: number): string | null {
    if (!uid) return null;
    return (
      this.nameAt(uid, step) ??
      this.nameAt(uid, step - 1) ??
      this.lastOrNextName(uid, step) ??
      this.pathWhenMade(uid, step)
    );
  }

  /** The best of the names at a step: one of the running function, of the module, a path. */
  nameAt(uid: string, step: number) {
    if (step < 0) return null;
    const { facts } = this;
    const tags = facts.namesAt(step).tags.get(uid) ?? [];
    const { frame } = facts.steps[step] ?? {};
    const rank = ({ kind, frame: of, scope }: NameTag) => (kind === "var" ? (of === frame ? 0 : scope ? 3 : 1) : 2);
    const [bestTag] = [...tags].sort((a, b) => rank(a) - rank(b));
    return bestTag && !bestTag.text.startsWith(".") ? bestTag.text : null;
  }

  /** The name that a thing has in the module, where the running function has another. */
  nameInModuleScope(uid: string, step: number, name: string): string | null {
    if (!this.facts.steps[step]?.depth) return null;
    const tags = this.facts.namesAt(step).tags.get(uid) ?? [];
    const [moduleTag] = tags.filter(({ scope, text }) => !scope && !text.startsWith("."));
    return moduleTag && moduleTag.text !== name ? moduleTag.text : null;
  }

  /** The path of a `.grad` to its tensor, where it is one: `x.grad`. */
  gradPathAt(uid: string, step: number): string | null {
    const tags = step < 0 ? [] : (this.facts.namesAt(step).tags.get(uid) ?? []);
    return tags.find(({ kind, text }) => kind === "grad" && !text.startsWith("."))?.text ?? null;
  }

  /** The name that it last had, or will have first. */
  lastOrNextName(uid: string, step: number) {
    const bindings = this.facts.scan.bindingsByUid.get(uid) ?? [];
    return (bindings.findLast((binding) => binding.step <= step) ?? bindings[0])?.name ?? null;
  }

  /** Its path when it was made. */
  pathWhenMade(uid: string, step: number) {
    const birth = this.facts.birthStep(uid);
    return birth >= 0 && birth !== step ? this.nameAt(uid, birth) : null;
  }
}

/** A tensor that a module reads and no `state_dict` has: a load brings the parameters and leaves it as it was made. */

import { lineOfCandidate, codeFact, diagnosis, type RunFacts } from "../diagnosis.ts";
import { referencedUid } from "../../trace/names.ts";
import { stateDictLoads } from "./load_matched_nothing.ts";

export const FINDINGS = [
  diagnosis({
    kind: "load_matched_nothing",
    severity: "warning",
    of: stateDictLoads,
    once: lineOfCandidate,
    /** Of a module whose tensors were loaded from another of its class, which is there to be compared with. */
    say: (facts, { step, path, module }) => {
      const copies = facts.opsAt(step).filter(({ name, inputs }) => name === "aten::copy_" && inputs.length === 2);
      const loaded = new Set(copies.map(({ inputs }) => inputs[0]));
      const { type } = facts.object(module, step) ?? {};
      const ofClass = facts.index.objectChanges.filter(({ fields, step: made }) => fields.type === type && made < step);
      const alike = new Set(ofClass.map(({ uid }) => uid).filter((uid) => uid !== module));
      if (!loaded.size || alike.size !== 1) return null;
      for (const { name, mine, theirs, changes } of commonTensors(facts, module, [...alike][0], step)) {
        const read = loaded.has(mine) || changes > MAX_VALUES ? -1 : readAfter(facts, mine, step);
        const [own, other] = [mine, theirs].map((uid) => facts.numbersOf(uid, step));
        if (read < 0 || !own || !other || own.join() === other.join()) continue;
        const made = facts.birthStep(mine);
        const [x, y] = [codeFact(`${path}.${name}`), facts.nameFact(theirs, step)];
        return {
          variant: "left_out",
          cause: made,
          chain: [
            [made, "made", [mine]],
            [step, "way", [module]],
            [read, "read", [mine]],
          ],
          facts: { x, y, name: name.split(".").at(-1) ?? name, loaded: facts.lineOf(step), module: codeFact(path) },
        };
      }
      return null;
    },
  }),
];

/** What a module computes and keeps, like a hidden state, gets other values with every call; a table is set once. */
const MAX_VALUES = 2;

interface CommonTensor {
  name: string;
  mine: string;
  theirs: string;
  /** of the other's, how many it has been */
  changes: number;
}

/** The tensors at the same paths in two modules, without parameters. */
function* commonTensors(facts: RunFacts, module: string, other: string, step: number): Generator<CommonTensor> {
  const queue = [{ mine: module, theirs: other, prefix: "" }];
  const seen = new Set<string>();
  for (const { mine, theirs, prefix } of queue) {
    if (seen.has(mine)) continue;
    seen.add(mine);
    const [own, others] = [mine, theirs].map((uid) => facts.object(uid, step)?.attrs ?? {});
    for (const [key, value] of Object.entries(own)) {
      const [a, b] = [referencedUid(value), referencedUid(others[key])];
      if (!a || !b || a === b) continue;
      if (a[0] === "o" && b[0] === "o") queue.push({ mine: a, theirs: b, prefix: `${prefix}${key}.` });
      const isTensor = [a, b].every((uid) => facts.tensor(uid, step)?.type === "Tensor");
      const changes = facts.attributeChanges.filter(({ owner, name }) => owner === theirs && name === key).length;
      if (isTensor) yield { name: prefix + key, mine: a, theirs: b, changes };
    }
  }
}

/** The first step after another one with an operation that takes a tensor; -1 where there is none. */
function readAfter(facts: RunFacts, uid: string, step: number): number {
  for (let at = step + 1; at < facts.steps.length; at++)
    if (facts.opsAt(at).some(({ inputs }) => inputs.includes(uid))) return at;
  return -1;
}

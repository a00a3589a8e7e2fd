/** Parameters that are drawn anew again and again while one optimizer trains them: what was learned is lost. */

import { diagnosis, type RunFacts } from "../diagnosis.ts";
import { groupBy } from "../../trace/multimap.ts";

export const FINDINGS = [
  diagnosis({
    kind: "weights_drawn_again",
    severity: "warning",
    of: (facts) => groupBy(draws(facts), ({ uid }) => uid),
    once: ([{ optimizer }]) => optimizer,
    say: (facts, drawn) => {
      const [{ uid, step, stepped }] = drawn;
      if (drawn.length < MIN_DRAWS) return null;
      return {
        cause: step,
        chain: [
          [stepped, "used", [uid]],
          [step, "written", [uid]],
        ],
        facts: { x: facts.nameFact(uid, stepped), n: drawn.length, trained: facts.lineOf(stepped) },
      };
    },
  }),
];

const MIN_DRAWS = 2;
const DRAW = /^(?:uniform_|normal_|trunc_normal_|kaiming_uniform_|xavier_uniform_|orthogonal_)$/;

/** stepped: the optimizer's last step before a draw, which another step follows */
interface Draw {
  uid: string;
  step: number;
  optimizer: string;
  stepped: number;
}

function draws(facts: RunFacts): Draw[] {
  return facts.optimizers.flatMap(({ uid: optimizer, steps }) => {
    const held = new Set(steps.length ? facts.parametersOf(optimizer, steps[0]) : []);
    const storages = new Map([...held].map((uid) => [facts.storageOf(uid, steps[0]), uid]));
    return facts.scan.operationsNamed(DRAW).flatMap(({ outputs, step }): Draw[] => {
      const uid = storages.get(facts.storageOf(outputs[0], step) ?? "");
      const stepped = steps.findLast((each) => each < step);
      return uid && stepped !== undefined && steps.some((each) => each > step)
        ? [{ uid, step, optimizer, stepped }]
        : [];
    });
  });
}

/** Homes: things stand in the order in which the program made and registered them, what is inside of one right after it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { homes } from "../layout/homes.js";
import { openTrace } from "../state.js";
import { frame, ref, tensor, trace } from "./entities.js";

/** @param {Record<string, any>} attrs */
const object = (attrs) => ({ kind: "object", type: "Module", attrs });

/** @param {any[]} steps @returns {string[]} the paths of tensors, in their order */
function order(steps) {
  const known = homes(openTrace(trace("", steps)));
  return [...known.of]
    .filter(([uid]) => uid[0] === "t")
    .sort(([, a], [, b]) => a.rank - b.rank)
    .map(([, { path }]) => path);
}

test("parameters of a nested module stand as they are registered: by number, not by depth or by digits", () => {
  const set = /** @type {Record<string, any>} */ ({ f1: frame({ net: ref("o1") }), o1: object({}) });
  const names = [];
  for (let k = 0; k <= 12; k++) {
    const inner = k < 12;
    names.push(inner ? `net.${k}.0.weight` : `net.${k}.weight`);
    set.o1.attrs[k] = ref(`o${10 + k}`);
    set[`o${10 + k}`] = object(inner ? { 0: ref(`o${50 + k}`) } : { weight: ref(`t${k}`) });
    if (inner) set[`o${50 + k}`] = object({ weight: ref(`t${k}`) });
    set[`t${k}`] = tensor({ shape: [1] });
  }
  assert.deepEqual(order([{ set }]), names);
});

test("what comes later stands after what was there, whatever it is in", () => {
  const set = {
    f1: frame({ net: ref("o1") }),
    o1: object({ first: ref("o2"), last: ref("t9") }),
    o2: object({ weight: ref("t1") }),
    t1: tensor({ shape: [1] }),
    t9: tensor({ shape: [1] }),
  };
  const later = { o2: object({ weight: ref("t1"), bias: ref("t2") }), t2: tensor({ shape: [1] }) };
  assert.deepEqual(order([{ set }, { set: later }]), ["net.first.weight", "net.last", "net.first.bias"]);
});

/**
 * First names: things stand in the order in which the program made and registered them, what is inside of one right
 * after it.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { findFirstNames } from "../../../layout/memory/first_names.ts";
import { openTrace } from "../../../trace/state.ts";
import { frame, ref, tensor, trace } from "../../entities.ts";

const object = (attrs: Record<string, any>) => ({ kind: "object", type: "Module", attrs });

/** The paths of tensors, in their order. */
function order(steps: any[]): string[] {
  const known = findFirstNames(openTrace(trace("", steps)));
  return [...known.byUid]
    .filter(([uid]) => uid[0] === "t")
    .sort(([, a], [, b]) => a.rank - b.rank)
    .map(([, { path }]) => path);
}

test("parameters of a nested module stand as they are registered: by number, not by depth or by digits", () => {
  const set = { f1: frame({ net: ref("o1") }), o1: object({}) } as Record<string, any>;
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

test("a module that its own statements built stands in their order, as it did in its __init__", () => {
  const inner = {
    o1: object({ body: ref("o2"), head: ref("t2") }),
    o2: object({ weight: ref("t1") }),
    t1: tensor({ shape: [1] }),
    t2: tensor({ shape: [1] }),
  };
  const built = { f1: frame({}), f2: frame({ self: ref("o1") }, { name: "__init__", caller: "f1" }), ...inner };
  const bound = { set: { f1: { vars: { net: ref("o1") } } }, gone: ["f2"] };
  assert.deepEqual(order([{ set: built }, bound]), ["net.body.weight", "net.head"]);
});

test("what an optimizer keeps is named by its parameter, however deep that is", () => {
  const set = {
    f1: frame({ opt: ref("o1"), net: ref("o3") }),
    o1: object({ state: ref("o2") }),
    o2: { kind: "object", type: "dict", items: [[ref("t1"), ref("o9")]] },
    o3: object({ a: ref("o4") }),
    o4: object({ b: ref("o5") }),
    o5: object({ weight: ref("t1") }),
    o9: { kind: "object", type: "dict", items: [["exp_avg", ref("t2")]] },
    t1: tensor({ shape: [1] }),
    t2: tensor({ shape: [1] }),
  };
  const { paths } = openTrace(trace("", [{ set }])).names(0);
  assert.equal(paths.get("t2"), "opt.state[net.a.b.weight]['exp_avg']");
});

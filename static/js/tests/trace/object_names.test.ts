/** What the program calls a thing at a step: names that live, as the running function reads them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { objectNamesAt } from "../../trace/object_names.ts";
import { openTrace } from "../../trace/state.ts";
import { frame, ref, storage, tensor, trace } from "../entities.ts";

const called = (vars: Record<string, unknown>, fields: object) => ({ ...frame(vars as any), ...fields });

/** `f(x)` rebinds its own `x` and returns it. */
function rebinding() {
  return openTrace(
    trace("", [
      { frame: "f1", set: { f1: frame({ x: ref("t1") }), s1: storage([1]), t1: tensor("s1") } },
      { frame: "f2", set: { f2: called({ x: ref("t1") }, { name: "f", caller: "f1" }) } },
      { frame: "f2", set: { f2: { vars: { x: ref("t2") } } as any, s2: storage([2]), t2: tensor("s2") } },
      { frame: "f1", set: { f1: { vars: { p: ref("t2") } } as any }, gone: ["f2"] },
    ]),
  );
}

test("a variable of the running function hides the module's of the same name", () => {
  const names = objectNamesAt(rebinding(), 2);
  assert.equal(names.nameOf("t2"), "x");
  assert.equal(names.nameOf("t1"), null);
  assert.deepEqual(names.namesOf("t1"), [{ text: "x", scope: "module", frame: "f1" }]);
});

test("a name ends with its function", () => {
  const names = objectNamesAt(rebinding(), 3);
  assert.deepEqual(names.namesOf("t2"), [{ text: "p", scope: "", frame: "f1" }]);
  assert.equal(names.nameOf("t1"), "x");
});

test("variables of a function that waits are named with it", () => {
  const opened = openTrace(
    trace("", [
      { frame: "f1", set: { f1: frame({}) } },
      {
        frame: "f2",
        set: { f2: called({ a: ref("t1") }, { name: "outer", caller: "f1" }), s1: storage([1]), t1: tensor("s1") },
      },
      { frame: "f3", set: { f3: called({}, { name: "inner", caller: "f2" }) } },
    ]),
  );
  assert.deepEqual(objectNamesAt(opened, 2).namesOf("t1"), [{ text: "a", scope: "outer", frame: "f2" }]);
});

test("a closure's variable is one name in both functions", () => {
  const opened = openTrace(
    trace("", [
      { frame: "f1", set: { f1: frame({}) } },
      {
        frame: "f2",
        set: { f2: called({ t: ref("t1") }, { name: "outer", caller: "f1" }), s1: storage([1]), t1: tensor("s1") },
      },
      { frame: "f3", set: { f3: called({ t: ref("t1") }, { name: "inner", caller: "f2", free: ["t"] }) } },
    ]),
  );
  assert.deepEqual(objectNamesAt(opened, 2).namesOf("t1"), [{ text: "t", scope: "", frame: "f3" }]);
});

test("a path goes on from the shortest name that the function sees", () => {
  const net = { kind: "object", type: "Net", attrs: { w: ref("t1") } } as any;
  const opened = openTrace(
    trace("", [
      { frame: "f1", set: { f1: frame({ network: ref("o1") }), o1: net, s1: storage([1]), t1: tensor("s1") } },
      { frame: "f2", set: { f2: called({ self: ref("o1") }, { name: "forward", caller: "f1" }) } },
    ]),
  );
  assert.equal(objectNamesAt(opened, 0).nameOf("t1"), "network.w");
  assert.equal(objectNamesAt(opened, 1).nameOf("t1"), "self.w");
});

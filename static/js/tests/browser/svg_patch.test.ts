/** A document after a patch is what the descriptions say, and elements keep their identity. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { h, patchHost, vnodeToSvg } from "../../browser/svg.ts";
import { markTargetOf } from "../../browser/targets.ts";
import { createRandom } from "../random.ts";

/** As much of an element as a patch uses; counts what is inserted. */
class FakeElement {
  tag: string;
  attrs = new Map<string, string>();
  children: FakeElement[] = [];
  parent: FakeElement | null = null;
  textContent = "";

  static insertions = 0;

  constructor(tag: string) {
    this.tag = tag;
  }

  setAttribute(name: string, value: string) {
    this.attrs.set(name, value);
  }

  removeAttribute(name: string) {
    this.attrs.delete(name);
  }

  addEventListener() {}

  remove() {
    if (this.parent) this.parent.children = this.parent.children.filter((child) => child !== this);
    this.parent = null;
  }

  appendChild(child: FakeElement) {
    this.insertBefore(child, null);
  }

  insertBefore(child: FakeElement, next: FakeElement | null) {
    assert.notEqual(child, next, "an element is not put before itself");
    child.remove();
    const index = next ? this.children.indexOf(next) : this.children.length;
    assert.notEqual(index, -1, "what it is put before is a child");
    this.children.splice(index, 0, child);
    child.parent = this;
    FakeElement.insertions += 1;
  }

  get nextElementSibling() {
    const siblings = this.parent?.children ?? [];
    return siblings[siblings.indexOf(this) + 1] ?? null;
  }

  get markup(): string {
    const attrs = [...this.attrs].map(([name, value]) => ` ${name}="${value}"`).sort();
    return `<${this.tag}${attrs.join("")}>${this.children.map((child) => child.markup).join("")}</${this.tag}>`;
  }
}

const document = {
  createElementNS: (_space: string, tag: string) => new FakeElement(tag),
} as any;

/** Descriptions of elements with these keys; a key without a letter is none. */
const described = (keys: string[]) =>
  keys.map((key) =>
    h(
      "g",
      { key: /[a-z]/.test(key) ? key : null, class: `of-${key}`, "data-row": key.startsWith("r") ? key : null },
      h("rect"),
    ),
  );

/** The elements with a key, by it. */
function drawAndCheck(host: FakeElement, keys: string[]): Map<string, FakeElement> {
  const vnodes = described(keys);
  patchHost(document, host as any, vnodes);
  assert.equal(host.children.map((child) => child.markup).join(""), vnodes.map(vnodeToSvg).join(""), keys.join(" "));
  return new Map(host.children.map((child, k) => [keys[k], child]));
}

test("of lists that change at random the document is what is described, and a key keeps its element", () => {
  const random = createRandom(7);
  const names = [..."abcdefgh", "r1", "r2", "r3"];
  const host = new FakeElement("g");
  let before = drawAndCheck(host, []);
  for (let round = 0; round < 3000; round++) {
    const keys = names.filter(() => random() < 0.6);
    if (random() < 0.4) keys.sort(() => random() - 0.5);
    if (random() < 0.3) keys.splice(Math.floor(random() * keys.length), 0, "1");
    if (random() < 0.3) keys.push("2");
    const drawn = drawAndCheck(host, keys);
    for (const [key, element] of drawn)
      if (/[a-z]/.test(key) && before.has(key)) assert.equal(element, before.get(key), `${key} is another element`);
    before = drawn;
  }
});

test("one that comes or leaves in the middle moves no other", () => {
  const host = new FakeElement("g");
  drawAndCheck(host, ["a", "b", "d", "e"]);
  for (const [keys, insertions] of [
    [["a", "b", "c", "d", "e"], 1],
    [["a", "c", "d", "e"], 0],
    [["a", "x", "d", "e"], 1],
  ] as [string[], number][]) {
    const before = FakeElement.insertions;
    const rects = keys.filter((key) => !host.children.some((child) => child.attrs.get("class") === `of-${key}`)).length;
    drawAndCheck(host, keys);
    assert.equal(FakeElement.insertions - before - rects, insertions, keys.join(" "));
  }
});

test("an element stands for what its description does, and for nothing where that has no target", () => {
  const host = new FakeElement("g");
  const draw = (index: number | null) => {
    const target = index === null ? null : ({ kind: "loom cell", storage: "s1", index } as const);
    const vnode = h("g", { key: "cell", target });
    patchHost(document, host as any, [vnode]);
    assert.equal(host.children[0].markup, vnodeToSvg(vnode));
    assert.equal(vnodeToSvg(vnode), "<g></g>");
    return markTargetOf(host.children[0] as any);
  };
  assert.deepEqual(draw(0), { kind: "loom cell", storage: "s1", index: 0 });
  assert.deepEqual(draw(1), { kind: "loom cell", storage: "s1", index: 1 });
  assert.equal(draw(null), null);
});

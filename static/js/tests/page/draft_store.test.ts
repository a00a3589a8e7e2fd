/** What a reader was writing outlives its page, and no tab writes over another's. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { createDraftStore } from "../../page/program/draft_store.ts";

class Storage extends Map<string, string> {
  getItem = (key: string) => this.get(key) ?? null;
  setItem = (key: string, value: string) => void this.set(key, value);
  removeItem = (key: string) => void this.delete(key);
}

/** A browser: pages are opened in tabs, which have storages of their own. */
function browser() {
  const shared = new Storage();
  let count = 0;
  const newId = () => `id${++count}`;
  return (tab: Storage) => createDraftStore(shared, tab, newId, () => ++count);
}

test("a reload brings the tab's own program back", () => {
  const open = browser();
  const [one, two] = [new Storage(), new Storage()];
  open(one).write("x = 1");
  open(two).write("y = 2");
  assert.equal(open(one).read(), "x = 1");
  assert.equal(open(two).read(), "y = 2");
});

test("a new tab is offered what was written last", () => {
  const open = browser();
  open(new Storage()).write("x = 1");
  open(new Storage()).write("y = 2");
  assert.equal(open(new Storage()).read(), "y = 2");
  assert.equal(browser()(new Storage()).read(), null);
});

test("a page that follows another in its tab writes under the same name", () => {
  const open = browser();
  const tab = new Storage();
  open(tab).write("x = 1");
  const next = open(tab);
  next.read();
  next.write("x = 2");
  next.write("x = 3");
  assert.equal(open(tab).read(), "x = 3");
});

test("a duplicated tab keeps a program of its own", () => {
  const open = browser();
  const tab = new Storage();
  const first = open(tab);
  first.read();
  first.write("x = 1");
  const copyOfTab = new Storage(tab);
  const copy = open(copyOfTab);
  assert.equal(copy.read(), "x = 1");
  first.write("x = 1  # the first goes on");
  copy.write("x = 2");
  assert.equal(open(tab).read(), "x = 1  # the first goes on");
  assert.equal(open(copyOfTab).read(), "x = 2");
});

test("a storage that refuses, or holds something else, ends nothing", () => {
  const broken = new Storage();
  broken.setItem = () => {
    throw new Error("full");
  };
  const store = createDraftStore(broken, new Storage(), () => "id", Date.now);
  store.write("x = 1");
  assert.equal(store.read(), null);
  const odd = new Storage([["gradbox-drafts", '{"a": 1}']]);
  assert.equal(createDraftStore(odd, new Storage(), () => "id", Date.now).read(), null);
});

// A second reading of a trace, from its JSON alone, that says whether a question's right answer is right.

import assert from "node:assert/strict";
import type { PredictQuestion } from "../../page_state/predict_question.ts";

const SIZES = {
  bool: 1,
  uint8: 1,
  int8: 1,
  int16: 2,
  float16: 2,
  bfloat16: 2,
  int32: 4,
  float32: 4,
  int64: 8,
  float64: 8,
  complex64: 8,
};

/** What there is after a step. */
function replay(trace: any, last: number): Map<string, any> {
  const things = new Map();
  for (const step of trace.steps.slice(0, last + 1)) {
    for (const [uid, fields] of Object.entries(step.set as Record<string, any>)) {
      const thing = structuredClone(things.get(uid) ?? { vars: {} });
      for (const [name, value] of Object.entries(fields)) {
        if (name === "vars") Object.assign(thing.vars, value);
        else if (name === "unset") for (const gone of value) delete thing.vars[gone];
        else if (name === "cells_at")
          for (const [dtype, cells] of Object.entries(value))
            for (const [at, cell] of Object.entries(cells)) thing.cells[dtype][at] = cell;
        else if (name !== "splice") thing[name] = value === null ? undefined : value;
      }
      things.set(uid, thing);
    }
    for (const uid of step.gone) things.delete(uid);
  }
  return things;
}

/** The place of an element in its storage, in bytes. */
function byteOf(thing: any, index: number[]) {
  const size = SIZES[thing.dtype.replace("torch.", "") as keyof typeof SIZES] ?? 1;
  if (thing.kind === "array") return index.reduce((sum, i, d) => sum + i * thing.steps[d], thing.at ?? 0);
  return size * index.reduce((sum, i, d) => sum + i * thing.stride[d], thing.offset ?? 0);
}

/** Every index of a shape, in order. */
function indices(shape: number[]): number[][] {
  return shape.reduce(
    (all, n) => all.flatMap((index) => Array.from({ length: n }, (_, i) => [...index, i])),
    [[] as number[]],
  );
}

function elementAt(things: Map<string, any>, thing: any, index: number[]) {
  const dtype = thing.dtype.replace("torch.", "");
  const row = things.get(thing.storage).cells[dtype];
  return row[byteOf(thing, index) / (SIZES[dtype as keyof typeof SIZES] ?? 1)];
}

/** Where the elements of a thing lie, counted from the memory that a storage lies within. */
function bytesOf(things: Map<string, any>, thing: any): Set<string> {
  const storage = things.get(thing.storage);
  const [root, base] = storage.within ? [storage.within.storage, storage.within.at] : [thing.storage, 0];
  return new Set(indices(thing.shape).map((index) => `${root}+${base + byteOf(thing, index)}`));
}

/** Whether a text says a cell. */
function says(text: string, cell: any) {
  if (typeof cell === "boolean") return text === (cell ? "True" : "False");
  if (typeof cell !== "number") return text === (cell.$f ?? cell.$i ?? "").replace("-", "−");
  const number = Number(text.replaceAll("−", "-"));
  return Math.abs(number - cell) <= 2e-3 * Math.abs(cell) + 1e-12 || (text === "−0" && Object.is(cell, -0));
}

function saysElements(things: Map<string, any>, thing: any, text: string, index: number[] | null | undefined) {
  if (index) return says(text, elementAt(things, thing, index));
  const texts = text.replace(/^\[|\]$/g, "").split(", ");
  const all = indices(thing.shape).map((one) => elementAt(things, thing, one));
  return texts.length === all.length && texts.every((one, k) => says(one, all[k]));
}

/** What a plain name means to the statement of a step. */
function meant(things: Map<string, any>, step: any, name: string) {
  for (let uid = step.frame; uid; uid = things.get(uid)?.caller)
    if (things.get(uid)?.vars[name] !== undefined) return things.get(uid).vars[name].ref;
  return undefined;
}

const IS_RIGHT: Record<string, (things: Map<string, any>, question: any, text: string, trace: any) => boolean> = {
  value: (things, { uid, index }, text) => saysElements(things, things.get(uid), text, index),
  grad(things, { uid, index }, text) {
    const { grad } = things.get(uid);
    return grad ? saysElements(things, things.get(grad), text, index) : text === "None";
  },
  version: (things, { uid }, text) => text === `v${things.get(things.get(uid).counter).value}`,
  raises: (_, { step }, text, trace) => (text === "yes") === (trace.steps[step].kind === "raise"),
  shares(things, { uid, other, step }, text, trace) {
    const mine = bytesOf(things, things.get(uid));
    const theirs = bytesOf(things, things.get(meant(things, trace.steps[step], other)));
    return (text === "yes") === [...mine].some((byte) => theirs.has(byte));
  },
  leaf: (things, { uid }, text) => (text === "yes") === !things.get(uid).grad_fn,
  bytes(things, _, text) {
    const all = [...things.values()].filter(({ kind, within }) => kind === "storage" && !within);
    const sum = all.reduce((bytes, { nbytes }) => bytes + nbytes, 0);
    const [number, unit] = text.split(" ");
    const size = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }[unit] ?? Number.NaN;
    return Math.abs(Number(number) * size - sum) <= (number.includes(".") ? 0.051 : 0.51) * size;
  },
};

/** Holds one question against the trace: the right answer is right, and no other choice is. */
export function assertTrue(trace: any, question: PredictQuestion) {
  const { at, step, kind, what, uid, choices, right, number } = question;
  const told = `${kind} ${what} at step ${step}: ${JSON.stringify(choices)} ${right}`;
  assert.ok(at < step && step < trace.steps.length, told);
  const things = replay(trace, step);
  const element = question.index?.length ? `[${question.index.join(", ")}]` : "";
  const name = what.slice(0, what.length - element.length).replace(/\.grad$/, "");
  if (uid && /^\w+$/.test(name)) assert.equal(meant(things, trace.steps[step], name), uid, told);
  choices.forEach(({ text }, k) => {
    assert.equal(IS_RIGHT[kind](things, question, text, trace), k === right, `${told}: ${text}`);
  });
  assert.equal(new Set(choices.map(({ text }) => text)).size, choices.length, told);
  if (number === null) assert.ok(choices.length >= 2 && choices.length <= 4, told);
  else assert.ok(says(choices[0].text, number), told);
}

/** What `torch.autograd.Function` asks of its methods: static ones, and that what was saved for backward stays as it is. */

import { forwardCall, functionName } from "./custom_function.js";
import { fix, link, namesOf } from "./finding.js";
import { resolve } from "./resolve.js";

/** @typedef {import("./run_facts.js").RunFacts} RunFacts */
/** @typedef {import("./finding.js").Diagnosis} Diagnosis */

const LEGACY = /Legacy autograd function/;

/** @param {RunFacts} facts @returns {Diagnosis[]} */
export function contractBreaches(facts) {
  return [...methodsThatAreNotStatic(facts), ...savedThenWritten(facts)];
}

/** A function of the old style: its methods are not static, and an instance of it is called. @param {RunFacts} facts @returns {Diagnosis[]} */
function methodsThatAreNotStatic(facts) {
  const { error } = facts;
  if (!error || !LEGACY.test(error.message)) return [];
  const step = facts.errorStep;
  const method = facts.source.findIndex(
    (text, k) => /^\s+def forward\(/.test(text) && !/@staticmethod/.test(facts.source[k - 1] ?? ""),
  );
  const head = facts.source.findLastIndex((text, k) => k < method && /^\s*class\s/.test(text));
  const name = /class\s+(\w+)/.exec(facts.source[head] ?? "")?.[1];
  if (method < 0 || !name) return [];
  const cause = { line: method + 1, step };
  const all = { function: { code: name }, forward: { code: "forward" }, x: { code: name }, code: facts.codeFact(step) };
  return [
    {
      variant: "legacy",
      cause,
      chain: [link(cause, "made", all), link(facts.place(step), "checked", all)],
      names: namesOf(all.function, all.forward),
      facts: all,
      fixes: [fix("static_methods", cause, { name })],
      explainsError: true,
    },
  ];
}

/** Forward went on to write what it had given to `save_for_backward`, which keeps the tensor as it is when forward ends.
 * @param {RunFacts} facts @returns {Diagnosis[]} */
function savedThenWritten(facts) {
  /** @type {Diagnosis[]} */
  const out = [];
  for (const node of facts.index.nodes.keys()) {
    if (facts.scan.initialFields(node)?.custom !== true || !facts.index.visitsOf.has(node)) continue;
    const call = forwardCall(facts, node, facts.birth(node));
    const found = call ? writeAfterSave(facts, call) : null;
    if (found && !out.some(({ cause }) => cause.line === facts.steps[found.written].line))
      out.push(writtenDiagnosis(facts, node, found));
  }
  return out;
}

/** @param {RunFacts} facts @param {{frame: string, start: number, end: number}} call
 * @returns {{uid: string, saved: number, written: number} | null} steps */
function writeAfterSave(facts, { frame, start, end }) {
  for (let saved = start; saved <= end; saved++) {
    if (facts.steps[saved].frame !== frame) continue;
    const names = /save_for_backward\(([^()]*)\)/.exec(facts.code(saved))?.[1]?.split(",") ?? [];
    for (const name of names) {
      const uid = resolve(facts, name.trim(), saved);
      const storage = facts.handle(uid, saved)?.storage;
      const { depth } = facts.steps[saved];
      const write = facts
        .writesOf(storage)
        .find(({ step }) => step > saved && step <= end && facts.steps[step].depth >= depth);
      if (uid && write) return { uid, saved, written: write.step };
    }
  }
  return null;
}

/** @param {RunFacts} facts @param {string} node @param {{uid: string, saved: number, written: number}} found @returns {Diagnosis} */
function writtenDiagnosis(facts, node, { uid, saved, written }) {
  const x = facts.name(uid, written);
  const visit = facts.index.visitsOf.get(node)?.[0] ?? written;
  const all = { x, function: functionName(facts, node), saved: facts.steps[saved].line, code: facts.codeFact(written) };
  return {
    variant: "saved_written",
    severity: "warning",
    cause: facts.place(written),
    chain: [
      link(facts.place(saved), "saved", { ...all, op: all.function }, [uid, node]),
      link(facts.place(written), "written", all, [uid]),
      link(facts.place(visit), "starts", { ...all, code: facts.codeFact(visit) }, [node]),
    ],
    names: namesOf(x),
    facts: all,
    fixes: [
      fix("out_of_place", facts.place(written)),
      fix("clone_before", facts.place(written), { name: nameText(x) }),
    ],
  };
}

/** @param {import("./finding.js").Fact} fact */
function nameText(fact) {
  return typeof fact === "object" && "code" in fact ? fact.code : "";
}

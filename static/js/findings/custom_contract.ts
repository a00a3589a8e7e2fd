/** What `torch.autograd.Function` asks of its methods: static ones, and that what was saved for backward stays as it is. */

import { functionName, forwardCall } from "./function_call.ts";
import { fix, link, namesOf, type Diagnosis, type Fact } from "./finding.ts";
import { resolve } from "./resolve.ts";
import type { RunFacts } from "./run_facts.ts";

const LEGACY_ERROR = /Legacy autograd function/;
const INSTANCE_ERROR = /^'(\w+)' object (?:has no attribute|is not)/;

export function contractBreaches(facts: RunFacts): Diagnosis[] {
  return [...methodsThatAreNotStatic(facts), ...notApplied(facts), ...savedThenWritten(facts)];
}

/** An instance of a function was used as if it were its result: `F(x)` makes one, `F.apply(x)` computes. */
function notApplied(facts: RunFacts): Diagnosis[] {
  const name = INSTANCE_ERROR.exec(facts.error?.message ?? "")?.[1] ?? "";
  const classLine = facts.source.findIndex((text) => new RegExp(`^\\s*class\\s+${name}\\(.*\\bFunction\\)`).test(text));
  if (!name || classLine < 0) return [];
  const callPattern = new RegExp(`(?<![\\w.])${name}\\((?!\\s*\\))`);
  const step = facts.steps.findLastIndex((_, i) => i <= facts.errorStep && callPattern.test(facts.code(i)));
  if (step < 0 || /^class\b/.test(facts.code(step))) return [];
  const findingFacts = { function: { code: name }, x: { code: name }, code: facts.codeFact(step) };
  const used = link(facts.place(facts.errorStep), "checked", {
    ...findingFacts,
    code: facts.codeFact(facts.errorStep),
  });
  const madeLinks = step < facts.errorStep ? [link(facts.place(step), "made", findingFacts)] : [];
  return [
    {
      variant: "not_applied",
      cause: facts.place(step),
      chain: [...madeLinks, used],
      names: namesOf(findingFacts.function),
      facts: findingFacts,
      fixes: [fix("apply_function", facts.place(step), { name })],
      explainsError: true,
    },
  ];
}

/** A function of the old style: its methods are not static, and an instance of it is called. */
function methodsThatAreNotStatic(facts: RunFacts): Diagnosis[] {
  const { error } = facts;
  if (!error || !LEGACY_ERROR.test(error.message)) return [];
  const step = facts.errorStep;
  const forwardLine = facts.source.findIndex(
    (text, k) => /^\s+def forward\(/.test(text) && !/@staticmethod/.test(facts.source[k - 1] ?? ""),
  );
  const classLine = facts.source.findLastIndex((text, k) => k < forwardLine && /^\s*class\s/.test(text));
  const name = /class\s+(\w+)/.exec(facts.source[classLine] ?? "")?.[1];
  if (forwardLine < 0 || !name) return [];
  const cause = { line: forwardLine + 1, step };
  const findingFacts = {
    function: { code: name },
    forward: { code: "forward" },
    x: { code: name },
    code: facts.codeFact(step),
  };
  return [
    {
      variant: "legacy",
      cause,
      chain: [link(cause, "made", findingFacts), link(facts.place(step), "checked", findingFacts)],
      names: namesOf(findingFacts.function, findingFacts.forward),
      facts: findingFacts,
      fixes: [fix("static_methods", cause, { name })],
      explainsError: true,
    },
  ];
}

/** Forward went on to write what it had given to `save_for_backward`, which keeps the tensor as it is when forward
 * ends. */
function savedThenWritten(facts: RunFacts): Diagnosis[] {
  const out: Diagnosis[] = [];
  for (const nodeUid of facts.index.nodes.keys()) {
    if (facts.scan.initialFields(nodeUid)?.custom !== true || !facts.index.visitStepsByNode.has(nodeUid)) continue;
    const call = forwardCall(facts, nodeUid, facts.birth(nodeUid));
    const savedWrite = call ? writeAfterSave(facts, call) : null;
    if (savedWrite && !out.some(({ cause }) => cause.line === facts.steps[savedWrite.written].line))
      out.push(writtenDiagnosis(facts, nodeUid, savedWrite));
  }
  return out;
}

/** @returns steps */
function writeAfterSave(
  facts: RunFacts,
  { frame, start, end }: { frame: string; start: number; end: number },
): { uid: string; saved: number; written: number } | null {
  for (let saved = start; saved <= end; saved++) {
    if (facts.steps[saved].frame !== frame) continue;
    const names = /save_for_backward\(([^()]*)\)/.exec(facts.code(saved))?.[1]?.split(",") ?? [];
    for (const name of names) {
      const uid = resolve(facts, name.trim(), saved);
      const storageUid = facts.handle(uid, saved)?.storage;
      const { depth } = facts.steps[saved];
      const write = facts
        .writesOf(storageUid)
        .find(({ step }) => step > saved && step <= end && facts.steps[step].depth >= depth);
      if (uid && write) return { uid, saved, written: write.step };
    }
  }
  return null;
}

function writtenDiagnosis(
  facts: RunFacts,
  nodeUid: string,
  { uid, saved, written }: { uid: string; saved: number; written: number },
): Diagnosis {
  const x = facts.nameFact(uid, written);
  const visit = facts.index.visitStepsByNode.get(nodeUid)?.[0] ?? written;
  const findingFacts = {
    x,
    function: functionName(facts, nodeUid),
    saved: facts.steps[saved].line,
    code: facts.codeFact(written),
  };
  return {
    variant: "saved_written",
    severity: "warning",
    cause: facts.place(written),
    chain: [
      link(facts.place(saved), "saved", { ...findingFacts, op: findingFacts.function }, [uid, nodeUid]),
      link(facts.place(written), "written", findingFacts, [uid]),
      link(facts.place(visit), "starts", { ...findingFacts, code: facts.codeFact(visit) }, [nodeUid]),
    ],
    names: namesOf(x),
    facts: findingFacts,
    fixes: [
      fix("out_of_place", facts.place(written)),
      fix("clone_before", facts.place(written), { name: nameText(x) }),
    ],
  };
}

function nameText(fact: Fact) {
  return typeof fact === "object" && "code" in fact ? fact.code : "";
}

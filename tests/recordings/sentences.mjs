/** What is said of a trace, for the referee: each sentence with its step, its key, its arguments and its text. */

import { stepNotes } from "../../static/js/captions/notes.ts";
import { partsText, sentenceParts } from "../../static/js/captions/sentence.ts";
import { explain } from "../../static/js/findings/explain.ts";
import { EntityNaming } from "../../static/js/findings/facts/naming.ts";
import { findingText } from "../../static/js/findings/text.ts";
import { findingLocale } from "../../static/js/findings/words.ts";
import { openTrace } from "../../static/js/trace/state.ts";
import { locale } from "../../static/js/words/locale.ts";

// a finding's names don't say of what and when: that is noted where they are made
const nameFact = EntityNaming.prototype.nameFact;
EntityNaming.prototype.nameFact = function (uid, step) {
  const fact = nameFact.call(this, uid, step);
  if (!("code" in fact)) return fact;
  // of what a function is about to return it is the name that it gets
  const bindings = this.facts.scan.bindingsByUid.get(uid) ?? [];
  const later = this.nameAt(uid, step) ? null : bindings.find((each) => each.step > step && each.name === fact.code);
  return { ...fact, of: uid, at: later?.step ?? step };
};

export default function sentences(trace) {
  const opened = openTrace(trace);
  return [...captions(opened), ...namesOfFindings(opened)];
}

function captions(opened) {
  const { say } = locale("en");
  return opened.trace.steps.flatMap((_, step) => {
    const said = new Map();
    for (const { key, args } of stepNotes(opened, step)) {
      const text = partsText(sentenceParts({ key, args }, say));
      if (!said.has(text)) said.set(text, { step, key, args, text });
    }
    return [...said.values()];
  });
}

/** Each name of a finding's sentences, at the step for which it was chosen. */
function namesOfFindings(opened) {
  const { say } = findingLocale("en");
  return explain(opened).flatMap((finding) => {
    const { what, chain } = findingText(finding, say);
    const rows = [
      { text: what, facts: finding.facts },
      ...finding.chain.map(({ facts }, k) => ({ text: chain[k], facts })),
    ];
    return rows.flatMap(({ text, facts }) =>
      codeFacts(facts)
        .filter(({ code, of, isEarlier }) => of && !isEarlier && text.includes(`\`${code}\``))
        .map(({ code, of, at }) => ({ step: at, key: `finding.${finding.kind}`, args: { x: { name: code, of } }, text })),
    );
  });
}

function codeFacts(fact) {
  if (Array.isArray(fact)) return fact.flatMap(codeFacts);
  if (fact === null || typeof fact !== "object") return [];
  return typeof fact.code === "string" ? [fact] : Object.values(fact).flatMap(codeFacts);
}

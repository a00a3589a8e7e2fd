/** The open row of each step of a run, with the headline, for tests. */

import { readFileSync } from "node:fs";
import { createLocale } from "../../static/js/words/sentences.ts";
import { explain } from "../../static/js/findings/explain.ts";
import { layoutNet } from "../../static/js/nets/net_layout.ts";
import { netMarks } from "../../static/js/nets/net_marks.ts";
import { netOf } from "../../static/js/nets/net_call_sites.ts";
import { NetFacts } from "../../static/js/nets/net_state.ts";
import { openTrace } from "../../static/js/trace/state.ts";
import { rowEndsAt } from "../../static/js/nets/row_ends.ts";
import { stepHeadline } from "../../static/js/nets/step_headline.ts";

const [en, zh] = ["en", "zh"].map((language) =>
  JSON.parse(readFileSync(new URL(`../../static/locales/net.${language}.json`, import.meta.url), "utf8")),
);

const tensorFacts = ({ name, role, shape, cells, version, isGone, gradient, gradientState }) => ({
  ...{ name, role, shape, cells, version, isGone, gradientState },
  gradient: gradient && { role: gradient.role, cells: gradient.cells, isFresh: gradient.isFresh },
});

const textsIn = ({ text, children }) => [...(text ? [text] : []), ...children.flatMap(textsIn)];

export default function openRows(trace) {
  const opened = openTrace(trace);
  const findings = explain(opened);
  const chain = (findings[0]?.chain ?? []).map(({ line, step, role, uids }) => ({
    ...{ line, step, role, uids, text: role, severity: findings[0].severity },
    isCause: step === findings[0].cause.step,
  }));
  const facts = new NetFacts(opened, netOf(opened));
  const { say } = createLocale({ en, zh })("en");
  const lines = trace.program.source.split("\n");
  return trace.steps.map(({ i, line, visit }) => {
    const ends = rowEndsAt(facts, chain, i);
    const layout = layoutNet(facts, i, { width: 1068, height: 620, choices: new Map(), ends });
    const marks = netMarks({ facts, layout, i, isBackward: facts.isBackward(i), say, lines });
    return {
      ...{ line, node: visit?.node ?? null },
      headline: stepHeadline(facts, i, say),
      texts: marks.flatMap(textsIn),
      rows: layout.rows.map(({ kind, callSites, y, isNow, end }) => ({
        ...{ kind, y, isNow, name: callSites[0].name, line: callSites[0].line, path: callSites[0].path },
        isStatement: callSites[0].invocations[0].isStatement,
        end: end && { isCause: end.isCause, tone: end.tone },
      })),
      open: layout.rows.flatMap(({ body, callSites, end }) =>
        body
          ? [
              {
                ...{ name: callSites.at(-1).name, path: callSites.at(-1).path, height: body.height, isEnd: end !== null },
                read: body.shown.read.map(tensorFacts),
                made: body.shown.made.map(tensorFacts),
                nodes: body.shown.nodes.map(({ word, isNow, slots }) => ({ word, isNow, slots })),
              },
            ]
          : [],
      ),
    };
  });
}

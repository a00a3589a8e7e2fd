/** The whole run as its list shows it, row by row, for tests. */

import { readFileSync } from "node:fs";
import { createLocale } from "../../static/js/words/sentences.ts";
import { explain } from "../../static/js/findings/explain.ts";
import { factsOfRun } from "../../static/js/nets/whole_run/call_site_facts.ts";
import { savedBytesAtPeakOf } from "../../static/js/nets/whole_run/saved_memory_peak.ts";
import { layoutWholeRun } from "../../static/js/nets/whole_run/whole_run_layout.ts";
import { netOf } from "../../static/js/nets/net_call_sites.ts";
import { NetFacts } from "../../static/js/nets/net_state.ts";
import { openTrace } from "../../static/js/trace/state.ts";
import { runHeadline } from "../../static/js/nets/whole_run/run_headline.ts";
import { parameterRunSummaries } from "../../static/js/nets/whole_run/parameters_of_run.ts";
import { wholeRunMarks } from "../../static/js/nets/whole_run/whole_run_marks.ts";

const [en, zh] = ["en", "zh"].map((language) =>
  JSON.parse(readFileSync(new URL(`../../static/locales/net.${language}.json`, import.meta.url), "utf8")),
);

const textsIn = ({ text, children }) => [...(text ? [text] : []), ...children.flatMap(textsIn)];

/** `sort` and `filter` as the reader chose them. */
export default function wholeRun(trace, { language = "en", sort = null, filter = "all", width = 1068 } = {}) {
  const opened = openTrace(trace);
  explain(opened);
  const { say } = createLocale({ en, zh })(language);
  const run = factsOfRun(new NetFacts(opened, netOf(opened)));
  const layout = layoutWholeRun(run, { width, height: 640 }, { open: new Map(), sort, filter });
  const lines = trace.program.source.split("\n");
  const marks = wholeRunMarks({ run, layout, say, lines, selected: null, sort, filter });
  const drawn = marks.filter(({ key }) => key?.startsWith("row "));
  const account = parameterRunSummaries(opened);
  return {
    headline: runHeadline(opened, say),
    peak: [...savedBytesAtPeakOf(opened).values()].reduce((sum, bytes) => sum + bytes, 0),
    rounds: account.rounds,
    rails: layout.rails.map(({ from, to, state, isCut }) => [from.callSites[0].name, to.callSites[0].name, isCut ? "cut" : state]),
    rows: layout.rows.map((row, k) => ({
      kind: row.kind,
      path: row.callSites[0].path,
      line: row.callSites[0].line,
      parameter: account.moments.get(row.parameter)?.row.name ?? null,
      texts: textsIn(drawn[k]),
      names: (row.facts.parameters?.uids ?? []).map((uid) => account.moments.get(uid).row.name),
      values: row.facts.parameters,
      kept: row.facts.kept,
      tone: row.facts.tone,
    })),
  };
}

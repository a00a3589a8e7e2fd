/** What the loom by module costs for large nets: to build, to open a part, to draw a step. usage: node … run_by_module.mjs TRACE.json … */

import { readFileSync } from "node:fs";
import { runBodyMarks, runHeadMarks } from "../static/js/loom/run_marks.ts";
import { ModuleLoomPlanner } from "../static/js/loom/run_planner.ts";
import { netOf } from "../static/js/nets/net_places.ts";
import { NetFacts } from "../static/js/nets/net_state.ts";
import { openTrace } from "../static/js/trace/state.ts";

const ROOM = { width: 1018, height: 530 };
const say = (key) => key;

function timed(work) {
  const begins = performance.now();
  const result = work();
  return [result, performance.now() - begins];
}

const middle = (times) => times.sort((a, b) => a - b)[times.length >> 1];

for (const path of process.argv.slice(2)) {
  const opened = openTrace(JSON.parse(readFileSync(path, "utf8")));
  const [net, netTime] = timed(() => netOf(opened));
  const [facts, factsTime] = timed(() => new NetFacts(opened, net));
  const [planner, plannerTime] = timed(() => new ModuleLoomPlanner(facts));
  const half = opened.count >> 1;
  const draw = (i, choices) => {
    const layout = planner.layout(i, { ...ROOM, choices });
    const scene = { facts, layout, i, say, lines: planner.lines, reached: "" };
    runHeadMarks(scene);
    runBodyMarks(scene);
    return layout;
  };
  const [layout, firstTime] = timed(() => draw(half, new Map()));
  const opens = layout.columns
    .filter(({ row }) => row.places[0].inner.length || row.places.length > 1)
    .map(({ row }) => {
      const keys = row.places.length > 1 ? row.places.map(({ key }) => `rows ${key}`) : [row.key];
      return timed(() => draw(half, new Map(keys.map((key) => [key, true]))))[1];
    });
  draw(half, new Map());
  const steps = Array.from({ length: Math.min(200, opened.count) }, (_, k) =>
    timed(() => draw(Math.floor((k * opened.count) / 200), new Map()))[1],
  );
  const round = (ms) => ms.toFixed(1);
  console.log(
    `${path}: ${opened.count} steps, ${net.unitOfNode.size} nodes · net ${round(netTime)} ms, facts ${round(factsTime)} ms, ` +
      `sections ${round(plannerTime)} ms, first picture ${round(firstTime)} ms · open a part: middle ${round(middle(opens))}, ` +
      `most ${round(Math.max(...opens))} ms · a step: middle ${round(middle(steps))}, most ${round(Math.max(...steps))} ms`,
  );
}

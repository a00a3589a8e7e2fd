/** How many whole states and sets of names the tables and the net of a trace ask for: for tests. */

import { parameterStatesOf } from "../../static/js/findings/account/parameter_rounds.ts";
import { moduleTable } from "../../static/js/nets/module_table.ts";
import { moduleCallsOf } from "../../static/js/trace/module_calls.ts";
import { netOf } from "../../static/js/nets/net_call_sites.ts";
import { openTrace } from "../../static/js/trace/state.ts";

export default function countsOf(trace) {
  const plain = openTrace(trace);
  let count = 0;
  const counted = (ask) => (i) => {
    count += 1;
    return ask(i);
  };
  const opened = { ...plain, state: counted(plain.state), names: counted(plain.names) };
  const asked = (work) => {
    const before = count;
    const result = work();
    return [count - before, result];
  };
  const [calls] = asked(() => moduleCallsOf(opened));
  let nodes = 0;
  const find = opened.index.nodes.get.bind(opened.index.nodes);
  opened.index.nodes.get = (uid) => {
    nodes += 1;
    return find(uid);
  };
  const [net] = asked(() => netOf(opened));
  const [modules] = asked(() => moduleTable(opened));
  const [parameters, found] = asked(() => parameterStatesOf(opened));
  const [moment, moments] = asked(() => found.at(opened.count - 1));
  const held = moments.filter(({ is_held }) => is_held === true).length;
  const fates = [...new Set(moments.map(({ learns }) => learns))];
  return { steps: opened.count, nodes, calls, net, modules, parameters, moment, held, count: moments.length, fates };
}

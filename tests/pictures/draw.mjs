/** Draws pictures for tests: jobs `[kind, trace, step, look]` as one JSON list on stdin, their SVG as a JSON list on stdout. */

import { readFileSync } from "node:fs";
import { bare } from "../../static/js/tests/bare.ts";

const draw = { step: await bare("stageSvg"), loom: await bare("loomSvg"), thumbnail: await bare("thumbnailSvg") };
const jobs = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(jobs.map(([kind, ...job]) => draw[kind](...job))));

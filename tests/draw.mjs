/** Draws pictures for tests: jobs `[kind, trace, step, look]` as one JSON list on stdin, their SVG as a JSON list on stdout. */

import { readFileSync } from "node:fs";
import { bare } from "../static/js/tests/bare.ts";

const draw = { step: await bare("pictureOf"), loom: await bare("loomOf"), thumbnail: await bare("thumbnailOf") };
const jobs = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(jobs.map(([kind, ...job]) => draw[kind](...job))));

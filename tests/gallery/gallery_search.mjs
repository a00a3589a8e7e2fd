/** Searches the gallery for tests: `{entries, queries}` as JSON on stdin, the names that each query finds on stdout. */

import { readFileSync } from "node:fs";
import { buildScenarioIndex, searchScenarios } from "../../static/js/gallery/search.ts";

const { entries, queries } = JSON.parse(readFileSync(0, "utf8"));
const index = buildScenarioIndex(entries);
process.stdout.write(JSON.stringify(queries.map((query) => searchScenarios(index, query))));

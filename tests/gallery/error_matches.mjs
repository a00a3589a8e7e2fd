/** Matches error messages for tests: `{entries, messages}` as JSON on stdin, what each matches on stdout. */

import { readFileSync } from "node:fs";
import { looksLikeError, matchError } from "../../static/js/gallery/error_match.ts";
import { buildScenarioIndex } from "../../static/js/gallery/search.ts";

const { entries, messages } = JSON.parse(readFileSync(0, "utf8"));
const index = buildScenarioIndex(entries);
const found = messages.map((text) => ({ ...matchError(entries, index, text), error: looksLikeError(text) }));
process.stdout.write(JSON.stringify(found));

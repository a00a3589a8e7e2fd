/** The tables of traces, for tests: a list of traces on stdin, for each its tables as JSON on stdout. */

import { readFileSync } from "node:fs";
import { tablesReply } from "../../static/js/nets/tables_reply.ts";

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(tablesReply)));

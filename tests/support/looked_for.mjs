/** What is said of a sound run, for tests: the trace on stdin, the reply as JSON on stdout; the language is the argument. */

import { readFileSync } from "node:fs";
import { lookedForReply } from "../../static/js/findings/findings_reply.ts";

process.stdout.write(JSON.stringify(lookedForReply(JSON.parse(readFileSync(0, "utf8")), process.argv[2])));

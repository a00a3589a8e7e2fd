/** What is said of a sound run, for tests. */

export { lookedForReply as default } from "../../static/js/findings/findings_reply.ts";

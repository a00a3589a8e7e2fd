/** The tables of a trace, for tests. */

export { tablesReply as default } from "../../static/js/nets/tables_reply.ts";

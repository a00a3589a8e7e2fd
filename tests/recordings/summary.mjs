/** How a run ended and what it did, for tests. */

import { runSummaryReply } from "../../static/js/findings/findings_reply.ts";

export default runSummaryReply;

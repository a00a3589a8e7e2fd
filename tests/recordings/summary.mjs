/** How a run ended and what it did, for tests. */

import { outcomeSummaryReply } from "../../static/js/findings/findings_reply.ts";

export default outcomeSummaryReply;

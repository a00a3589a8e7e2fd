/**
 * The findings of a page of the server's: scripts and sentences of their own, fetched once there is a trace to explain.
 */

import { loadFindingsLocale } from "../words/page_locale.ts";
import type { FindingsApi } from "./findings_card.ts";

export async function loadFindings(): Promise<FindingsApi> {
  const findings = await import("../findings/page_api.ts");
  return { ...findings, sentences: async () => (await loadFindingsLocale(document.documentElement.lang)).say };
}

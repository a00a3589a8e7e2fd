/** The findings of a page of the server's: scripts and sentences of their own, fetched once there is a trace to explain. */

import { loadFindingLocale } from "../words/page_locale.js";

/** @type {import("./findings_card.js").LoadFindings} */
export async function loadFindings() {
  const findings = await import("../findings/page_api.js");
  return { ...findings, sentences: async () => (await loadFindingLocale(document.documentElement.lang)).say };
}

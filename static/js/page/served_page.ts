/** What the server sent with the page, and what this reader's browser kept of earlier visits. */

import { readLivePreference } from "./live_loader.ts";
import { readDraft } from "./program/draft.ts";
import { elementById } from "./page_host.ts";
import { SERVER_ROOT } from "../requests/root.ts";
import { isPredictModeRequested } from "../page_state/url.ts";
import type { ServedPage } from "../page_state/state.ts";

const served = JSON.parse(elementById("first").textContent ?? "{}");

/** The series that the program is shown of, if one. */
export const servedSeries = served.series ?? null;

export function readServedPage(): ServedPage {
  const { source = "", trace_url: traceUrl = null, saved = null } = served;
  const device = document.getElementById("device") as HTMLSelectElement | null;
  const devices = [...(device?.options ?? [])].map(({ value }) => value);
  const isLive = readLivePreference(elementById("workbench").dataset.live ?? "off");
  return {
    source,
    traceUrl,
    trace: null,
    saved,
    devices,
    draft: readDraft(),
    isLive,
    predicts: isPredictModeRequested(location.search),
  };
}

/** Whether it is the page of every first visit, with the program that opens it. */
export function isFrontPage({ saved }: ServedPage) {
  return saved === null && location.pathname === `${SERVER_ROOT}/` && location.hash === "";
}

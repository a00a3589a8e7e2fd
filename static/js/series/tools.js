/** What a reader takes of a series: the code of a frame for another site's page. */

import { iframeCode } from "../sharing/sharing.js";

/** It fits the column of an article. */
const FRAME_SIZE = { width: 700, height: 560 };

/** @param {string} url of the series, absolute */
export const frameAddress = (url) => url.replace(/\/series\/([^/?#]+).*$/, "/embed/series/$1");

/**
 * @param {HTMLElement} button @param {{url: string, title: string}} series url: of its page
 * @param {{copied: (name: string) => void, failed: () => void}} handlers
 */
export function startSeriesTools(button, { url, title }, { copied, failed }) {
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(
        iframeCode(frameAddress(new URL(url, location.href).href), title, FRAME_SIZE),
      );
      copied(button.textContent ?? "");
    } catch {
      failed();
    }
  });
}

/** What a reader takes of a series: the code of a frame for another site's page. */

import { iframeCode } from "../sharing/sharing.ts";

/** It fits the column of an article. */
const EMBED_FRAME_SIZE = { width: 700, height: 560 };

/** @param url of the series, absolute */
export const embedFrameAddress = (url: string) => url.replace(/\/series\/([^/?#]+).*$/, "/embed/series/$1");

/** @param series url: of its page */
export function startSeriesTools(
  button: HTMLElement,
  { url, title }: { url: string; title: string },
  { copied, failed }: { copied: (name: string) => void; failed: () => void },
) {
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(
        iframeCode(embedFrameAddress(new URL(url, location.href).href), title, EMBED_FRAME_SIZE),
      );
      copied(button.textContent ?? "");
    } catch {
      failed();
    }
  });
}

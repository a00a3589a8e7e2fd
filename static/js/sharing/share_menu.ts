/**
 * What another site's page takes of a saved program: the code of a frame, the address of a step's picture. Both are
 * copied.
 */

/** It fits the column of an article, and is as wide as a narrower one. */
const EMBED_SIZE = { width: 700, height: 480 };

interface Shareable {
  /** the permalink, absolute */
  url: string;
  title: string;
  step: number | null;
  /** of the step and the view */
  fragment: string;
}

/**
 * The menu's buttons carry `data-share`. `currentSubject` returns null where what the page shows is not what was saved.
 */
export function startShareMenu(
  menu: HTMLElement,
  currentSubject: () => Shareable | null,
  { copied: onCopied, failed: onFailed }: { copied: (name: string) => void; failed: () => void },
) {
  menu.addEventListener("beforetoggle", () => {
    const unavailable = currentSubject() === null;
    for (const button of menu.querySelectorAll("[data-share]") as NodeListOf<HTMLButtonElement>) {
      button.disabled = unavailable;
    }
  });
  menu.addEventListener("click", async (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-share]") : null;
    const subject = button && currentSubject();
    if (!subject) return;
    const text = button.getAttribute("data-share") === "frame" ? frameCode(subject) : pictureUrl(subject);
    menu.hidePopover();
    try {
      await navigator.clipboard.writeText(text);
      onCopied(button.textContent ?? "");
    } catch {
      onFailed();
    }
  });
}

function frameCode({ url, title, fragment }: Shareable) {
  return iframeCode(url.replace(/\/s\/([^/]+)$/, "/embed/$1") + fragment, title, EMBED_SIZE);
}

/** `source` is the frame's address; sizes are in pixels. */
export function iframeCode(source: string, title: string, { width, height }: { width: number; height: number }) {
  const escapedTitle = title.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  return `<iframe src="${source.replaceAll("&", "&amp;")}" width="${width}" height="${height}" title="${escapedTitle}" loading="lazy" style="border:0;max-width:100%"></iframe>`;
}

function pictureUrl({ url, step }: Shareable) {
  return `${url}.svg${step === null ? "" : `?step=${step}`}`;
}

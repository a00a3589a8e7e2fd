/** What another site's page takes of a saved program: the code of a frame, the address of a step's picture. Both are copied. */

/** It fits the column of an article, and is as wide as a narrower one. */
const EMBED_SIZE = { width: 700, height: 480 };

/** @typedef {{url: string, title: string, step: number | null, fragment: string}} Shareable url: the permalink, absolute; fragment: of the step and the view */

/**
 * @param {HTMLElement} menu its buttons carry `data-share`
 * @param {() => Shareable | null} currentSubject null where what the page shows is not what was saved
 * @param {{copied: (name: string) => void, failed: () => void}} handlers
 */
export function startSharing(menu, currentSubject, { copied: onCopied, failed: onFailed }) {
  menu.addEventListener("beforetoggle", () => {
    const unavailable = currentSubject() === null;
    for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (menu.querySelectorAll("[data-share]"))) {
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

/** @param {Shareable} subject */
function frameCode({ url, title, fragment }) {
  return iframeCode(url.replace(/\/s\/([^/]+)$/, "/embed/$1") + fragment, title, EMBED_SIZE);
}

/** @param {string} source the frame's address @param {string} title @param {{width: number, height: number}} size in pixels */
export function iframeCode(source, title, { width, height }) {
  const escapedTitle = title.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  return `<iframe src="${source.replaceAll("&", "&amp;")}" width="${width}" height="${height}" title="${escapedTitle}" loading="lazy" style="border:0;max-width:100%"></iframe>`;
}

/** @param {Shareable} subject */
function pictureUrl({ url, step }) {
  return `${url}.svg${step === null ? "" : `?step=${step}`}`;
}

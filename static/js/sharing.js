/** What another site's page takes of a saved program: the code of a frame, the address of a step's picture. Both are copied. */

const FRAME = { width: 960, height: 560 };

/** @typedef {{url: string, title: string, step: number | null, fragment: string}} Shared url: the permalink, absolute; fragment: of the step and the view */

/**
 * @param {HTMLElement} menu its buttons carry `data-share`
 * @param {() => Shared | null} now null where what the page shows is not what was saved
 * @param {{copied: (name: string) => void, failed: () => void}} told
 */
export function startSharing(menu, now, { copied, failed }) {
  menu.addEventListener("beforetoggle", () => {
    const none = now() === null;
    for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (menu.querySelectorAll("[data-share]"))) {
      button.disabled = none;
    }
  });
  menu.addEventListener("click", async (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-share]") : null;
    const shared = button && now();
    if (!shared) return;
    const text = button.getAttribute("data-share") === "frame" ? frame(shared) : picture(shared);
    menu.hidePopover();
    try {
      await navigator.clipboard.writeText(text);
      copied(button.textContent ?? "");
    } catch {
      failed();
    }
  });
}

/** @param {Shared} shared */
export function frame({ url, title, fragment }) {
  const quoted = title.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  const source = url.replace(/\/s\/([^/]+)$/, "/embed/$1") + fragment;
  return `<iframe src="${source.replaceAll("&", "&amp;")}" width="${FRAME.width}" height="${FRAME.height}" title="${quoted}" loading="lazy" style="border:0"></iframe>`;
}

/** @param {Shared} shared */
export function picture({ url, step }) {
  return `${url}.svg${step === null ? "" : `?step=${step}`}`;
}

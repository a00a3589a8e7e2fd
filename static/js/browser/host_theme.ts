/** Light or dark as the page around a frame is: JupyterLab, VS Code and marimo each say it in a way of their own. */

/** Keep a frame's theme that of the page around it; where that page may not be read, the reader's system decides. */
export function syncThemeWithHost(root: HTMLElement) {
  const frame = frameElementInHost();
  if (!frame) {
    delete root.dataset.theme;
    return;
  }
  const { ownerDocument: host } = frame;
  const update = () => {
    root.dataset.theme = themeAroundElement(frame);
  };
  const observer = new MutationObserver(update);
  for (const element of [host.documentElement, host.body]) observer.observe(element, { attributes: true });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", update);
  update();
}

/** The element that this document is in; null where it has none, or where its page is of another origin. */
function frameElementInHost() {
  try {
    return window.frameElement;
  } catch {
    return null;
  }
}

/** What the page around an element says of its theme, or what it looks like where it says nothing. */
function themeAroundElement(element: Element): "light" | "dark" {
  const { documentElement: html, body } = element.ownerDocument;
  return (
    themeStatedByElement(body) ??
    themeStatedByElement(html) ??
    (isDarkColour(backgroundColourBehind(element)) ? "dark" : "light")
  );
}

/** The theme that the host's body or root states; null where it states none. */
export function themeStatedByElement({
  dataset,
  classList,
}: {
  dataset: DOMStringMap;
  classList: { contains: (name: string) => boolean };
}): "light" | "dark" | null {
  if (dataset.jpThemeLight) return dataset.jpThemeLight === "true" ? "light" : "dark";
  if (dataset.vscodeThemeKind) return /dark|high-contrast$/.test(dataset.vscodeThemeKind) ? "dark" : "light";
  if (classList.contains("vscode-light") || classList.contains("vscode-high-contrast-light")) return "light";
  if (classList.contains("vscode-dark") || classList.contains("vscode-high-contrast")) return "dark";
  return dataset.theme === "light" || dataset.theme === "dark" ? dataset.theme : null;
}

/** The colour behind an element, which is the canvas's where nothing around it has one. */
function backgroundColourBehind(element: Element) {
  for (let ancestor = element.parentElement; ancestor; ancestor = ancestor.parentElement) {
    const colour = getComputedStyle(ancestor).backgroundColor;
    if (!isTransparentColour(colour)) return colour;
  }
  const { colorScheme } = getComputedStyle(element.ownerDocument.documentElement);
  const dark = colorScheme.includes("dark");
  return dark && (!colorScheme.includes("light") || prefersDark()) ? "rgb(0, 0, 0)" : "rgb(255, 255, 255)";
}

const prefersDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

const isTransparentColour = (colour: string) => colour === "transparent" || /^rgba\(.*, 0\)$/.test(colour);

/** Whether a colour, as a browser computes it (`rgb(…)` or `rgba(…)`), is nearer to black. */
export function isDarkColour(colour: string) {
  const [red = 255, green = 255, blue = 255] = (colour.match(/[\d.]+/g) ?? []).map(Number);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128;
}

/** Files that the page itself makes: a picture as PNG, and a page that needs no server. */

import { SERVER_ROOT } from "../requests/root.ts";
import { offlineHtml } from "./standalone.ts";
import type { OfflineContent } from "./export_request.ts";

const PNG_SCALE = 2;
const MAX_PNG_SIDE = 16000;
const MAX_PNG_AREA = 120e6;

/** What the page is drawn in. */
export function themeOfPage(root: HTMLElement): "light" | "dark" {
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  return isDark ? "dark" : "light";
}

/** A PNG, twice as large where a canvas can be. */
export async function svgToPng(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const { naturalWidth: w, naturalHeight: h } = image;
  const scale = Math.min(PNG_SCALE, MAX_PNG_SIDE / Math.max(w, h), Math.sqrt(MAX_PNG_AREA / (w * h)));
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(w * scale);
  canvas.height = Math.round(h * scale);
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no PNG"))), "image/png"),
  );
}

interface OfflinePageContent {
  title: string;
  /** trusted HTML */
  body: string;
  data: unknown;
  content: OfflineContent;
}

/** A page that needs no server. */
export async function createOfflinePage({ title, body, data, content }: OfflinePageContent): Promise<Blob> {
  const { documentElement: root } = document;
  const [style, script] = await Promise.all(
    [content === "compare" ? "style.css" : `offline.${content}.css`, `offline.${content}.${root.lang}.js`].map(
      fetchBuiltFile,
    ),
  );
  const nonce = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
  const theme = root.dataset.theme ?? null;
  const text = offlineHtml({ title, language: root.lang, theme, body, style, script, nonce, data });
  return new Blob([text], { type: "text/html" });
}

/** A built file of this server's. */
async function fetchBuiltFile(name: string): Promise<string> {
  const response = await fetch(`${SERVER_ROOT}/static/dist/${name}`);
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  return response.text();
}

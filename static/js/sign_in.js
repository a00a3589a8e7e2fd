/** Signing in and out, where a host asks for a password. */

import { ROOT } from "./requests/root.js";
import { startTheme } from "./browser/theme.js";

const SESSION_URL = `${ROOT}/session`;
const form = /** @type {HTMLFormElement | null} */ (document.getElementById("sign-in"));

document.getElementById("sign-out")?.addEventListener("click", async () => {
  await fetch(SESSION_URL, { method: "DELETE" });
  location.reload();
});

if (document.querySelector("main.door")) startTheme(/** @type {HTMLElement} */ (document.getElementById("theme")));

if (form) {
  const field = /** @type {HTMLInputElement} */ (form.elements.namedItem("password"));
  const submit = /** @type {HTMLButtonElement} */ (form.querySelector("button"));
  const alert = /** @type {HTMLElement} */ (form.querySelector("[role=alert]"));
  submit.disabled = false;
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("a[data-keep]")))
    link.addEventListener("click", () => {
      const target = new URL(location.href);
      target.searchParams.set("lang", new URL(link.href).searchParams.get("lang") ?? "");
      link.href = target.href;
    });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    alert.textContent = await refusalText(field.value);
    alert.hidden = alert.textContent === "";
    submit.disabled = false;
    if (alert.hidden)
      location.reload(); // what was asked for is at this address
    else field.select();
  });
}

/** Ask for a session. @param {string} password @returns {Promise<string>} the sentence that says what is wrong, empty where nothing is */
async function refusalText(password) {
  const { wrong = "", later = "", lost = "" } = form?.dataset ?? {};
  try {
    const body = JSON.stringify({ password });
    const response = await fetch(SESSION_URL, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
    });
    if (response.ok) return "";
    return response.status === 429 ? later.replace("{seconds}", response.headers.get("Retry-After") ?? "60") : wrong;
  } catch {
    return lost;
  }
}

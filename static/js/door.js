/** Where a host asks for a password: the form that asks, and the button that ends the session. */

import { ROOT } from "./root.js";
import { startTheme } from "./theme.js";

const SESSION = `${ROOT}/session`;
const form = /** @type {HTMLFormElement | null} */ (document.getElementById("sign-in"));

document.getElementById("sign-out")?.addEventListener("click", async () => {
  await fetch(SESSION, { method: "DELETE" });
  location.reload();
});

if (document.querySelector("main.door")) startTheme(/** @type {HTMLElement} */ (document.getElementById("theme")));

if (form) {
  const field = /** @type {HTMLInputElement} */ (form.elements.namedItem("password"));
  const send = /** @type {HTMLButtonElement} */ (form.querySelector("button"));
  const fault = /** @type {HTMLElement} */ (form.querySelector("[role=alert]"));
  send.disabled = false;
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("a[data-keep]")))
    link.addEventListener("click", () => {
      const here = new URL(location.href);
      here.searchParams.set("lang", new URL(link.href).searchParams.get("lang") ?? "");
      link.href = here.href;
    });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    send.disabled = true;
    fault.textContent = await refusal(field.value);
    fault.hidden = fault.textContent === "";
    send.disabled = false;
    if (fault.hidden)
      location.reload(); // what was asked for is at this address
    else field.select();
  });
}

/** Ask for a session; what is wrong, if anything. @param {string} password */
async function refusal(password) {
  const { wrong = "", later = "", lost = "" } = form?.dataset ?? {};
  try {
    const body = JSON.stringify({ password });
    const answer = await fetch(SESSION, { method: "POST", headers: { "Content-Type": "application/json" }, body });
    if (answer.ok) return "";
    return answer.status === 429 ? later.replace("{seconds}", answer.headers.get("Retry-After") ?? "60") : wrong;
  } catch {
    return lost;
  }
}

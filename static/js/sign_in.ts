/** Signing in and out, where a host asks for a password. */

import { SERVER_ROOT } from "./requests/root.ts";
import { startThemeButton } from "./browser/theme.ts";

const SESSION_URL = `${SERVER_ROOT}/session`;
const form = document.getElementById("sign-in") as HTMLFormElement | null;

document.getElementById("sign-out")?.addEventListener("click", async () => {
  await fetch(SESSION_URL, { method: "DELETE" });
  location.reload();
});

if (document.querySelector("main.door")) startThemeButton(document.getElementById("theme") as HTMLElement);

if (form) {
  const field = form.elements.namedItem("password") as HTMLInputElement;
  const submit = form.querySelector("button") as HTMLButtonElement;
  const alert = form.querySelector("[role=alert]") as HTMLElement;
  submit.disabled = false;
  for (const link of document.querySelectorAll("a[data-keep]") as NodeListOf<HTMLAnchorElement>)
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

/** Asks for a session. Returns the sentence that says what is wrong, empty where nothing is. */
async function refusalText(password: string): Promise<string> {
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

/** The menu of files to download: where it opens, and how the browser saves a file that the page made. */

const REVOKE_FILE_URL_AFTER_MS = 20000;
const MENU_MARGIN = 6;

/** Place the menu above or under its button when it opens. */
export function positionFileMenu(button: HTMLElement, menu: HTMLElement) {
  const { documentElement: root } = document;
  menu.addEventListener("beforetoggle", () => {
    menu.style.visibility = "hidden"; // until it is positioned
  });
  menu.addEventListener("toggle", (event) => {
    if ((event as ToggleEvent).newState !== "open") return;
    const buttonBox = button.getBoundingClientRect();
    const { width, height } = menu.getBoundingClientRect();
    menu.style.left = `${Math.max(MENU_MARGIN, Math.min(buttonBox.right - width, root.clientWidth - width - MENU_MARGIN))}px`;
    menu.style.top = `${buttonBox.top - height - MENU_MARGIN < 0 ? buttonBox.bottom + MENU_MARGIN : buttonBox.top - height - MENU_MARGIN}px`;
    menu.style.visibility = "";
    menu.querySelector("button")?.focus();
  });
}

export function downloadBlob(blob: Blob, name: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), REVOKE_FILE_URL_AFTER_MS);
}

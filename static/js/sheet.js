/** The sheet of marks: every mark in every state, drawn from small true traces. */

import { startTheme } from "./theme.js";

startTheme(/** @type {HTMLElement} */ (document.getElementById("theme")));

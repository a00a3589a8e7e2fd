/** The gallery needs a theme button and nothing else. */

import { startTheme } from "./theme.js";

startTheme(/** @type {HTMLElement} */ (document.getElementById("theme")));

/** The gallery, and the pages that need a theme button and nothing else. */

import { startGallery } from "./gallery/page.js";
import { startTheme } from "./theme.js";

startTheme(/** @type {HTMLElement} */ (document.getElementById("theme")));
if (document.querySelector(".gallery")) startGallery();

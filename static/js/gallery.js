/** The gallery, and the pages that need a theme button and nothing else. */

import { startCoursePage } from "./lesson/course_page.js";
import { startGallery } from "./gallery/page.js";
import { startTheme } from "./browser/theme.js";

startTheme(/** @type {HTMLElement} */ (document.getElementById("theme")));
if (document.querySelector(".gallery")) startGallery();
const course = document.querySelector(".course");
if (course instanceof HTMLElement) startCoursePage(course);

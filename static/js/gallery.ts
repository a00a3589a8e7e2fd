/** The gallery, and the pages that need a theme button and nothing else. */

import { startCoursePage } from "./lesson/course_page.ts";
import { startGalleryPage } from "./gallery/page.ts";
import { startThemeButton } from "./browser/theme.ts";

startThemeButton(document.getElementById("theme") as HTMLElement);
if (document.querySelector(".gallery")) startGalleryPage();
const course = document.querySelector(".course");
if (course instanceof HTMLElement) startCoursePage(course);

/** The gallery, and the pages that need a theme button and nothing else. */

import { startCoursePage } from "./lesson/course_page.ts";
import { startGalleryPage } from "./gallery/page.ts";
import { startTheme } from "./browser/theme.ts";

startTheme(document.getElementById("theme") as HTMLElement);
if (document.querySelector(".gallery")) startGalleryPage();
const course = document.querySelector(".course");
if (course instanceof HTMLElement) startCoursePage(course);

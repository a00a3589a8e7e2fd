// The theme has two landmarks of one kind without names, which screen readers can't tell apart.
document.querySelector("aside.sidebar-drawer")?.setAttribute("aria-label", "Site");
document.querySelector("aside.toc-drawer")?.setAttribute("aria-label", "This page");

/**
 * Says where a part of the page could not be fetched by htmx: what asked for it has the sentence and names the place.
 */

export function startRequestFailureMessages() {
  for (const type of ["htmx:responseError", "htmx:sendError"])
    document.addEventListener(type, ({ target }) => {
      const asking = target instanceof Element ? target.closest<HTMLElement>("[data-failed]") : null;
      const place = document.querySelector(asking?.dataset.failedIn ?? ":not(*)");
      if (place) place.textContent = asking?.dataset.failed ?? "";
    });
}

/* Keys j and k on a query's page; pages that wait for numbers fetch themselves until these are there. */
"use strict";
(() => {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target instanceof Element && event.target.closest("input, select, textarea, [contenteditable]")) return;
    const rel = { j: "next", k: "prev" }[event.key];
    const link = rel && document.querySelector(`main a[rel="${rel}"]`);
    if (!link) return;
    event.preventDefault();
    link.click();
  });

  /* What may change while somebody reads: never a form that is being filled in. */
  const parts = ["#table", "#differences .scroll", "figure.history", "#counts", "#slices", "[data-pending]"];
  let wait = 400;
  const follow = async () => {
    if (!document.querySelector("[data-pending]")) return;
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(wait * 1.5, 5000);
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (answer.ok) {
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        if (document.querySelector("main table") === null || fresh.querySelector("[data-pending]") === null) {
          replaceParts(fresh);
        }
      }
    } catch { /* the server is away for a moment: ask again */ }
    follow();
  };
  const replaceParts = (fresh) => {
    const ticked = new Set([...document.querySelectorAll("#table input:checked")].map((box) => box.value));
    if (document.querySelector("main table") === null) {
      document.querySelector("main").replaceWith(fresh.querySelector("main"));
    }
    for (const part of parts) {
      const [old, made] = [document.querySelector(part), fresh.querySelector(part)];
      if (old && made) old.replaceWith(made);
      else if (old && part === "[data-pending]") old.remove();
    }
    for (const box of document.querySelectorAll("#table input[type=checkbox]")) box.checked = ticked.has(box.value);
  };
  follow();
})();

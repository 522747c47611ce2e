// A picture that cannot be had leaves its box, with words in it: why, where the server says so.
"use strict";

(() => {
  const replace = async (image) => {
    const words = document.createElement("span");
    words.className = "empty";
    words.textContent = "picture cannot be shown";
    image.replaceWith(words);
    try {
      const answer = await fetch(image.src, { headers: { Accept: "application/json" } });
      const { error } = await answer.json();
      words.textContent = error.message.replace(/^no picture: /, "");
    } catch { /* nobody answers, or not in words */ }
  };
  const failed = (image) => image.complete && image.naturalWidth === 0 && image.getAttribute("loading") !== "lazy";
  document.querySelectorAll("img.thumb").forEach((image) => {
    if (failed(image)) replace(image);
  });
  document.addEventListener("error", (event) => {
    if (event.target instanceof HTMLImageElement && event.target.classList.contains("thumb")) replace(event.target);
  }, true);
})();

// What became of a result's pictures since they were measured is asked when they have come in, and said in words.
"use strict";

(() => {
  const MOST = 50; // pictures in one request
  const note = document.querySelector(".changed-note");
  const mark = document.getElementById("changed-mark");
  if (!note || !mark) return;
  const waiting = new Set();
  const told = new WeakSet();
  let timer = 0;

  const named = (image) => {
    const { pathname, searchParams } = new URL(image.src, location.href);
    if (pathname !== "/result/picture") return null;
    return { result: searchParams.get("result"), side: searchParams.get("side"), id: searchParams.get("id") };
  };

  const say = () => {
    const changed = new Set();
    for (const one of document.querySelectorAll(".frame:has(.changed) img.thumb")) {
      const { result, side, id } = named(one) ?? {};
      changed.add([result, side, id].join("\n"));
    }
    const words = changed.size === 1 ? note.dataset.one : note.dataset.many.replace("{}", changed.size.toLocaleString("en"));
    if (changed.size && note.textContent !== words) note.textContent = words;
  };

  const show = (image, state) => {
    if (state.picture_problem !== null) {
      const words = document.createElement("span");
      words.className = "empty";
      words.textContent = state.picture_problem;
      image.replaceWith(words);
    } else if (state.picture_changed && !image.parentElement?.querySelector(".changed")) {
      image.src = state.picture; // without the words in it, since they stand over it now
      image.after(mark.content.cloneNode(true));
    }
  };

  const ask = async () => {
    const images = [...waiting].slice(0, MOST);
    images.forEach((image) => waiting.delete(image));
    try {
      const answer = await fetch("/result/pictures", {
        method: "POST",
        headers: { "Content-Type": "application/json", Accept: "application/json" },
        body: JSON.stringify({ pictures: images.map(named) }),
      });
      if (!answer.ok) throw new Error(answer.statusText);
      const { pictures } = await answer.json();
      images.forEach((image, place) => show(image, pictures[place]));
      say();
    } catch { /* the words within the pictures stay */ }
    if (waiting.size) ask();
  };

  const seen = (image) => {
    if (told.has(image) || named(image) === null) return;
    told.add(image);
    waiting.add(image);
    clearTimeout(timer);
    timer = setTimeout(ask, 120);
  };

  for (const image of document.querySelectorAll(".frame img.thumb")) {
    if (image.complete && image.naturalWidth > 0) seen(image);
  }
  document.addEventListener("load", (event) => {
    if (event.target instanceof HTMLImageElement && event.target.matches(".frame img.thumb")) seen(event.target);
  }, true);
})();

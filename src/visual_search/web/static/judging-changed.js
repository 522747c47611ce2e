// Pictures that are no longer what somebody judged by say so in words over them; asked for when they have come in.

const ADDRESS = /^\/judge\/pictures\/(query|candidate)\/(\d+)/;
const MOST = 100; // numbers in one request

// Which of these addresses' pictures changed; null where the server does not say.
export async function changedAmong(addresses) {
  const sides = {query: new Map(), candidate: new Map()};
  for (const address of addresses) {
    const [, side, number] = ADDRESS.exec(address) ?? [];
    if (side && sides[side].size < MOST) sides[side].set(Number(number), address);
  }
  const body = {queries: [...sides.query.keys()], candidates: [...sides.candidate.keys()]};
  if (!body.queries.length && !body.candidates.length) return [];
  try {
    const answer = await fetch('/judge/pictures/changed', {
      method: 'POST',
      headers: {'Content-Type': 'application/json', Accept: 'application/json'},
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(15000),
    });
    if (!answer.ok) return null;
    const told = await answer.json();
    return [...told.queries.map(one => sides.query.get(one)), ...told.candidates.map(one => sides.candidate.get(one))];
  } catch {
    return null; // the server is away
  }
}

// A browser keeps pictures for a day; one that changed is asked for anew.
export function anew(address) {
  return `${address}${address.includes('?') ? '&' : '?'}now=${Date.now()}`;
}

// Marks the pictures of a page as they come in; `told` is called for each that changed.
export function watchPictures(root, told = () => {}) {
  const words = document.getElementById('changed-mark');
  const seen = new WeakSet();
  let waiting = [];
  let timer = 0;

  const ask = async () => {
    const images = waiting.splice(0, MOST);
    const changed = new Set(await changedAmong(images.map(image => image.getAttribute('src'))) ?? []);
    for (const image of images) {
      const address = image.getAttribute('src');
      if (!changed.has(address)) continue;
      image.src = anew(address);
      if (!image.parentElement.querySelector('.changed')) image.after(words.content.cloneNode(true));
      told(image);
    }
    if (waiting.length) ask();
  };

  const add = image => {
    if (seen.has(image) || !ADDRESS.test(image.getAttribute('src'))) return;
    seen.add(image);
    waiting.push(image);
    clearTimeout(timer);
    timer = setTimeout(ask, 120);
  };

  for (const image of root.querySelectorAll('img')) {
    if (image.complete && image.naturalWidth) add(image);
  }
  root.addEventListener('load', event => event.target instanceof HTMLImageElement && add(event.target), true);
}

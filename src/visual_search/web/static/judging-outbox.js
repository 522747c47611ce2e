// What a judge did, on its way to the server: kept in this browser until the server has confirmed it, sent one at a
// time and in order, again and again where the server cannot be reached. Each request carries a key of its own, so
// that one which arrives twice counts once.

const SHORTEST_WAIT = 500; // ms
const LONGEST_WAIT = 8000;
const PATIENCE = 15000; // for one answer

export function newKey() {
  // Not crypto.randomUUID: browsers offer it on this machine and over https only.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('');
}

export class Refused extends Error {
  constructor(error) {
    super(error.message);
    this.kind = error.kind;
    this.status = error.status;
  }
}

// Whether the same request may succeed later.
function isPassing(status) {
  return status >= 500 || status === 401 || status === 408 || status === 421 || status === 429;
}

export async function send(path, body) {
  const answer = await fetch(path, {
    method: 'POST',
    headers: {'Content-Type': 'application/json', Accept: 'application/json'},
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(PATIENCE),
  });
  const value = await answer.json();
  if (answer.ok) return value;
  const error = value.error || {kind: 'Unknown', message: `the server answered ${answer.status}`, status: answer.status};
  if (isPassing(answer.status)) throw new Error(error.message);
  throw new Refused(error);
}

export class Outbox {
  // `place` names store and judge; `changed` is called whenever there is something new to show.
  constructor(place, changed) {
    this.prefix = `visual-search judging ${place} `;
    this.changed = changed;
    this.entries = [];
    this.trouble = '';
    this.kept = true;
    this.sending = false;
    this.wait = SHORTEST_WAIT;
    this.turn = 0;
    window.addEventListener('online', () => this.hurry());
    document.addEventListener('visibilitychange', () => document.hidden || this.hurry());
    window.addEventListener('beforeunload', event => {
      if (this.entries.length && !this.kept) event.preventDefault();
    });
  }

  get waiting() {
    return this.entries.length;
  }

  // What an earlier window left behind, in the order in which it was done.
  takeUp() {
    const found = [];
    try {
      for (let n = 0; n < localStorage.length; n += 1) {
        const name = localStorage.key(n);
        if (name.startsWith(this.prefix)) found.push({...JSON.parse(localStorage.getItem(name)), name});
      }
    } catch {
      this.kept = false;
    }
    found.sort((a, b) => (a.name < b.name ? -1 : 1));
    this.entries.push(...found);
    this.pump();
    return found;
  }

  // Resolves to the server's answer; rejects where the server refuses for good.
  put(path, body) {
    const time = String(Date.now()).padStart(15, '0');
    const name = `${this.prefix}${time} ${String(this.turn).padStart(6, '0')} ${newKey()}`;
    this.turn += 1;
    const entry = {path, body, name};
    this.keep(entry);
    const done = new Promise((resolve, reject) => Object.assign(entry, {resolve, reject}));
    this.entries.push(entry);
    this.changed();
    this.pump();
    return done;
  }

  hurry() {
    clearTimeout(this.timer);
    this.wait = SHORTEST_WAIT;
    this.pump();
  }

  async pump() {
    if (this.sending || !this.entries.length) return;
    this.sending = true;
    const entry = this.entries[0];
    try {
      const {undoes, ...body} = entry.body;
      const answer = await send(entry.path, body);
      this.tell(entry.body.key, answer.judgement?.number);
      this.settle(entry);
      entry.resolve?.(answer);
    } catch (error) {
      if (!(error instanceof Refused)) {
        this.trouble = error.name === 'TypeError' ? 'the server cannot be reached' : error.message;
        this.sending = false;
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.pump(), this.wait);
        this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
        this.changed();
        return;
      }
      this.settle(entry);
      entry.reject?.(error);
    }
    this.sending = false;
    this.changed();
    this.pump();
  }

  // A record has its number now: what waits to take it back, or to stand in its place, needs it.
  tell(key, number) {
    if (number === undefined) return;
    for (const entry of this.entries) {
      const field = 'replaces' in entry.body ? 'replaces' : 'number';
      if (entry.body.undoes !== key || entry.body[field]) continue;
      entry.body[field] = number;
      this.keep(entry);
    }
  }

  keep({name, path, body}) {
    try {
      localStorage.setItem(name, JSON.stringify({path, body}));
    } catch {
      this.kept = false; // a full or forbidden store: the entry lives as long as the window
    }
  }

  settle(entry) {
    this.trouble = '';
    this.wait = SHORTEST_WAIT;
    this.entries.shift();
    try {
      localStorage.removeItem(entry.name);
    } catch {
      this.kept = false;
    }
  }
}

// This window among a judge's windows: each holds pairs of its own, and gives them back when it is closed.
import {newKey} from './judging-outbox.js';

// A duplicated window copies what is stored, so the name is taken out while it is used and put back when it is left.
export function windowName() {
  const name = sessionStorage.getItem('judging window') || newKey();
  sessionStorage.removeItem('judging window');
  addEventListener('pagehide', () => sessionStorage.setItem('judging window', name));
  return name;
}

export function releaseWhenLeft(judge, name) {
  addEventListener('pagehide', () => {
    fetch('/judge/release', {
      method: 'POST',
      headers: {'Content-Type': 'application/json'},
      body: JSON.stringify({judge, window: name}),
      keepalive: true,
    }).catch(() => {});
  });
}

// Seconds during which the page could be seen.
export class Stopwatch {
  constructor() {
    this.restart();
    document.addEventListener('visibilitychange', () => {
      if (this.since === null) return;
      if (document.hidden) this.spent += performance.now() - this.since;
      this.since = performance.now();
    });
  }

  restart() {
    this.spent = 0;
    this.since = null;
  }

  start() {
    if (this.since === null) this.since = performance.now();
  }

  get seconds() {
    if (this.since === null) return null;
    const now = document.hidden ? 0 : performance.now() - this.since;
    return Math.round(this.spent + now) / 1000;
  }
}

// Whether a key press is meant for the page and not for a field or the browser.
export function isForPage(event) {
  if (event.repeat || event.ctrlKey || event.altKey || event.metaKey) return false;
  return !event.target.closest?.('input:not([type="checkbox"]), textarea, select, dialog');
}

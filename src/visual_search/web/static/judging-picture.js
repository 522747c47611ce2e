// A picture, or the text in its place, shown in its frame; a server that is away is asked again until it answers.

import {anew} from './judging-changed.js';

const AGAIN = 1500; // ms

export function preload(address) {
  if (address) new Image().src = address;
}

export class Shown {
  // `frame` holds an <img>, a text and a remark; `ready` is called when what is to be judged can be seen.
  constructor(frame, ready) {
    this.image = frame.querySelector('img');
    this.text = frame.querySelector('.phrase');
    this.remark = frame.querySelector('.remark');
    this.changed = frame.querySelector('.changed');
    this.ready = ready;
    this.isReady = false;
    this.image.addEventListener('load', () => this.done());
    this.image.addEventListener('error', () => this.failed());
  }

  show({picture, text}) {
    clearTimeout(this.timer);
    this.changed.hidden = true;
    this.text.textContent = text || '';
    this.text.hidden = !text;
    this.remark.hidden = true;
    this.address = picture;
    this.isReady = false;
    this.image.hidden = !picture;
    if (!picture) {
      this.image.removeAttribute('src');
      this.done();
    } else if (this.image.getAttribute('src') === picture && this.image.complete && this.image.naturalWidth) {
      this.done();
    } else {
      // A browser shows the picture before until the new one is there.
      this.image.classList.add('coming');
      this.image.src = picture;
    }
  }

  get isTold() {
    return !this.changed.hidden;
  }

  // What is shown is not what others judged by; the browser may have kept the one that was.
  tellChanged() {
    if (this.isTold || !this.address) return;
    this.changed.hidden = false;
    this.image.src = anew(this.address);
  }

  done() {
    this.image.classList.remove('coming');
    this.isReady = true;
    this.ready();
  }

  async failed() {
    const address = this.address;
    if (!address) return;
    let answer = null;
    try {
      answer = await fetch(address);
    } catch {
      // The server is away; below it is asked again.
    }
    if (address !== this.address) return;
    this.remark.hidden = false;
    if (answer && (answer.status === 404 || answer.status === 422)) {
      this.image.hidden = true;
      this.remark.textContent = 'This picture cannot be shown.';
      this.done();
      return;
    }
    this.remark.textContent = 'The picture is not here yet; asking again.';
    this.timer = setTimeout(() => {
      this.image.removeAttribute('src');
      this.image.src = address;
    }, AGAIN);
  }
}

// The flow of judging: a pair is shown, a key gives the grade, the next pair stands there at once; what was done goes
// to the server in the background and is called saved when the server has said so.
import {changedAmong} from './judging-changed.js';
import {listen} from './judging-hands.js';
import {Outbox, newKey, send} from './judging-outbox.js';
import {Shown, preload} from './judging-picture.js';
import {Trail} from './judging-trail.js';
import {Stopwatch, releaseWhenLeft, windowName} from './judging-window.js';

const AHEAD = 3;
const LOOK_AGAIN = 4000; // ms, where nothing is left or the server is away

const root = document.querySelector('.judging');
const told = JSON.parse(root.dataset.judging);
const part = name => root.querySelector(`[data-part="${name}"]`);
const judge = told.judge;
const decides = told.role === 'adjudicator';

class Page {
  constructor() {
    this.queue = [];
    this.acted = new Set(); // pairs that are dealt with here, whether the server knows yet or not
    this.steps = [];
    this.looked = new Set(); // addresses of pictures of which it was asked whether they changed
    this.changed = new Set();
    this.putOff = []; // by who decides; a judge's are kept by the server
    this.count = decides ? 0 : (told.progress.judges[judge]?.judged ?? 0);
    this.watch = new Stopwatch();
    this.window = windowName();
    this.trail = new Trail(part('trail'));
    this.outbox = new Outbox(`${told.place} ${judge}`, () => this.showState());
    this.query = new Shown(part('query'), () => this.seen());
    this.candidate = new Shown(part('candidate'), () => this.seen());
    releaseWhenLeft(judge, this.window);
    for (const one of told.last) this.remember(one);
    for (const entry of this.outbox.takeUp()) this.takeUp(entry);
    this.showProgress(told.progress);
    this.refill();
  }

  remember(one) {
    const step = {kind: 'judgement', pair: one, key: null, number: one.number, state: 'saved', words: one.name};
    this.steps.push(step);
    this.trail.add(step);
    this.acted.add(one.pair);
  }

  // What an earlier window did not bring to the server.
  takeUp(entry) {
    const {pair} = entry.body;
    if (pair) this.acted.add(pair);
    entry.resolve = () => {
      this.isUnsure = !decides; // the server may have had it already, and counted it
      this.recount();
    };
    entry.reject = error => {
      const step = {kind: 'earlier', pair: {pair}, words: 'from an earlier window', state: 'refused', refusal: error.message};
      this.trail.add(step);
      this.say(`Refused: ${error.message}`);
    };
  }

  // After what earlier windows left: how much this judge has done is what the server says.
  async recount() {
    if (!this.isUnsure || this.outbox.waiting) return;
    try {
      const answer = await fetch(`/judge.json?judge=${encodeURIComponent(judge)}`, {signal: AbortSignal.timeout(15000)});
      if (!answer.ok || this.outbox.waiting) return;
      this.count = (await answer.json()).progress.judges[judge]?.judged ?? 0;
      this.isUnsure = false;
      this.showState();
    } catch {
      // The next judgement asks again.
    }
  }

  get current() {
    return this.queue[0] ?? null;
  }

  get isReady() {
    return this.current !== null && this.query.isReady && this.candidate.isReady;
  }

  // Asking and showing

  async refill() {
    if (this.asking) {
      this.askAgain = true;
      return;
    }
    this.asking = true;
    this.askAgain = false;
    clearTimeout(this.timer);
    const gone = new Set(this.acted);
    const count = Math.min(50, 1 + AHEAD + this.outbox.waiting);
    try {
      const answer = await (decides ? this.disputes() : send('/judge/next', {judge, window: this.window, count}));
      this.away = '';
      if (this.outbox.trouble) this.outbox.hurry();
      const isNew = this.queue.length === 0;
      const kept = this.queue.filter((one, place) => place === 0 || one.isBack);
      const here = new Set([...gone, ...this.acted, ...kept.map(one => one.pair)]);
      this.queue = [...kept, ...answer.pairs.filter(one => !here.has(one.pair))];
      if (answer.progress) this.showProgress(answer.progress);
      if (isNew) this.show();
    } catch (error) {
      this.away = error.name === 'TypeError' ? 'the server cannot be reached' : error.message;
    }
    this.asking = false;
    for (const one of this.queue.slice(1, 1 + AHEAD)) {
      preload(one.picture);
      preload(one.query.picture);
    }
    this.showState();
    this.look();
    if (this.askAgain) this.refill();
    else if (this.away || !this.current) this.timer = setTimeout(() => this.refill(), LOOK_AGAIN / (this.away ? 4 : 1));
  }

  // Asked ahead of the pair's turn, so that its words are there when its pictures are.
  async look() {
    const near = this.queue.slice(0, 1 + AHEAD).flatMap(one => [one.picture, one.query.picture]);
    const fresh = near.filter(address => address && !this.looked.has(address));
    for (const address of fresh) this.looked.add(address);
    const found = await changedAmong(fresh);
    for (const address of found ?? []) this.changed.add(address);
    if (!found) for (const address of fresh) this.looked.delete(address);
    this.showChanged();
  }

  showChanged() {
    const pair = this.current;
    if (!pair) return;
    const told = [];
    for (const [shown, address, name] of [[this.query, pair.query.picture, 'query'], [this.candidate, pair.picture, 'candidate']]) {
      if (!this.changed.has(address) || shown.isTold) continue;
      shown.tellChanged();
      told.push(name);
    }
    if (told.length) this.say(`Changed since it was first judged: ${told.join(' and ')}.`);
  }

  // Those put off here come last.
  async disputes() {
    const answer = await fetch('/judge/disagreements.json?limit=50', {signal: AbortSignal.timeout(15000)});
    if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
    const pairs = (await answer.json()).disagreements;
    const isLast = one => this.putOff.indexOf(one.pair);
    return {pairs: pairs.sort((a, b) => isLast(a) - isLast(b))};
  }

  show() {
    const pair = this.current;
    this.watch.restart();
    delete root.dataset.ready;
    part('note').value = pair?.note ?? '';
    part('pair').hidden = !pair;
    part('none').hidden = Boolean(pair);
    // Neither may count as seen while it shows the pair before.
    this.query.isReady = false;
    this.candidate.isReady = false;
    this.showState();
    if (!pair) return;
    if (decides) this.showVotes(pair.votes ?? []);
    this.query.show(pair.query);
    this.candidate.show(pair);
    this.showChanged();
    for (const button of root.querySelectorAll('[data-grade]')) {
      button.classList.toggle('before', pair.before === Number(button.dataset.grade));
    }
  }

  seen() {
    if (!this.isReady) return;
    this.watch.start();
    root.dataset.ready = this.current.pair;
    this.showState();
  }

  // Doing

  mark(grade, reason, words) {
    if (!this.isReady) return;
    const pair = this.current;
    const step = {kind: 'judgement', pair, key: newKey(), number: null, state: 'sending', words, grade};
    const body = {key: step.key, judge, pair: pair.pair, grade, reason, role: told.role};
    body.note = part('note').value.trim();
    body.seconds = this.watch.seconds;
    this.take(step);
    this.outbox.put('/judge/judgements', body).then(
      answer => {
        step.number = answer.judgement.number;
        step.suggestion = answer.suggestion;
        this.count += 1;
        this.settled(step);
        this.say(`Saved: ${words}.`);
      },
      error => this.refused(step, error),
    );
  }

  later() {
    if (!this.isReady) return;
    const step = {kind: 'later', pair: this.current, state: 'sending', words: 'later'};
    this.take(step);
    if (decides) {
      this.putOff.push(step.pair.pair);
      this.acted.delete(step.pair.pair);
      this.settled(step);
      return;
    }
    this.outbox.put('/judge/later', {judge, pair: step.pair.pair}).then(
      () => {
        if (step.state !== 'undone') this.acted.delete(step.pair.pair);
        this.settled(step);
      },
      error => this.refused(step, error),
    );
  }

  take(step) {
    this.acted.add(step.pair.pair);
    this.steps.push(step);
    this.trail.add(step);
    this.queue.shift();
    this.show();
    if (!this.current) this.refill();
  }

  undo() {
    const step = this.steps.findLast(one => one.state === 'sending' || one.state === 'saved');
    if (!step) return;
    step.state = 'undone';
    this.trail.show(step);
    if (step.kind === 'judgement') {
      const body = {key: newKey(), judge, undoes: step.key, number: step.number};
      this.outbox.put('/judge/undo', body).then(
        () => {
          this.count -= 1;
          this.showState();
          this.say(`Taken back: ${step.words}.`);
          this.refill();
        },
        error => this.refused(step, error),
      );
    }
    this.bringBack(step);
  }

  bringBack({pair, grade}) {
    this.acted.delete(pair.pair);
    const others = this.queue.filter(one => one.pair !== pair.pair);
    this.queue = [{...pair, before: grade ?? pair.grade, isBack: true}, ...others];
    this.show();
  }

  settled(step) {
    if (step.state !== 'undone') step.state = 'saved';
    clearTimeout(this.idle); // what all have done is counted every two seconds only
    this.idle = setTimeout(() => this.refill(), 2500);
    this.trail.show(step);
    this.showState();
    this.recount();
    this.refill();
  }

  refused(step, error) {
    step.state = 'refused';
    step.refusal = error.message;
    this.trail.show(step);
    this.say(`Refused: ${error.message}`);
    this.refill();
  }

  // Telling

  showVotes(votes) {
    part('votes').replaceChildren(
      ...votes.map(vote => {
        const row = document.createElement('li');
        row.textContent = [vote.name, vote.reason, vote.note && `“${vote.note}”`].filter(Boolean).join(': ');
        return row;
      }),
    );
  }

  say(words) {
    part('said').textContent = words;
  }

  showState() {
    const waiting = this.outbox.waiting;
    const trouble = this.outbox.trouble || this.away;
    const state = trouble ? 'away' : waiting ? 'sending' : 'saved';
    root.dataset.state = state;
    root.dataset.waiting = waiting;
    const kept = this.outbox.kept ? 'kept in this browser and' : 'kept while this window is open and';
    const many = `${waiting} ${waiting === 1 ? 'action' : 'actions'}`;
    let words = 'All saved';
    if (trouble) words = `${trouble}: ${waiting ? `${many} ${kept} sent as soon as it answers` : 'trying again'}`;
    else if (waiting) words = `Saving ${waiting}`;
    part('state').textContent = words.charAt(0).toUpperCase() + words.slice(1);
    part('count').textContent = this.count;
    const ready = this.isReady;
    for (const button of root.querySelectorAll('[data-needs-pair]')) button.ariaDisabled = String(!ready);
    const undoable = this.steps.some(one => one.state === 'sending' || one.state === 'saved');
    part('undo').ariaDisabled = String(!undoable);
  }

  showProgress(progress) {
    part('given').textContent = progress.given;
    part('wanted').textContent = progress.wanted;
    part('bar').max = Math.max(1, progress.wanted);
    part('bar').value = progress.given;
  }
}

const page = new Page();
listen(root, {
  mark: (grade, reason, name) => page.mark(grade, reason, reason ? `${name}: ${reason}` : name),
  moves: {later: () => page.later(), undo: () => page.undo(), note: () => part('note').focus()},
  mayMark: () => page.isReady,
  keysAreOn: () => part('keys').checked,
});
part('note').addEventListener('keydown', event => {
  if (event.key !== 'Escape' && !(event.key === 'Enter' && event.ctrlKey)) return;
  event.preventDefault();
  part('note').blur();
});

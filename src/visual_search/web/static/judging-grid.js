// All candidates of one query as tiles: arrows move, a key grades the chosen one and goes on to the next that is open.
import {watchPictures} from './judging-changed.js';
import {listen} from './judging-hands.js';
import {Outbox, newKey} from './judging-outbox.js';
import {isForPage} from './judging-window.js';

const root = document.querySelector('.judging');
const told = JSON.parse(root.dataset.judging);
const part = name => root.querySelector(`[data-part="${name}"]`);
const judge = told.judge;
const tiles = Array.from(root.querySelectorAll('.pick'));
const records = new Map(told.tiles.map(tile => [tile.pair, tile.judgement]));
const outbox = new Outbox(`${told.place} ${judge}`, showState);
let since = performance.now();

function showState() {
  const done = [...records.values()].filter(Boolean).length;
  const waiting = outbox.waiting;
  let words = `${done} of ${tiles.length} judged by you`;
  if (outbox.trouble) words += `; ${outbox.trouble}: ${waiting} kept and sent as soon as it answers`;
  else if (waiting) words += `; saving ${waiting}`;
  else if (done) words += '; all saved';
  part('state').textContent = words;
  root.dataset.state = outbox.trouble ? 'away' : waiting ? 'sending' : 'saved';
}

function chosen() {
  return tiles.find(tile => tile.getAttribute('aria-selected') === 'true');
}

function choose(tile, {focus = true} = {}) {
  if (!tile) return;
  for (const one of tiles) {
    one.setAttribute('aria-selected', String(one === tile));
    one.tabIndex = one === tile ? 0 : -1;
  }
  if (focus) tile.focus();
  since = performance.now();
}

function showTile(tile, state) {
  const pair = Number(tile.dataset.pair);
  const record = records.get(pair);
  tile.dataset.state = state;
  const mark = {sending: '…', refused: 'refused: '}[state] ?? '';
  tile.querySelector('.mark').textContent = record ? `${record.name}${mark === '…' ? ' …' : ''}` : mark;
  const place = tiles.indexOf(tile) + 1;
  const changed = tile.querySelector('.changed')?.textContent;
  const words = [record ? record.name : 'not judged', changed].filter(Boolean).join(', ');
  tile.setAttribute('aria-label', `Candidate ${place}: ${words}`);
  showState();
}

function refused(tile, before, error) {
  records.set(Number(tile.dataset.pair), before);
  showTile(tile, 'refused');
  tile.querySelector('.mark').textContent = `refused: ${error.message}`;
  part('said').textContent = `Refused: ${error.message}`;
}

function mark(grade, reason, name) {
  const tile = chosen();
  if (!tile) return;
  const pair = Number(tile.dataset.pair);
  const before = records.get(pair) ?? null;
  const key = newKey();
  const body = {key, judge, pair, grade, reason, seconds: Math.round(performance.now() - since) / 1000};
  // A new grade in place of an old one replaces its record; one that is still on its way is waited for.
  if (before) Object.assign(body, {replaces: before.number ?? null, undoes: before.key ?? null});
  const record = {key, name, grade};
  records.set(pair, record);
  showTile(tile, 'sending');
  outbox.put('/judge/judgements', body).then(
    answer => {
      record.number = answer.judgement.number;
      tile.title = answer.suggestion
        ? `Suggestion of ${answer.suggestion.maker}: ${answer.suggestion.name}. It is not counted.`
        : '';
      if (records.get(pair) === record) showTile(tile, 'saved');
      part('said').textContent = `Saved: ${name}.`;
    },
    error => refused(tile, before, error),
  );
  if (!before) choose(nextOpen(tile));
}

function nextOpen(tile) {
  const place = tiles.indexOf(tile);
  const order = [...tiles.slice(place + 1), ...tiles.slice(0, place)];
  return order.find(one => !records.get(Number(one.dataset.pair))) ?? tiles[place + 1];
}

function takeBack() {
  const tile = chosen();
  const pair = Number(tile?.dataset.pair);
  const before = records.get(pair);
  if (!before) return;
  records.set(pair, null);
  showTile(tile, 'sending');
  tile.title = '';
  const body = {key: newKey(), judge, number: before.number ?? null, undoes: before.key ?? null};
  outbox.put('/judge/undo', body).then(
    () => records.get(pair) || showTile(tile, 'saved'),
    error => refused(tile, before, error),
  );
}

function perRow() {
  const top = tiles[0]?.offsetTop;
  const second = tiles.findIndex(tile => tile.offsetTop > top);
  return second < 0 ? tiles.length : second;
}

function move(key) {
  const steps = {ArrowRight: 1, ArrowLeft: -1, ArrowDown: perRow(), ArrowUp: -perRow()};
  const place = tiles.indexOf(chosen());
  if (key === 'Home') return choose(tiles[0]);
  if (key === 'End') return choose(tiles.at(-1));
  return choose(tiles[place + steps[key]]);
}

for (const tile of tiles) tile.addEventListener('click', () => choose(tile));
listen(root, {mark, moves: {undo: takeBack}, mayMark: () => Boolean(chosen())});
document.addEventListener('keydown', event => {
  if (!isForPage(event) || !/^(Arrow|Home$|End$)/.test(event.key)) return;
  event.preventDefault();
  move(event.key);
});
for (const tile of tiles) showTile(tile, records.get(Number(tile.dataset.pair)) ? 'saved' : 'open');
watchPictures(root, image => {
  const tile = image.closest('.pick');
  if (tile) showTile(tile, tile.dataset.state);
});
for (const entry of outbox.takeUp()) {
  entry.reject = error => { part('said').textContent = `Refused, from an earlier window: ${error.message}`; };
}

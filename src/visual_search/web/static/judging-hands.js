// Buttons and keys of grades and moves, and the dialog of reasons, as every page has them on which somebody judges.
import {isForPage} from './judging-window.js';

// `mark(grade, reason, name)` gives a grade, or null and the reason why there is none; `moves` are the others by name.
export function listen(root, {mark, moves, mayMark = () => true, keysAreOn = () => true}) {
  const part = name => root.querySelector(`[data-part="${name}"]`);
  const reasons = part('reasons');
  const own = part('reason');

  function ask() {
    if (!mayMark()) return;
    own.value = '';
    reasons.showModal();
  }

  function giveReason(reason) {
    reasons.close();
    if (reason.trim()) mark(null, reason.trim(), "can't tell");
  }

  const all = {...moves, unsure: ask};
  root.addEventListener('click', event => {
    const button = event.target.closest('button');
    if (!button || button.ariaDisabled === 'true') return;
    const {grade, name, move, reason, close} = button.dataset;
    if (grade !== undefined) mark(Number(grade), '', name);
    else if (move) all[move]();
    else if (reason) giveReason(reason);
    else if (close !== undefined) reasons.close();
  });
  reasons.addEventListener('submit', event => {
    event.preventDefault();
    giveReason(own.value);
  });
  reasons.addEventListener('keydown', event => {
    if (event.target === own || event.repeat) return;
    press(event, reasons.querySelector(`[data-key="${CSS.escape(event.key)}"]`));
  });
  document.addEventListener('keydown', event => {
    if (!isForPage(event) || !keysAreOn()) return;
    press(event, root.querySelector(`:is(.hands, summary) [data-key="${CSS.escape(event.key.toLowerCase())}"]`));
  });
}

function press(event, button) {
  if (!button) return;
  event.preventDefault();
  button.click();
}

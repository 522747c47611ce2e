// What this judge did last, with its state: sending, saved, or refused; suggestions appear here, after the judgement.

const LONGEST = 8;

function made(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}

const WORDS = {sending: 'not saved yet', saved: 'saved', refused: 'refused', undone: 'taken back'};

export class Trail {
  constructor(list) {
    this.list = list;
    this.rows = new Map();
  }

  add(step) {
    const row = made('li', 'step');
    row.append(made('span', 'small'), made('span', 'what'), made('span', 'state'), made('span', 'more'));
    if (step.pair.picture) {
      const image = made('img');
      image.src = `${step.pair.picture}?small=1`;
      image.alt = '';
      row.firstChild.append(image);
    }
    this.rows.set(step, row);
    this.list.prepend(row);
    while (this.list.children.length > LONGEST) this.list.lastChild.remove();
    this.show(step);
  }

  show(step) {
    const row = this.rows.get(step);
    if (!row) return;
    row.dataset.state = step.state;
    row.dataset.pair = step.pair.pair;
    row.querySelector('.what').textContent = step.words;
    row.querySelector('.state').textContent = WORDS[step.state];
    const more = [];
    if (step.state === 'refused') more.push(step.refusal);
    else if (step.suggestion && step.state === 'saved') {
      const {name, maker} = step.suggestion;
      more.push(`Suggestion of ${maker}: ${name}. It is not counted.`);
    }
    row.querySelector('.more').textContent = more.join(' ');
  }
}

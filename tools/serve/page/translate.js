// The view Translate: a sentence, one checkpoint or two beside each other, the beam and attention.

import {ask, post} from './answers.js';
import {beamTree} from './beam.js';
import {drawn, element, fixed} from './elements.js';
import {paint, shades} from './heatmap.js';

// Weights of one head, [query][key], with the pieces at both sides.
function attentionMap(weights, queries, keys, label) {
  const kCell = 22;
  const longest = (words) => Math.max(...words.map((word) => word.length));
  const left = Math.min(14, longest(queries)) * 7 + 14, top = Math.min(14, longest(keys)) * 6 + 20;
  const width = left + keys.length * kCell + 40, height = top + queries.length * kCell + 6;
  const picture = drawn('svg', {width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label});
  const cut = (word) => word.length > 14 ? `${word.slice(0, 13)}…` : word;
  const rows = queries.map((word, q) => drawn('text', {x: left - 6, y: top + q * kCell + 15, 'text-anchor': 'end'}, cut(word)));
  const columns = keys.map((word, k) => drawn('text', {transform: `translate(${left + k * kCell + 14} ${top - 6}) rotate(-50)`}, cut(word)));
  picture.append(drawn('rect', {class: 'back', x: left, y: top, width: keys.length * kCell, height: queries.length * kCell}), ...rows, ...columns);
  const readout = element('p', {class: 'readout', 'aria-live': 'polite'}, 'Weights are shown for the word under the pointer; arrow keys move it.');
  const cells = weights.map((row, q) => row.map((weight, k) => {
    const cell = drawn('rect', {x: left + k * kCell, y: top + q * kCell, width: kCell - 1, height: kCell - 1, 'fill-opacity': weight.toFixed(3)});
    cell.addEventListener('pointerenter', () => at(q, k));
    return cell;
  }));
  picture.append(...cells.flat());
  let here = [0, 0];
  function at(q, k) {
    const [oldQ, oldK] = here;
    for (const marked of [rows[oldQ], columns[oldK], cells[oldQ][oldK]]) marked.classList.remove('here');
    here = [q, k];
    for (const marked of [rows[q], columns[k], cells[q][k]]) marked.classList.add('here');
    readout.textContent = `${queries[q]} looks at ${keys[k]}: ${fixed(weights[q][k], 4)}`;
  }
  const map = element('div', {class: 'map', tabindex: 0, role: 'region', 'aria-label': `${label}; arrow keys read its cells`}, picture);
  map.addEventListener('keydown', (event) => {
    const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
    if (!step) return;
    event.preventDefault();
    at(Math.max(0, Math.min(queries.length - 1, here[0] + step[0])), Math.max(0, Math.min(keys.length - 1, here[1] + step[1])));
  });
  return element('div', {}, map, readout);
}

// One checkpoint's answer.
class Side {
  constructor(checkpoint, sentence, answer) {
    Object.assign(this, {checkpoint, sentence, answer});
    this.kind = 'cross';
    this.layer = answer.model.N - 1;
    this.head = 0;
    this.chosen = 0;
    const {N, h, d_model: width, norm_placement: norm, positions} = answer.model;
    this.list = element('ol', {class: 'translations', 'aria-label': 'Translations, the best first'});
    this.maps = element('div');
    const select = (label, choices, value, changed) => {
      const made = element('select', {'aria-label': label, onchange: (event) => changed(event.target.value)},
        choices.map(([each, words]) => element('option', {value: each, selected: String(each) === String(value)}, words)));
      return made;
    };
    this.place = element('div', {class: 'side'},
      element('h3', {}, checkpoint), element('p', {class: 'soft'}, `${norm}-LN, N ${N}, d_model ${width}, h ${h}, ${positions} positions`),
      this.list,
      element('h3', {}, 'Beam'), beamTree(answer.search, answer.translations[0]),
      element('p', {class: 'soft'}, 'Every hypothesis that was kept, a column a step; ■ ends one, with its log-probability. The best one is marked.'),
      element('h3', {}, 'Attention'),
      element('p', {}, select('Attention', [['cross', 'decoder to source'], ['encoder', 'encoder'], ['decoder', 'decoder to itself']], this.kind, (value) => { this.kind = value; this.showAttention(); }), ' ',
        select('Layer', Array.from({length: N}, (_, i) => [i, `layer ${i + 1} of ${N}`]), this.layer, (value) => { this.layer = Number(value); this.showAttention(); })),
      this.maps);
    this.showTranslations();
    this.showAttention();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { if (this.shown && this.place.isConnected) this.showHeads(...this.shown); });
  }

  showTranslations() {
    this.list.replaceChildren(...this.answer.translations.map((each, i) => element('li', {},
      element('button', {type: 'button', 'aria-pressed': String(i === this.chosen), onclick: () => { this.chosen = i; this.showTranslations(); this.showAttention(); }},
        element('span', {}, each.text || '(nothing)'),
        element('span', {class: 'score', title: `log-probability ${fixed(each.log_probability, 4)}`}, fixed(each.score, 3))))));
  }

  async showAttention() {
    const asked = [this.kind, this.layer, this.chosen].join();
    this.asked = asked;
    try {
      const {source, target, attention: [{heads}]} = await post('attention', {checkpoint: this.checkpoint, text: this.sentence,
        ids: this.answer.translations[this.chosen].ids, kind: this.kind, layer: this.layer});
      if (this.asked !== asked) return;
      const queries = this.kind === 'encoder' ? source : target, keys = this.kind === 'decoder' ? target : source;
      this.showHeads(heads, queries, keys);
    } catch (problem) {
      this.maps.replaceChildren(element('p', {class: 'problem', role: 'alert'}, problem.message));
    }
  }

  showHeads(heads, queries, keys) {
    this.shown = [heads, queries, keys];
    this.head = Math.min(this.head, heads.length - 1);
    const shade = shades().part;
    const buttons = heads.map(({head, weights}, i) => {
      const canvas = element('canvas', {'aria-hidden': 'true'});
      paint(canvas, weights, shade);
      return element('button', {type: 'button', 'aria-pressed': String(i === this.head), onclick: () => { this.head = i; this.showHeads(heads, queries, keys); }}, canvas, `head ${head + 1}`);
    });
    const focused = this.maps.contains(document.activeElement) && document.activeElement.matches('.heads button');
    this.maps.replaceChildren(element('div', {class: 'heads', role: 'group', 'aria-label': 'Heads'}, buttons),
      attentionMap(heads[this.head].weights, queries, keys, `Attention, layer ${this.layer + 1}, head ${this.head + 1}`));
    if (focused) buttons[this.head].focus();
  }
}

export function translateView(section) {
  const text = element('textarea', {id: 'sentence', rows: 2, maxlength: 2000, spellcheck: 'false'});
  const first = element('select', {id: 'checkpoint'}), second = element('select', {id: 'other'});
  const beam = element('input', {id: 'beam', type: 'number', min: 1, max: 16, value: 4});
  const alpha = element('input', {id: 'alpha', type: 'number', min: 0, max: 5, step: 0.1, value: 0.6});
  const button = element('button', {class: 'first'}, 'Translate');
  const status = element('p', {role: 'status', class: 'waiting'});
  const sides = element('div', {class: 'sides'});
  const form = element('form', {class: 'ask'},
    element('label', {for: 'sentence'}, 'Sentence'), text,
    element('div', {class: 'row'}, element('span', {}, element('label', {for: 'checkpoint'}, 'Checkpoint '), first), element('span', {}, element('label', {for: 'other'}, 'beside '), second)),
    element('div', {class: 'row'}, element('span', {}, element('label', {for: 'beam'}, 'beam '), beam), element('span', {}, element('label', {for: 'alpha', title: 'length penalty'}, 'alpha '), alpha), button));
  section.append(element('h2', {id: 'translate-heading'}, 'Translate'), form, status, sides);

  async function open() {
    const {checkpoints, is_read: isRead} = await ask('runs');
    const options = (choices) => choices.map((name) => element('option', {value: name}, name === '' ? 'none' : name));
    const before = [first.value, second.value];
    first.replaceChildren(...options(checkpoints));
    second.replaceChildren(...options(['', ...checkpoints]));
    if (checkpoints.includes(before[0])) first.value = before[0];
    if (checkpoints.includes(before[1])) second.value = before[1];
    button.disabled = checkpoints.length === 0;
    if (checkpoints.length > 0) status.textContent = '';
    else status.textContent = isRead ? 'No run under the folder has a checkpoint yet.' : 'Reading the folder.';
    if (!isRead) setTimeout(() => open().catch(() => {}), 1000);
  }

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const sentence = text.value.replace(/\s+/g, ' ').trim();
    button.disabled = true;
    status.className = 'waiting';
    status.textContent = 'Translating';
    sides.replaceChildren();
    try {
      for (const checkpoint of [first.value, second.value].filter((name) => name !== '')) {
        const answer = await post('translate', {checkpoint, text: sentence, beam: Number(beam.value), alpha: Number(alpha.value)});
        sides.append(new Side(checkpoint, sentence, answer).place);
      }
      status.textContent = '';
    } catch (problem) {
      status.className = 'problem';
      status.textContent = problem.message;
    } finally {
      button.disabled = false;
    }
  });
  text.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  return {open, close() {}};
}

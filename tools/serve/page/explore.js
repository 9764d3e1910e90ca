// The view Explore: sliders and fields, and what `transformer inspect` computes from them.

import {ask, latest} from './answers.js';
import {element} from './elements.js';
import {topics} from './topics.js';

const nearest = (places, value) => places.reduce((best, place, i) => Math.abs(place - value) < Math.abs(places[best] - value) ? i : best, 0);

// A label with its controls; `changed` is told.
function field(topic, spec, values, changed) {
  const id = `${topic.id}-${spec.key.replace(/\W/g, '-')}`;
  const label = element('label', {for: id, title: spec.title || false}, spec.label);
  const set = (value) => {
    values[spec.key] = String(value).trim();
    changed();
  };
  if (spec.kind === 'choice') {
    const choices = Array.isArray(spec.choices) ? spec.choices.map((each) => [each, each]) : Object.entries(spec.choices);
    const select = element('select', {id, class: 'whole', onchange: (event) => set(event.target.value)},
      choices.map(([value, words]) => element('option', {value, selected: value === values[spec.key]}, words)));
    return element('div', {class: 'field'}, label, select);
  }
  if (spec.kind === 'text') {
    const input = element('input', {id, class: 'whole', value: values[spec.key], inputmode: 'numeric', autocomplete: 'off', spellcheck: 'false', oninput: (event) => set(event.target.value)});
    return element('div', {class: 'field'}, label, input);
  }
  const input = element('input', {id, type: 'number', step: 'any', value: values[spec.key], autocomplete: 'off'});
  const range = element('input', {type: 'range', min: 0, max: spec.at.length - 1, value: nearest(spec.at, Number(values[spec.key])), 'aria-label': spec.title ? `${spec.label}, ${spec.title}` : spec.label, 'aria-valuetext': values[spec.key]});
  range.addEventListener('input', () => {
    input.value = spec.at[Number(range.value)];
    range.setAttribute('aria-valuetext', input.value);
    set(input.value);
  });
  input.addEventListener('input', () => {
    range.value = nearest(spec.at, Number(input.value));
    range.setAttribute('aria-valuetext', input.value);
    set(input.value);
  });
  return element('div', {class: 'field'}, label, range, input);
}

// The same on a command line, to go on from there.
function commandLine(topic, question) {
  const entries = Object.entries(question);
  const isOption = ([key]) => topic.config !== null ? !key.includes('.') : topic.id === 'masks';
  const options = entries.filter(isOption).map(([key, value]) => value === 'true' ? ` --${key}` : value === 'false' ? '' : ` --${key} ${value}`).join('');
  const keys = entries.filter((entry) => !isOption(entry)).map(([key, value]) => ` ${key}=${value}`).join('');
  if (topic.path === 'table3') return `transformer sweep configs/table3.json --dry-run${keys}`;
  return `transformer inspect ${topic.id}${topic.config === null ? '' : ' configs/base.json'}${keys}${options}`;
}

export function exploreView(section, about) {
  section.append(element('h2', {id: 'explore-heading'}, 'Explore'),
    element('p', {class: 'soft'}, 'The paper’s quantities, computed by this program as its sizes move.'));
  const links = new Map(topics.map((topic) => [topic.id, element('a', {href: `#explore/${topic.id}`}, topic.title)]));
  const list = element('nav', {class: 'topics', 'aria-label': 'Topics'}, element('ul', {}, [...links.values()].map((link) => element('li', {}, link))));
  const fields = element('form', {class: 'fields', 'aria-label': 'Sizes', onsubmit: (event) => event.preventDefault()});
  const heading = element('h3', {});
  const status = element('p', {class: 'waiting', role: 'status'});
  const answer = element('div', {class: 'answer'});
  const command = element('code', {class: 'command', tabindex: 0, 'aria-label': 'The same on the command line'});
  const parts = element('div', {class: 'explore'}, list, fields,
    element('div', {}, element('div', {class: 'answer-head'}, heading, status), answer, command));
  section.append(parts);

  const kept = new Map();  // the values of each topic
  let current = null;

  const compute = latest(async (signal, topic, question) => {
    const waiting = setTimeout(() => { answer.classList.add('stale'); status.textContent = 'Computing'; }, 300);
    try {
      const figures = await ask(topic.path ?? `inspect/${topic.id}`, question, signal);
      if (topic !== current) return;
      // Beside the page till it is whole, but where charts must know their width.
      const place = element('div', {'data-topic': topic.id});
      const height = answer.offsetHeight;
      answer.style.minHeight = `${height}px`;
      answer.replaceChildren(place);
      await topic.show(figures, place, about);
      place.dataset.shown = new URLSearchParams(question).toString();
    } catch (problem) {
      if (problem.name === 'AbortError' || problem.status === undefined) throw problem;
      answer.replaceChildren(element('p', {class: 'problem', role: 'alert'}, problem.message));
      if (problem.status === 503) throw problem;  // to be tried again
    } finally {
      clearTimeout(waiting);
      status.textContent = '';
      answer.style.minHeight = '';
      answer.classList.remove('stale');
    }
  });

  function refresh() {
    const values = kept.get(current.id);
    const question = {...current.given, ...Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))};
    Object.assign(question, current.derived?.(values));
    command.textContent = commandLine(current, question);
    compute(current, question);
  }

  function open(id) {
    const topic = topics.find((each) => each.id === id) ?? topics[0];
    if (topic === current) return;
    current = topic;
    if (!kept.has(topic.id)) kept.set(topic.id, Object.fromEntries(topic.fields.map((spec) => [spec.key, String(spec.value)])));
    for (const [each, link] of links) {
      if (each === topic.id) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
    links.get(topic.id).scrollIntoView({block: 'nearest', inline: 'nearest'});
    heading.replaceChildren(topic.title, ' ', element('span', {class: 'soft'}, topic.section));
    fields.replaceChildren(...topic.fields.map((spec) => field(topic, spec, kept.get(topic.id), refresh)));
    parts.classList.toggle('wide', topic.isWide === true);
    answer.replaceChildren();
    refresh();
  }
  return {open, close() {}};
}

// The view Runs: sweeps as they go on.

import {ask} from './answers.js';
import {Chart} from './charts.js';
import {duration, element, fixed, table, whole} from './elements.js';

const kEvery = 2000;  // milliseconds

function progressCell(run) {
  if (run.step === null || !run.train_steps) return '';
  const label = `step ${whole(run.step)} of ${whole(run.train_steps)}`;
  return element('span', {}, element('progress', {max: run.train_steps, value: run.step, 'aria-label': label, title: label}), ` ${whole(run.step)} of ${whole(run.train_steps)}`);
}

function timeOf(run) {
  if (run.state === 'running') return run.seconds_left === null ? '' : `about ${duration(run.seconds_left)} left`;
  return run.seconds === null ? '' : duration(run.seconds);
}

function runsTable(runs) {
  const number = (value, digits) => value === null ? '' : fixed(value, digits);
  const seeds = new Set(runs.map((run) => run.seed)).size > 1;
  const messages = runs.some((run) => run.message);
  return table([
    ['row', ...(seeds ? ['seed'] : []), element('th', {scope: 'col', class: 'left'}, 'state'), element('th', {scope: 'col', class: 'left'}, 'progress'), 'loss', 'perplexity', 'BLEU', 'time', ...(messages ? [''] : [])],
    ...runs.map((run) => [run.row, ...(seeds ? [run.seed] : []),
      element('td', {class: 'left'}, element('span', {class: `state ${run.state}`}, run.state)),
      element('td', {class: 'left'}, progressCell(run)),
      run.state === 'running' ? number(run.loss, 3) : '', number(run.perplexity, 3), number(run.bleu, 1), timeOf(run),
      ...(messages ? [element('td', {class: 'message'}, run.message)] : [])]),
  ], {caption: 'Runs'});
}

// The program's own table, its cells escaped there.
function parsed(html) {
  const made = new DOMParser().parseFromString(html, 'text/html');
  return [...made.body.childNodes];
}

export function runsView(section, about) {
  const chosen = element('select', {id: 'sweep'});
  const summary = element('p', {class: 'soft', role: 'status'});
  const runs = element('div', {id: 'run-states'});
  const results = element('div', {class: 'scroll', id: 'results', tabindex: 0, role: 'region', 'aria-label': 'Results'});
  const place = element('div', {class: 'charts'});
  const problem = element('p', {class: 'problem', role: 'alert', hidden: true});
  const more = element('p', {class: 'soft', hidden: true}, 'There are more files under the folder than are looked at: serve one nearer to the runs.');
  const content = element('div', {hidden: true}, runs, element('h3', {}, 'Results'), results, element('h3', {}, 'Charts'), place);
  section.append(element('h2', {id: 'runs-heading'}, 'Runs'),
    element('div', {class: 'sweeps'}, element('label', {for: 'sweep'}, 'Sweep or run'), chosen), more, summary, problem, content);

  let charts = new Map();
  let version = null, of = null;  // of the charts that are shown
  let timer = null;
  let names = '';
  let wanted = '';  // by the address, and not there yet

  const say = (message) => {
    problem.textContent = message;
    problem.hidden = message === '';
  };

  function choose(sweeps) {
    const now = sweeps.map((sweep) => sweep.name).join('\n');
    if (now === names) return;
    names = now;
    const before = sweeps.some((sweep) => sweep.name === wanted) ? wanted : chosen.value;
    if (before === wanted) wanted = '';
    chosen.replaceChildren(...sweeps.map((sweep) => element('option', {value: sweep.name}, sweep.name)));
    const going = sweeps.find((sweep) => sweep.running > 0);
    chosen.value = sweeps.some((sweep) => sweep.name === before) ? before : (going ?? sweeps[0])?.name;
  }

  async function showCharts(name, now) {
    if (of === name && version === now) return;
    const all = await ask('charts', {name});
    if (of !== name) {
      charts = new Map();
      place.replaceChildren();
    }
    [of, version] = [name, now];
    for (const each of all) {
      const there = charts.get(each.id);
      if (there) {
        await there.update(each.spec);
        continue;
      }
      const chart = new Chart(about, each);
      charts.set(each.id, chart);
      place.append(chart.figure);
      await chart.draw();
    }
    if (all.length === 0) place.replaceChildren(element('p', {class: 'soft'}, 'Nothing to draw yet.'));
  }

  async function look() {
    const {sweeps, is_read: isRead, is_whole: isWhole} = await ask('runs');
    choose(sweeps);
    more.hidden = isWhole;
    content.hidden = sweeps.length === 0;
    chosen.disabled = sweeps.length === 0;
    if (sweeps.length === 0) {
      summary.textContent = isRead ? 'There is no sweep or run under the folder yet.' : 'Reading the folder.';
      return;
    }
    const sweep = await ask('sweep', {name: chosen.value});
    say(sweep.problem ?? '');
    if (sweep.problem) {
      content.hidden = true;
      summary.textContent = '';
      return;
    }
    const count = (state) => sweep.runs.filter((run) => run.state === state).length;
    const others = ['running', 'queued', 'diverged', 'failed', 'interrupted', 'missing'].filter((state) => count(state) > 0).map((state) => `${count(state)} ${state}`);
    const words = [`${count('complete')} of ${sweep.runs.length} runs complete`, ...others].join(', ');
    if (summary.textContent !== words) summary.textContent = words;
    const made = runsTable(sweep.runs);
    if (runs.firstChild) runs.firstChild.replaceChildren(...made.childNodes);  // focus and scrolling stay
    else runs.append(made);
    if (of !== sweep.name || version !== sweep.version) results.replaceChildren(...parsed(sweep.table));
    await showCharts(sweep.name, sweep.version);
  }

  async function again() {
    clearTimeout(timer);
    try {
      await look();
    } catch (trouble) {
      say(trouble.message);
    }
    if (!section.hidden) timer = setTimeout(again, document.hidden ? 5 * kEvery : kEvery);
  }
  // The address names the sweep, so that it can be kept and sent.
  chosen.addEventListener('change', () => {
    wanted = '';
    history.replaceState(null, '', `#runs/${encodeURIComponent(chosen.value)}`);
    again();
  });

  function open(name) {
    wanted = name;
    names = '';  // chosen anew
    return again();
  }
  return {open, close: () => clearTimeout(timer)};
}

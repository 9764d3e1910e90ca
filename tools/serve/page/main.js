// The page: three views, named by the address behind its #.

import {ask} from './answers.js';
import {element} from './elements.js';
import {exploreView} from './explore.js';
import {runsView} from './runs.js';
import {translateView} from './translate.js';

const makers = {runs: runsView, explore: exploreView, translate: translateView};
const views = {};
let current = null;

// What was written into the address by hand may be anything.
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function show() {
  const [name, ...rest] = location.hash.slice(1).split('/');
  if (name === 'main') return;  // the link that skips to the content
  const chosen = makers[name] ? name : 'runs';
  if (current && current !== chosen) views[current].close();
  current = chosen;
  for (const each of Object.keys(makers)) document.getElementById(each).hidden = each !== chosen;
  for (const link of document.querySelectorAll('header nav a')) {
    if (link.hash === `#${chosen}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  document.title = `${chosen[0].toUpperCase()}${chosen.slice(1)} · transformer`;
  const section = document.getElementById(chosen);
  views[chosen] ??= makers[chosen](section, about);
  try {
    await views[chosen].open(decoded(rest.join('/')));
  } catch (problem) {
    section.append(element('p', {class: 'problem', role: 'alert'}, problem.message));
  }
}

const about = await ask('about').catch(() => ({draws_charts: false, folder: '', version: ''}));
document.getElementById('about').textContent = `${about.folder} · ${about.version}`;
addEventListener('hashchange', show);
show();

// Charts by Vega-Lite, where the program was built with it; else, and below each chart, its figures.

import {element, short, table} from './elements.js';

let library = null;  // a promise of vegaEmbed; of null where it is not there

function vega(draws) {
  library ??= !draws ? Promise.resolve(null) : new Promise((resolve) => {
    const script = element('script', {src: '/vega.js'});
    script.onload = () => resolve(window.vegaEmbed ?? null);
    script.onerror = () => resolve(null);
    document.head.append(script);
  });
  return library;
}

export const canDraw = (about) => about.draws_charts;

function colours() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  const axis = {labelColor: of('--soft'), titleColor: of('--ink'), gridColor: of('--line'), domainColor: of('--line'), tickColor: of('--line'), titleFontWeight: 500};
  return {
    background: null, font: 'system-ui, sans-serif', axis,
    legend: {labelColor: of('--ink'), titleColor: of('--soft'), labelLimit: 220},
    title: {color: of('--ink')}, view: {stroke: of('--line')}, text: {color: of('--ink')},
    range: dark.matches ? {category: ['#7fb2e0', '#f0a35e', '#6cc08b', '#f08a80', '#b9a3e3', '#e0b050', '#8fd3d1', '#d6d6d6']}
      : {category: ['#2b5c8a', '#b35806', '#2e7d4f', '#b3372f', '#6a51a3', '#8a6100', '#1b7c7a', '#555']},
  };
}

const dark = matchMedia('(prefers-color-scheme: dark)');
const shown = new Set();
dark.addEventListener('change', () => {
  for (const chart of shown) {
    if (!chart.figure.isConnected) shown.delete(chart);
    else chart.draw();
  }
});

// A figure with a chart, its words and its figures. `update` gives it other records.
export class Chart {
  constructor(about, {id, title, text = '', spec, lastOf = null}) {
    this.about = about;
    this.spec = {...spec, data: {name: 'records', values: spec.data.values}};
    this.lastOf = lastOf;
    this.place = element('div', {class: 'chart'});
    this.details = element('details', {}, element('summary', {}, 'Figures'));
    this.details.addEventListener('toggle', () => this.fillDetails());
    this.figure = element('figure', {id, 'aria-label': title}, element('h3', {}, title), this.place,
      text ? element('figcaption', {}, text) : null, this.details);
    shown.add(this);
  }

  // Where it stands must be in the page: it takes its width.
  async draw() {
    const embed = await vega(canDraw(this.about));
    if (!embed) {
      this.details.open = true;
      this.fillDetails();
      return;
    }
    const embedded = await embed(this.place, this.spec, {
      renderer: 'svg', actions: false, defaultStyle: false, tooltip: {disableDefaultStyle: true}, ast: true,
      config: colours(),
    });
    this.figure.view?.finalize();
    this.figure.view = embedded.view;  // for whoever wants to read its data
  }

  async update(spec) {
    const {values} = spec.data;
    this.spec.data.values = values;
    if (this.figure.view) await this.figure.view.data('records', values).runAsync();
    else await this.draw();
    if (this.details.open) this.fillDetails();
  }

  fillDetails() {
    if (!this.details.open) return;
    const {values} = this.spec.data;
    const keys = Object.keys(values[0] ?? {});
    const kept = values.length <= 400 ? values : values.filter((_, i) => i % Math.ceil(values.length / 400) === 0);
    const cells = kept.map((record) => keys.map((key) => typeof record[key] === 'number' ? short(record[key]) : record[key]));
    this.details.replaceChildren(element('summary', {}, 'Figures'), table([keys, ...cells], {left: 0, caption: 'Figures'}));
  }
}

// Lines of records {[x], [y], [color]}.
export function lines({x, y, color, values, xTitle = x, yTitle = y, logX = false, logY = false, height = 260, point = false}) {
  const axis = (field, title, logarithmic) => ({field, title, type: 'quantitative', scale: logarithmic ? {type: 'log', nice: false} : {zero: false, nice: false}});
  return {
    $schema: 'https://vega.github.io/schema/vega-lite/v6.json', width: 'container', height,
    autosize: {type: 'fit', contains: 'padding'}, data: {values},
    mark: {type: 'line', point, tooltip: true},
    encoding: {
      x: axis(x, xTitle, logX), y: axis(y, yTitle, logY),
      ...(color ? {color: {field: color, type: 'nominal', sort: null, title: null, legend: {orient: 'top'}}} : {}),
    },
  };
}

// A matrix as a picture whose cells can be read, by pointer and by the arrow keys.

import {element} from './elements.js';

function rgb(name) {
  const probe = element('span');
  probe.style.color = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  document.body.append(probe);
  const numbers = getComputedStyle(probe).color.match(/[\d.]+/g).map(Number);
  probe.remove();
  return numbers;
}

// From the page's ground to a colour: 0 to 1, or -1 to 1 with a colour on each side.
export function shades() {
  const [ground, positive, negative, accent] = ['--ground', '--positive', '--negative', '--accent'].map(rgb);
  const between = (from, to, part) => from.map((value, i) => value + (to[i] - value) * part);
  return {
    signed: (value) => between(ground, value < 0 ? negative : positive, Math.min(1, Math.abs(value))),
    part: (value) => between(ground, accent, Math.min(1, Math.max(0, value))),
  };
}

export function paint(canvas, matrix, shade) {
  const rows = matrix.length, columns = matrix[0].length;
  canvas.width = columns;
  canvas.height = rows;
  const context = canvas.getContext('2d');
  const picture = context.createImageData(columns, rows);
  for (let row = 0, at = 0; row < rows; ++row) {
    for (let column = 0; column < columns; ++column, at += 4) {
      const [red, green, blue] = shade(matrix[row][column]);
      picture.data.set([red, green, blue, 255], at);
    }
  }
  context.putImageData(picture, 0, 0);
}

// `describe(row, column)`: what is said of a cell.
export function heatmap({matrix, label, describe, low = -1, high = 1}) {
  const rows = matrix.length, columns = matrix[0].length;
  const canvas = element('canvas', {tabindex: 0, role: 'img', 'aria-label': `${label}; arrow keys read its cells`});
  const scale = Math.max(1, Math.min(8, Math.floor(360 / rows)));
  canvas.style.width = '100%';
  canvas.style.height = `${rows * scale}px`;
  const readout = element('p', {class: 'readout', 'aria-live': 'polite'});
  const legend = element('canvas');
  const redraw = () => {
    const {signed, part} = shades();
    const shade = low < 0 ? signed : part;
    paint(canvas, matrix, shade);
    paint(legend, [Array.from({length: 64}, (_, i) => low + (high - low) * i / 63)], shade);
  };
  redraw();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => canvas.isConnected && redraw());
  let row = 0, column = 0;
  const read = () => { readout.textContent = describe(row, column); };
  canvas.addEventListener('pointermove', (event) => {
    const box = canvas.getBoundingClientRect();
    column = Math.max(0, Math.min(columns - 1, Math.floor((event.clientX - box.left) / box.width * columns)));
    row = Math.max(0, Math.min(rows - 1, Math.floor((event.clientY - box.top) / box.height * rows)));
    read();
  });
  canvas.addEventListener('keydown', (event) => {
    const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]}[event.key];
    if (!step) return;
    event.preventDefault();
    row = Math.max(0, Math.min(rows - 1, row + step[0]));
    column = Math.max(0, Math.min(columns - 1, column + step[1]));
    read();
  });
  read();
  return element('div', {}, canvas, readout,
    element('div', {class: 'legend', 'aria-hidden': 'true'}, String(low), legend, String(high)));
}

// Small helpers for building the page, and for writing numbers.

// element('td', {class: 'left'}, 'text', other): nothing is ever read as HTML.
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

// Rows of cells; the first row heads, the first `left` columns are text.
export function table(rows, {left = 1, caption = null} = {}) {
  const cell = (tag, content, column) => {
    if (content instanceof HTMLTableCellElement) return content;
    const text = content === null || content === undefined ? '' : content;
    const scope = tag === 'th' ? {scope: 'col'} : {};
    return element(tag, {...scope, class: column < left ? 'left' : false}, text instanceof Node ? text : String(text));
  };
  const [head, ...body] = rows;
  return element('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption ?? 'Table'},
    element('table', {},
      caption ? element('caption', {class: 'unseen'}, caption) : null,
      element('thead', {}, element('tr', {}, head.map((content, i) => cell('th', content, i)))),
      element('tbody', {}, body.map((row) => element('tr', {}, row.map((content, i) => cell('td', content, i)))))));
}

// A cell with a bar, `part` of the longest one.
export function bar(part) {
  const span = element('span');
  span.style.width = `${Math.max(0, Math.min(1, part)) * 100}%`;
  return element('td', {class: 'bar', 'aria-hidden': 'true'}, span);
}

export const whole = (value) => Math.round(value).toLocaleString('en-US');
export const fixed = (value, digits) => value.toFixed(digits);
export function short(value, digits = 4) {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) return value.toExponential(digits - 1).replace('e+', 'e');
  return Number(value.toPrecision(digits)).toLocaleString('en-US', {maximumFractionDigits: 8});
}
export function bytes(count) {
  for (const [name, size] of [['GiB', 2 ** 30], ['MiB', 2 ** 20], ['KiB', 2 ** 10]]) {
    if (count >= size) return `${(count / size).toFixed(1)} ${name}`;
  }
  return `${count} B`;
}
export function duration(seconds) {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${String(minutes % 60).padStart(2, '0')} min`;
  return `${(seconds / 86400).toFixed(1)} days`;
}

// A beam search as the tree of its hypotheses, left to right: a column a step.

import {drawn, element, fixed} from './elements.js';

export function beamTree(search, best) {
  const nodes = search.map((node, id) => ({...node, id, depth: node.parent < 0 ? 1 : 0}));
  for (const node of nodes) if (node.parent >= 0) node.depth = nodes[node.parent].depth + 1;
  const columns = [];
  for (const node of nodes) (columns[node.depth] ??= []).push(node);
  const kColumn = 104, kRow = 26, kMargin = 14, kRoot = 52;
  for (const column of columns) {
    column?.sort((a, b) => b.log_probability - a.log_probability).forEach((node, row) => {
      node.x = kRoot + (node.depth - 1) * kColumn;
      node.y = kMargin + row * kRow + 6;
    });
  }
  const root = {x: kMargin, y: kMargin + 6};
  // The end that the best translation is: by its probability.
  const end = nodes.find((node) => node.is_end && node.log_probability === best.log_probability);
  const onPath = new Set();
  for (let node = end; node; node = node.parent < 0 ? null : nodes[node.parent]) onPath.add(node.id);

  const width = kRoot + (columns.length - 1) * kColumn;
  const height = kMargin * 2 + Math.max(1, ...Array.from(columns, (column) => column?.length ?? 0)) * kRow;
  const picture = drawn('svg', {width, height, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `Beam search: ${columns.length - 1} steps, ${nodes.filter((node) => node.is_end).length} finished hypotheses; the best has log-probability ${fixed(best.log_probability, 3)}`});
  const edges = drawn('g'), labels = drawn('g');
  for (const node of nodes) {
    const from = node.parent < 0 ? root : nodes[node.parent];
    const start = from === root ? root.x + 12 : from.x + kColumn - 34, middle = (start + node.x) / 2;
    edges.append(drawn('path', {class: `edge${onPath.has(node.id) ? ' best' : ''}`, d: `M${start} ${from.y} C${middle} ${from.y} ${middle} ${node.y} ${node.x - 4} ${node.y}`}));
    const word = node.is_end ? '■' : node.piece;
    const shown = word.length > 9 ? `${word.slice(0, 8)}…` : word;
    const group = drawn('g', {class: `node${onPath.has(node.id) ? ' best' : ''}${node.is_end ? ' ends' : ''}`},
      drawn('title', {}, `${node.is_end ? 'end of sentence' : node.piece}: log-probability ${fixed(node.log_probability, 3)}`),
      drawn('text', {x: node.x, y: node.y + 4}, shown));
    if (node.is_end) group.append(drawn('text', {x: node.x + 14, y: node.y + 4}, fixed(node.log_probability, 2)));
    labels.append(group);
  }
  picture.append(edges, labels, drawn('circle', {cx: root.x + 5, cy: root.y, r: 3, fill: 'currentColor'}));
  return element('div', {class: 'tree', tabindex: 0, role: 'region', 'aria-label': 'Beam'}, picture);
}

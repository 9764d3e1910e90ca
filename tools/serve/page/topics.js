// The topics of the view Explore: which sizes can be moved, and how what the server computed from
// them is shown. Nothing is computed here but where things stand on the page.

import {bar, bytes, duration, element, fixed, short, table, whole} from './elements.js';
import {Chart, lines} from './charts.js';
import {heatmap} from './heatmap.js';

// Fields. `at` are the slider's places; a number field takes any value beside.
const number = (key, label, value, at, title = '') => ({key, label, value, at, title, kind: 'number'});
const choice = (key, label, value, choices, title = '') => ({key, label, value, choices, title, kind: 'choice'});
const text = (key, label, value, title = '') => ({key, label, value, title, kind: 'text'});

const upTo = (most, from = 1) => Array.from({length: most - from + 1}, (_, i) => from + i);
const doubled = (from, most) => {
  const all = [];
  for (let value = from; value <= most; value *= 2) all.push(value);
  return all;
};
const tenths = (most, step) => Array.from({length: Math.round(most / step) + 1}, (_, i) => Number((i * step).toFixed(4)));

const sizes = {
  N: (value = 6) => number('model.N', 'N', value, upTo(24), 'layers of the encoder, and of the decoder'),
  d_model: (value = 512) => number('model.d_model', 'd_model', value, doubled(16, 1024), 'width of the residual stream'),
  d_ff: (value = 2048) => number('model.d_ff', 'd_ff', value, doubled(32, 8192), 'inner width of the feed-forward layers'),
  h: (value = 8) => number('model.h', 'h', value, doubled(1, 64), 'attention heads'),
  d_k: (value = 64) => number('model.d_k', 'd_k', value, doubled(2, 512), "a head's query and key width"),
  d_v: (value = 64) => number('model.d_v', 'd_v', value, doubled(2, 512), "a head's value width"),
  V: (value = 37000) => number('model.V', 'V', value, [100, 200, 500, 1000, 2000, 4000, 8000, 16000, 25000, 32000, 37000, 41100, 50000, 64000], 'word-pieces of the vocabulary'),
  tied: () => choice('model.tie_embeddings', 'embeddings', 'true', {true: 'one matrix (tied)', false: 'three matrices'}),
  positions: (kinds = ['sinusoidal', 'learned', 'rope', 'alibi', 'none']) => choice('model.positions', 'positions', 'sinusoidal', kinds),
  feedForward: () => choice('model.feed_forward', 'feed-forward', 'relu', ['relu', 'gelu', 'swiglu', 'geglu']),
};

const name = (words) => words.replaceAll('_', ' ');
const figure = (value, words) => element('p', {}, element('span', {class: 'figure'}, value), ' ', words);

async function showChart(place, about, chart) {
  const made = new Chart(about, chart);
  place.append(made.figure);
  await made.draw();
}

function complexity({layers, sizes: {n}}, place) {
  const most = Math.max(...layers.map((layer) => layer.to_self_attention));
  place.append(table([
    ['layer type', 'operations', 'to self-attention', '', 'sequential', 'path', 'alike at n'],
    ...layers.map((layer) => [name(layer.type), short(layer.operations), fixed(layer.to_self_attention, 2),
      bar(layer.to_self_attention / most), whole(layer.sequential), fixed(layer.path, 2),
      layer.crossing === null ? '' : whole(layer.crossing)]),
  ], {caption: `Table 1 at n = ${n}`}));
  place.append(element('p', {class: 'soft'}, 'Orders of growth, constants left out. Self-attention is the cheaper layer below the n of the last column.'));
}

// The first layer of each stack; the others are alike.
function shapes({tensors, parameters}, place) {
  place.append(figure(whole(parameters), 'trained scalars'));
  const rows = tensors.filter(({place: at}) => !/\.layers\.[1-9]\d*\./.test(at));
  place.append(table([['place', 'tensor', 'shape', 'parameters'],
    ...rows.map((row) => [row.place, row.tensor, `[${row.shape.join(', ')}]`, row.parameters ? whole(row.parameters) : ''])],
  {left: 3, caption: 'Tensors of a batch on its way (figure 1)'}));
  place.append(element('p', {class: 'soft'}, 'The first layer of each stack is shown; the others are alike. Parameters stand with the tensor of the module that has them.'));
}

async function embeddingScale({rows}, place, about) {
  place.append(table([['d_model', 'side', 'embedding', '× √d_model', 'position', 'sum'],
    ...rows.flatMap((row) => ['source', 'target'].map((side) => [row.d_model, side, ...['embedding', 'scaled', 'position', 'sum'].map((key) => fixed(row[side][key], 4))]))],
  {left: 2, caption: 'Mean norms of what enters the first layer'}));
  if (rows.length < 2) return;
  const values = rows.flatMap((row) => [['embedding', 'embedding'], ['scaled', 'embedding × √d_model'], ['position', 'position']]
    .map(([key, label]) => ({d_model: row.d_model, norm: row.source[key], what: label})));
  await showChart(place, about, {id: 'embedding-norms', title: 'Norm by width', text: 'Of the source side, as initialised. Scaled, the embedding keeps up with the position that is added to it.',
    spec: lines({x: 'd_model', y: 'norm', color: 'what', values, logX: true, logY: true, point: true})});
}

async function positions({matrix, norms, products}, place, about) {
  place.append(element('h3', {}, 'The matrix'));
  place.append(heatmap({
    matrix, label: `Positions, ${matrix.length} by ${matrix[0].length}`,
    describe: (pos, i) => `PE(pos = ${pos}, i = ${i}) = ${fixed(matrix[pos][i], 4)}; norm of the row ${fixed(norms[pos], 4)}`,
  }), element('p', {class: 'soft'}, 'A line a position, a column a dimension: sines in the even ones, cosines in the odd.'));
  const values = products.flatMap((each, distance) => ['least', 'mean', 'most'].map((what) => ({distance, product: each[what], what})));
  await showChart(place, about, {id: 'products', title: 'PE(pos) · PE(pos + distance)', text: 'Over all pos. Of sinusoids the product depends on the distance alone: the three lines are one.',
    spec: lines({x: 'distance', y: 'product', color: 'what', values})});
}

function masks({masks: all}, place) {
  for (const mask of all) {
    place.append(element('h3', {}, mask.mask));
    place.append(element('div', {class: 'grids'}, mask.allowed.map((rows, sentence) => {
      const grid = element('div', {class: 'grid', role: 'img', 'aria-label': `Sentence ${sentence + 1}: ` + rows.map((row, q) => `query ${q + 1} may look at ${row.filter(Boolean).length} of ${row.length}`).join(', ')});
      grid.style.gridTemplateColumns = `repeat(${rows[0].length}, max-content)`;
      rows.forEach((row, q) => row.forEach((may, k) => {
        const weight = mask.weights[sentence][q][k];
        grid.append(element('span', {class: may ? 'may' : false, title: `query ${q + 1}, key ${k + 1}: weight ${fixed(weight, 3)}`}, weight > 0 ? String(Number(weight.toFixed(2))).replace(/^0/, '') : ''));
      }));
      return element('div', {}, element('p', {class: 'soft'}, `sentence ${sentence + 1}`), grid);
    })));
  }
  place.append(element('p', {class: 'soft'}, 'A line a query, a column a key; in the cells what is left of the softmax where all scores are alike. The decoder needs no mask for its own padding: it stands at the right, and causality hides it.'));
}

async function signal({rows}, place, about) {
  const sublayers = rows.flatMap((row) => row.sublayers.map((each, depth) => ({row: `${row.norm_placement}, N ${row.N}`, sublayer: each.sublayer, depth: depth + 1, ...each})));
  const pick = (key, keep = () => true) => sublayers.filter(keep).map((each) => ({row: each.row, depth: each.depth, sublayer: each.sublayer, [key]: each[key]}));
  const chart = (id, title, key, words, extra = {}) => showChart(place, about, {id, title, text: words,
    spec: lines({x: 'depth', y: key, color: 'row', xTitle: 'sublayer, encoder first', values: pick(key, extra.keep), height: 220, ...extra})});
  await chart('stream', 'Norm of what the connection returns', 'output', 'Post-LN sets it back at every sublayer; in Pre-LN the stream grows with depth, in the encoder and again in the decoder.', {yTitle: 'norm'});
  await chart('gradient', 'Gradient by W2 of the feed-forward layers', 'gradient_out', 'Of the loss that training would begin with; the encoder’s layers, then the decoder’s.', {yTitle: 'norm of the gradient', logY: true, keep: (each) => each.gradient_out > 0, point: true});
  await chart('dependency', 'Var[f] / Var[x + f]', 'dependency', 'What part of a connection comes from its own branch (Admin).', {yTitle: 'part'});
  place.append(element('details', {}, element('summary', {}, 'Every sublayer'),
    table([['row', 'sublayer', '|x|', '|f|', '|f|/|x|', 'Var[f]/Var[x+f]', '|output|', '|dL/dW1|', '|dL/dW2|'],
      ...sublayers.map((each) => [each.row, each.sublayer, fixed(each.trunk, 2), fixed(each.branch, 2), fixed(each.branch_trunk, 3), fixed(each.dependency, 3), fixed(each.output, 2),
        each.gradient_in ? short(each.gradient_in) : '', each.gradient_out ? short(each.gradient_out) : ''])], {left: 2})));
}

function parameters(count, place) {
  const {total, tied, untied, ...blocks} = count;
  place.append(figure(whole(total), 'trained scalars'));
  const most = Math.max(...Object.values(blocks));
  place.append(table([['block', 'scalars', ''],
    ...Object.entries(blocks).filter(([, value]) => value > 0).map(([block, value]) => [name(block), whole(value), bar(value / most)]),
    ['total', element('strong', {}, whole(total)), '']], {caption: 'Parameters by block'}));
  place.append(element('p', {class: 'soft'}, `${tied === undefined ? '' : `Tied, with one matrix: ${whole(tied)}. `}Untied, with three: ${whole(untied)}. Every trained scalar once.`));
}

async function schedule({rows}, place, about) {
  place.append(table([['row', 'peak', 'at step'], ...rows.map((row) => [row.id, short(row.peak.rate), whole(row.peak.step)])], {caption: 'Peaks'}));
  const values = rows.flatMap((row) => row.rates.map(({step, rate}) => ({row: row.id, step, rate})));
  await showChart(place, about, {id: 'rates', title: 'Learning rate', spec: lines({x: 'step', y: 'rate', color: rows.length > 1 ? 'row' : null, xTitle: 'training step', yTitle: 'learning rate', values})});
}

function labelSmoothing({rows}, place) {
  place.append(table([['eps_ls', 'V', 'floor', 'perplexity', 'floor over others', 'perplexity'],
    ...rows.map((row) => [row.eps_ls, whole(row.V), fixed(row.floor, 5), fixed(row.perplexity, 4), fixed(row.floor_over_others, 5), fixed(row.perplexity_over_others, 4)])],
  {left: 0, caption: 'The least the smoothed loss can be'}));
  place.append(element('p', {class: 'soft'}, 'In nats a word-piece. Floor: eps_ls / V on every entry, the target included, as this program trains. Floor over others: eps_ls / (V − 1) on every entry but the target.'));
}

function cache({rows, length, bits, projections_saved: saved}, place) {
  const most = Math.max(...rows.map((row) => row.self_attention_bytes));
  place.append(table([['row', 'kv_heads', 'bytes a token', 'self-attention', '', 'cross-attention'],
    ...rows.map((row) => [row.id, row.kv_heads, whole(row.bytes_a_token), bytes(row.self_attention_bytes), bar(row.self_attention_bytes / most), bytes(row.cross_attention_bytes)])],
  {caption: 'What decoding keeps'}));
  place.append(element('p', {class: 'soft'}, `One translation of ${whole(length)} word-pieces, numbers of ${bits} bits. Without the cache keys and values are projected ${fixed(saved, 1)} times as often.`));
}

function flops({rows, paper}, place) {
  place.append(table([['row', 'FLOPs a step', 'FLOPs', 'time'],
    ...rows.map((row) => [row.id, short(row.flops_a_step), short(row.flops), duration(row.seconds)])], {caption: 'Cost of training'}));
  place.append(element('h3', {}, 'The paper’s own'), table([['model', 'hours', 'devices', 'FLOP/s of one', 'FLOPs'],
    ...paper.by_time.map((row) => [row.model, row.hours, row.devices, short(row.flops_per_second), short(row.flops)])], {caption: 'By time'}));
  place.append(element('h3', {}, 'Table 2'), table([['model', 'EN-DE', 'EN-FR'],
    ...paper.table2.map((row) => [row.model, row.german === null ? '' : short(row.german, 2), row.french === null ? '' : short(row.french, 2)])], {caption: 'Table 2: training cost'}));
}

async function scaling({rows}, place, about) {
  const milliseconds = (seconds) => short(seconds * 1000);
  place.append(table([['devices', 'tokens each', 'sent by each', 'compute ms', 'all-reduce ms', 'uncovered ms', 'step ms', 'tokens/s', 'efficiency', ''],
    ...rows.map((row) => [whole(row.devices), whole(row.tokens_per_device), bytes(row.sent_bytes), milliseconds(row.compute_seconds), milliseconds(row.reduce_seconds),
      milliseconds(row.uncovered_seconds), milliseconds(row.seconds), whole(row.target_tokens_per_second), `${fixed(row.efficiency * 100, 0)} %`, bar(row.efficiency)])],
  {caption: 'A step on many devices'}));
  place.append(element('p', {class: 'soft'}, 'A model, not a measurement: matrix products at a device’s rate; gradients summed by a ring all-reduce, under the backward pass but for the embeddings’.'));
  if (rows.length < 2) return;
  const values = rows.flatMap((row) => [['computing', 'compute_seconds'], ['summing, uncovered', 'uncovered_seconds']]
    .map(([what, key]) => ({devices: row.devices, milliseconds: 1000 * row[key], what})));
  await showChart(place, about, {id: 'step-times', title: 'Time of a step', spec: lines({x: 'devices', y: 'milliseconds', color: 'what', values, logX: true, point: true})});
}

const shownKeys = ['model.N', 'model.d_model', 'model.d_ff', 'model.h', 'model.d_k', 'model.d_v', 'model.P_drop', 'training.eps_ls', 'training.train_steps'];
function table3({base, rows}, place) {
  const value = (key) => key.split('.').reduce((at, part) => at[part], base);
  const others = (row) => Object.entries(row.set).filter(([key]) => !shownKeys.includes(key)).map(([key, set]) => `${key.split('.')[1]} = ${set}`).join(', ');
  const cells = (row) => shownKeys.map((key) => {
    if (row.group === 'base') return String(value(key));
    return row.set[key] === undefined ? '' : element('td', {class: 'differs'}, String(row.set[key]));
  });
  const millions = (count) => count === null ? '' : (count / 1e6).toFixed(1);
  place.append(table([['row', ...shownKeys.map((key) => key.split('.')[1]), 'else', 'PPL', 'BLEU', 'params ×10⁶', 'paper'],
    ...rows.map((row) => [row.id, ...cells(row), others(row), row.paper.perplexity ?? '', row.paper.bleu ?? '', millions(row.parameters), row.paper.parameters === null ? '' : whole(row.paper.parameters / 1e6)])],
  {caption: 'Table 3'}));
  place.append(element('p', {class: 'soft'}, 'Blank where a row is as the base. PPL and BLEU are the paper’s (dev); parameters are counted here beside what the paper prints.'));
}

// 60 steps from 1 to the last, denser at the start.
function spread(last) {
  const steps = new Set([1, last]);
  for (let i = 1; i < 60; ++i) steps.add(Math.max(1, Math.round(last * (i / 60) ** 2)));
  return [...steps].sort((a, b) => a - b).join(',');
}

export const topics = [
  {id: 'complexity', title: 'Complexity', section: 'Table 1', show: complexity, config: null,
    fields: [number('n', 'n', 70, [1, 10, 20, 50, 70, 100, 200, 500, 1000, 2000, 5000, 10000, 100000], 'length of the sequence'),
      number('d', 'd', 512, doubled(16, 4096), 'width of the representation'),
      number('k', 'k', 3, upTo(15, 2), 'kernel of a convolution'),
      number('r', 'r', 16, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512], 'neighbourhood of restricted self-attention')]},
  {id: 'shapes', title: 'Shapes', section: 'Figure 1', show: shapes,
    fields: [sizes.N(), sizes.d_model(), sizes.d_ff(), sizes.h(), sizes.d_k(), sizes.d_v(), sizes.V(8000),
      number('sentences', 'sentences', 2, upTo(16)), number('length', 'length', 7, upTo(64))]},
  {id: 'embedding-scale', title: 'Embedding scale', section: 'Section 3.4', show: embeddingScale,
    fields: [text('model.d_model', 'd_model', '64,128,256,512', 'one width or several, commas between'), sizes.V(8000), sizes.positions(['sinusoidal', 'learned'])]},
  {id: 'positions', title: 'Positions', section: 'Section 3.5', show: positions,
    fields: [number('length', 'length', 64, doubled(2, 256), 'positions'), number('model.d_model', 'd_model', 128, doubled(2, 512), 'width of the residual stream'),
      sizes.positions(['sinusoidal', 'learned'])]},
  {id: 'masks', title: 'Masks', section: 'Section 3.2.3', show: masks, config: null,
    fields: [text('source', 'source', '5,3', 'lengths of the source sentences'), text('target', 'target', '4,3', 'lengths of the target sentences')]},
  {id: 'signal', title: 'Post-LN and Pre-LN', section: 'Section 3.1', show: signal, given: {'model.norm_placement': 'post,pre'},
    fields: [sizes.N(6), sizes.d_model(128), sizes.d_ff(512), sizes.h(4), sizes.d_k(32), sizes.d_v(32), sizes.V(1000),
      number('sentences', 'sentences', 8, doubled(1, 16)), number('length', 'length', 32, doubled(2, 64))]},
  {id: 'parameters', title: 'Parameters', section: 'Table 3', show: parameters,
    fields: [sizes.N(), sizes.d_model(), sizes.d_ff(), sizes.h(), sizes.d_k(), sizes.d_v(), sizes.V(), sizes.tied(), sizes.feedForward(), sizes.positions()]},
  {id: 'schedule', title: 'Learning rate', section: 'Equation 3', show: schedule, derived: (values) => ({steps: spread(Number(values['training.train_steps']))}),
    fields: [sizes.d_model(), text('training.warmup_steps', 'warm-up', '4000', 'warmup_steps; several with commas between'),
      number('training.train_steps', 'train_steps', 100000, [100, 1000, 5000, 10000, 20000, 50000, 100000, 200000, 300000]),
      choice('training.schedule', 'schedule', 'noam', ['noam', 'inverse_sqrt', 'cosine', 'constant'])]},
  {id: 'label-smoothing', title: 'Label smoothing', section: 'Section 5.4', show: labelSmoothing,
    fields: [text('training.eps_ls', 'eps_ls', '0,0.05,0.1,0.2,0.3', 'one or several, commas between'), sizes.V()]},
  {id: 'kv-cache', title: 'Key/value cache', section: 'Decoding', show: cache,
    fields: [sizes.N(), sizes.h(), text('model.kv_heads', 'kv_heads', '8,2,1', 'heads of keys and values; several with commas between'), sizes.d_k(), sizes.d_v(),
      number('bits', 'bits', 16, [8, 16, 32], 'of a number'), number('length', 'length', 1024, doubled(1, 131072), 'word-pieces of the source and of the translation')]},
  {id: 'flops', title: 'Cost of training', section: 'Table 2', show: flops,
    fields: [sizes.N(), sizes.d_model(), sizes.d_ff(), sizes.V(), number('training.train_steps', 'train_steps', 100000, [1000, 10000, 50000, 100000, 200000, 300000]),
      number('data.tokens_per_batch', 'tokens', 25000, [1000, 2000, 4000, 8000, 16000, 25000, 50000, 100000], 'tokens_per_batch, on each side'),
      number('devices', 'devices', 8, doubled(1, 64)), number('tflops', 'TFLOP/s', 9.5, [0.1, 0.4, 1, 9.5, 20, 50, 100, 300, 1000], 'of one device'), number('utilisation', 'utilisation', 1, tenths(1, 0.1).slice(1), 'the part of it that is used')]},
  {id: 'scaling', title: 'Many devices', section: 'Section 5.2', show: scaling,
    fields: [sizes.N(), sizes.d_model(), sizes.d_ff(), sizes.V(),
      number('data.tokens_per_batch', 'tokens', 25000, [1000, 2000, 4000, 8000, 16000, 25000, 50000, 100000, 400000], 'tokens_per_batch, on each side'),
      choice('per-device', 'tokens are', 'false', {false: 'shared by all devices', true: 'of each device'}),
      text('devices', 'devices', '1,2,4,8,16,32,64,128,256,512', 'one number or several, commas between'),
      number('tflops', 'TFLOP/s', 50, [0.1, 0.4, 1, 9.5, 20, 50, 100, 300, 1000], 'that a device sustains'),
      number('gigabytes', 'GB/s', 25, [0.1, 1, 3, 12.5, 25, 50, 100, 450, 900], 'of the slowest link between devices'),
      number('microseconds', 'μs', 10, [1, 2, 5, 10, 20, 50, 100], 'that a short message takes')]},
  {id: 'table3', title: 'Table 3', section: 'Section 6.2', show: table3, path: 'table3', isWide: true,
    fields: [sizes.V()]},
];

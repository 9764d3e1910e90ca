// The live page and the report in a real browser: what they show is what the program computes.

import assert from 'node:assert/strict';
import {mkdirSync, readFileSync} from 'node:fs';
import {after, before, test} from 'node:test';
import {pathToFileURL} from 'node:url';

import {Place, figuresOf, numberIn, openBrowser, run, serve} from './browser.mjs';

const pictures = process.env.TRANSFORMER_SCREENSHOTS;  // a folder, where they are wanted
let place, server, browser, page;

before(async () => {
  place = new Place();
  place.sweep('runs/norms');
  server = await serve(place.file('runs'));
  browser = await openBrowser();
  page = browser.page;
  if (pictures) mkdirSync(pictures, {recursive: true});
});

after(async () => {
  await browser?.close();
  await server?.stop();
  place?.remove();
});

async function picture(name) {
  if (!pictures) return;
  for (const [width, colorScheme] of [[1280, 'light'], [390, 'dark']]) {
    await page.setViewportSize({width, height: 900});
    await page.emulateMedia({colorScheme});
    await page.waitForTimeout(700);
    await page.screenshot({path: `${pictures}/${name}-${width}.png`, fullPage: true});
  }
  await page.setViewportSize({width: 1280, height: 900});
  await page.emulateMedia({colorScheme: 'light'});
}

const view = (name) => page.evaluate((hash) => { location.hash = hash; }, name);
const home = () => server.address.split('/?')[0];

// Waits until the answer to what the fields say is shown; then the command line and its figures.
async function shown(topic) {
  await page.waitForTimeout(200);  // the page waits for the fields to rest
  await page.waitForFunction((id) => {
    const answer = document.querySelector(`[data-topic="${id}"]`);
    if (!answer?.dataset.shown || document.querySelector('.answer.stale')) return false;
    const asked = new URLSearchParams(answer.dataset.shown);
    return [...document.querySelectorAll(`#explore .field input:not([type=range]), #explore .field select`)]
      .every((input) => [...asked.values()].includes(input.value));
  }, topic);
  return figuresOf(await page.locator('.command').textContent());
}

async function openTopic(topic) {
  await view(`explore/${topic}`);
  return shown(topic);
}

// One place of a slider to the right, by the keyboard.
async function move(label, key = 'ArrowRight') {
  const slider = page.locator(`#explore input[type=range][aria-label^="${label}"]`).first();
  const before = await slider.inputValue();
  await slider.focus();
  await page.keyboard.press(key);
  assert.notEqual(await slider.inputValue(), before, label);
}

const cells = (table = 0) => page.locator('#explore .answer table').nth(table).locator('tbody tr').evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
const records = (id) => page.locator(`figure#${id}`).evaluate((figure) => figure.view.data('records').map((each) => ({...each})));
function near(text, value, digits = 3) {
  assert.ok(Math.abs(numberIn(text) - value) <= Math.abs(value) * 10 ** -digits + 1e-9, `shown ${text}, computed ${value}`);
}

test('the address with the token opens the page, and the token is gone from it', async () => {
  await page.goto(server.address);
  assert.equal(page.url(), `${home()}/`);
  await page.waitForSelector('#run-states tbody tr');
  assert.equal(await page.evaluate(() => document.cookie), '');  // not for scripts
});

test('without the token the page asks for it', async () => {
  const other = await openBrowser();
  try {
    await other.page.goto(home());
    await other.page.getByLabel('Token').fill('wrong');
    await other.page.keyboard.press('Enter');
    await other.page.waitForLoadState();
    await other.page.getByLabel('Token').fill(server.address.split('token=')[1]);
    await other.page.keyboard.press('Enter');
    await other.page.waitForSelector('#run-states tbody tr');
  } finally {
    await other.close();
  }
});

test('complexity is what inspect computes, as sliders move', async () => {
  await openTopic('complexity');
  for (const size of ['n', 'd', 'k', 'r']) await move(`${size},`);
  const {layers, sizes} = await shown('complexity');
  assert.deepEqual(sizes, {n: 100, d: 1024, k: 4, r: 32});
  (await cells()).forEach((row, i) => {
    near(row[1], layers[i].operations);
    near(row[5], layers[i].path, 2);
    if (layers[i].crossing !== null) near(row[6], layers[i].crossing);
  });
  await picture('complexity');
});

test('parameters', async () => {
  await openTopic('parameters');
  await move('N,', 'ArrowLeft');
  await move('d_ff');
  const {total, untied, tied, ...blocks} = await shown('parameters');
  const rows = await cells();
  assert.deepEqual(rows.slice(0, -1).map((row) => numberIn(row[1])), Object.values(blocks).filter((count) => count > 0));
  assert.equal(numberIn(rows.at(-1)[1]), total);
  assert.match(await page.locator('#explore .answer').textContent(), new RegExp(untied.toLocaleString('en-US')));
  await picture('parameters');
});

test('positions: the heat map reads out the matrix, and the products are drawn', async () => {
  await openTopic('positions');
  await move('length', 'ArrowLeft');
  const {matrix, products} = await shown('positions');
  assert.equal(matrix.length, 32);
  await page.locator('#explore canvas[role=img]').focus();
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
  const readout = await page.locator('#explore .readout').textContent();
  assert.ok(readout.startsWith(`PE(pos = 2, i = 3) = ${matrix[2][3].toFixed(4)}`), readout);
  const drawn = (await records('products')).filter((each) => each.what === 'mean').map((each) => each.product);
  assert.deepEqual(drawn, products.map((each) => each.mean));
  await picture('positions');
});

test('masks', async () => {
  await openTopic('masks');
  await page.locator('#masks-source').fill('6,2');
  const {masks} = await shown('masks');
  const grids = await page.locator('#explore .grid').evaluateAll((all) => all.map((grid) => [...grid.children].map((cell) => cell.classList.contains('may'))));
  assert.deepEqual(grids, masks.flatMap((mask) => mask.allowed.map((rows) => rows.flat())));
  await picture('masks');
});

test('schedule: the curve is the rates', async () => {
  await openTopic('schedule');
  await page.locator('#schedule-training-warmup_steps').fill('2000,8000');
  const {rows} = await shown('schedule');
  assert.deepEqual((await records('rates')).map((each) => each.rate), rows.flatMap((row) => row.rates.map((each) => each.rate)));
  (await cells()).forEach((cell, i) => near(cell[2], rows[i].peak.step));
  await picture('schedule');
});

test('label smoothing, cache and cost', async () => {
  await openTopic('label-smoothing');
  await move('V', 'ArrowLeft');
  const floors = (await shown('label-smoothing')).rows;
  (await cells()).forEach((row, i) => near(row[2], floors[i].floor));
  await picture('label-smoothing');
  await openTopic('kv-cache');
  await move('length');
  const cache = await shown('kv-cache');
  (await cells()).forEach((row, i) => near(row[2], cache.rows[i].bytes_a_token));
  await picture('kv-cache');
  await openTopic('flops');
  await move('devices');
  const cost = await shown('flops');
  (await cells()).forEach((row, i) => near(row[2], cost.rows[i].flops));
  await picture('flops');
  await openTopic('scaling');
  await move('N,', 'ArrowLeft');
  const scaled = await shown('scaling');
  assert.equal(scaled.rows.length, 10);
  (await cells()).forEach((row, i) => near(row[7], scaled.rows[i].target_tokens_per_second));
  assert.deepEqual((await records('step-times')).filter((each) => each.what === 'computing').map((each) => each.milliseconds), scaled.rows.map((row) => 1000 * row.compute_seconds));
  await picture('scaling');
});

test('shapes and embedding scale, from a model', async () => {
  await openTopic('shapes');
  await move('N,', 'ArrowLeft');
  const {tensors, parameters} = await shown('shapes');
  near(await page.locator('#explore .figure').textContent(), parameters, 9);
  const rows = new Map((await cells()).map((row) => [`${row[0]} ${row[1]}`, row[2]]));
  const first = tensors.filter(({place: at}) => !/\.layers\.[1-9]/.test(at));
  assert.ok(first.length > 20);
  for (const each of first) assert.equal(rows.get(`${each.place} ${each.tensor}`), `[${each.shape.join(', ')}]`);
  await picture('shapes');
  await openTopic('embedding-scale');
  const scales = (await shown('embedding-scale')).rows;
  (await cells()).forEach((row, i) => near(row[3], scales[Math.floor(i / 2)][i % 2 === 0 ? 'source' : 'target'].scaled));
  await picture('embedding-scale');
});

test('Post-LN beside Pre-LN: the curves are the signal', async () => {
  await openTopic('signal');
  await move('N,', 'ArrowLeft');
  const {rows} = await shown('signal');
  assert.deepEqual(rows.map((row) => row.norm_placement), ['post', 'pre']);
  assert.deepEqual((await records('stream')).map((each) => each.output), rows.flatMap((row) => row.sublayers.map((each) => each.output)));
  await picture('signal');
});

test('Table 3 shows the cells that differ', async () => {
  await view('explore/table3');
  await page.waitForSelector('[data-topic=table3][data-shown]');
  const planned = JSON.parse(run(['sweep', 'configs/table3.json', '--out', place.file('dry'), '--dry-run', '--json', 'model.V=37000'])).rows;
  const rows = await cells();
  assert.equal(rows.length, 20);
  rows.forEach((row, i) => near(row[13], planned[i].parameters / 1e6, 2));
  const differing = await page.locator('#explore td.differs').count();
  const shownKeys = ['N', 'd_model', 'd_ff', 'h', 'd_k', 'd_v', 'P_drop', 'eps_ls', 'train_steps'];
  assert.equal(differing, planned.flatMap((row) => row.group === 'base' ? [] : Object.keys(row.set)).filter((key) => shownKeys.includes(key.split('.')[1])).length);
  await picture('table3');
});

test('what cannot be is told in the program’s words', async () => {
  await openTopic('positions');
  const complaints = browser.complaints.length;
  await page.locator('#positions-model-d_model').fill('31');
  await page.waitForSelector('#explore .answer .problem');
  assert.match(await page.locator('#explore .problem').textContent(), /d_model/);
  await page.locator('#positions-model-d_model').fill('32');
  await shown('positions');
  browser.complaints.length = complaints;  // the browser logs every answer 400 as an error
});

test('runs: states, results and curves are those of the sweep', async () => {
  await view('runs');
  await page.waitForSelector('figure#validation svg');
  const results = JSON.parse(run(['table', place.file('runs/norms'), '--format', 'json'])).rows;
  const rows = await page.locator('#run-states tbody tr').evaluateAll((all) => all.map((row) => row.textContent));
  assert.equal(rows.length, results.length);
  rows.forEach((row) => assert.match(row, /complete/));
  assert.match(await page.locator('#results').textContent(), /Runs complete: 2 of 2/);
  assert.equal(new Set((await records('validation')).map((each) => each.row)).size, 2);
  await picture('runs');
});

test('curves grow while a sweep trains', async () => {
  const sweep = place.begin('runs/live', {'training.train_steps': 6000});
  try {
    await page.waitForFunction(() => [...document.querySelector('#sweep').options].some((option) => option.value === 'live'));
    await page.getByLabel('Sweep or run').selectOption('live');
    assert.equal(new URL(page.url()).hash, '#runs/live');
    await page.reload();  // the address names it
    await page.waitForFunction(() => document.querySelector('#sweep')?.value === 'live');
    await page.waitForSelector('#run-states .running');
    await page.waitForSelector('figure#training svg');
    await page.waitForTimeout(500);
    const {step} = (await records('training')).at(-1);
    await page.waitForFunction((before) => document.querySelector('figure#training').view.data('records').at(-1).step > before, step);
    await page.waitForFunction(() => document.querySelector('#run-states').textContent.includes('left'));
    await picture('runs-live');
  } finally {
    sweep.kill('SIGTERM');
    await new Promise((resolve) => sweep.on('exit', resolve));
  }
});

test('translate: the beam and its scores, two checkpoints side by side, attention read out', async () => {
  await view('translate');
  const [post, pre] = ['norms/norm_placement-post/seed-1', 'norms/norm_placement-pre/seed-1'];
  await page.waitForFunction((name) => [...document.querySelector('#checkpoint').options].some((option) => option.value === name), post);
  await page.locator('#checkpoint').selectOption(post);
  await page.locator('#other').selectOption(pre);
  const sentence = readFileSync(place.file('data/valid.en'), 'utf8').split('\n')[0];
  await page.locator('#sentence').fill(sentence);
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelectorAll('.side .heads').length === 2);
  for (const [i, checkpoint] of [post, pre].entries()) {
    const lines = run(['translate', '--checkpoint', place.file(`runs/${checkpoint}`), '--threads', 1, '--n-best', 4, 'decoding.beam=4'], `${sentence}\n`).trimEnd().split('\n');
    const side = page.locator('.side').nth(i);
    const scores = await side.locator('.score').allTextContents();
    assert.deepEqual(scores, lines.map((line) => line.split('\t')[1]));
    assert.ok(await side.locator('.tree .node.ends').count() >= lines.length);
  }
  const side = page.locator('.side').first();
  await side.getByRole('button', {name: 'head 2'}).click();
  await side.locator('.map').focus();
  await page.keyboard.press('ArrowRight');
  const shownWeights = await side.locator('.map rect:not(.back)').evaluateAll((all) => all.map((rect) => Number(rect.getAttribute('fill-opacity'))));
  const readout = await side.locator('.readout').textContent();
  assert.ok(Math.abs(numberIn(readout.split(': ').at(-1)) - shownWeights[1]) < 1e-3, readout);
  const attention = JSON.parse(run(['inspect', 'attention', '--checkpoint', place.file(`runs/${post}`), '--source', sentence, '--target', 'x', '--kind', 'cross', '--layer', 1, '--head', 1, '--threads', 1, '--json']));
  attention.attention[0].heads[0].weights[0].forEach((weight, k) => assert.ok(Math.abs(weight - shownWeights[k]) < 1e-3));
  await picture('translate');
});

test('every control is reached by the keyboard', async () => {
  for (const name of ['runs', 'explore/parameters', 'translate']) {
    await page.goto(`${home()}/#${name}`);
    await page.reload();
    await page.waitForTimeout(1500);
    const expected = await page.evaluate(() => [...document.querySelectorAll('a, button, input, select, textarea, summary, [tabindex="0"]')].filter((each) => each.checkVisibility() && !each.disabled).length);
    const reached = new Set();
    await page.evaluate(() => document.body.focus());
    for (let i = 0; i < expected + 5; ++i) {
      await page.keyboard.press('Tab');
      reached.add(await page.evaluate(() => [...document.querySelectorAll('*')].indexOf(document.activeElement)));
    }
    reached.delete(await page.evaluate(() => [...document.querySelectorAll('*')].indexOf(document.body)));
    assert.ok(reached.size >= expected, `${name}: ${reached.size} of ${expected}`);
    const unnamed = await page.evaluate(() => [...document.querySelectorAll('input, select, textarea')].filter((each) => each.checkVisibility() && !each.labels?.length && !each.getAttribute('aria-label')).map((each) => each.outerHTML));
    assert.deepEqual(unnamed, []);
  }
});

test('no view is wider than the window, at 1280 and 390', async () => {
  for (const width of [1280, 390]) {
    await page.setViewportSize({width, height: 900});
    for (const name of ['runs', 'translate', 'explore/complexity', 'explore/shapes', 'explore/positions', 'explore/table3', 'explore/flops']) {
      await view(name);
      await page.waitForTimeout(1200);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} at ${width}`);
    }
  }
  await page.setViewportSize({width: 1280, height: 900});
});

test('the page says nothing wrong and asks nobody else', () => {
  assert.deepEqual(browser.complaints, []);
  assert.deepEqual(browser.requests.filter((url) => !url.startsWith(`${home()}/`) && !url.startsWith('data:') && !url.startsWith('blob:')), []);
  assert.ok(browser.requests.length > 50);
});

test('the report draws its charts, says nothing wrong and asks nobody', async () => {
  const file = place.file('report.html');
  run(['report', place.file('runs/norms'), '--out', file]);
  const other = await openBrowser();
  try {
    await other.page.goto(pathToFileURL(file).href);
    await other.page.waitForSelector('figure#validation svg');
    await other.page.waitForTimeout(1000);
    assert.ok(await other.page.locator('figure svg').count() >= 2);
    assert.match(await other.page.locator('table.results').textContent(), /ours|PPL/);
    assert.deepEqual(other.complaints, []);
    assert.deepEqual(other.requests.filter((url) => !/^(file|data|blob):/.test(url)), []);
    if (pictures) {
      for (const width of [1280, 390]) {
        await other.page.setViewportSize({width, height: 900});
        await other.page.waitForTimeout(700);
        await other.page.screenshot({path: `${pictures}/report-${width}.png`, fullPage: true});
      }
    }
  } finally {
    await other.close();
  }
});

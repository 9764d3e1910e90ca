// node tests/browser/pictures.mjs SWEEP SENTENCE FOLDER: the pictures in the documents, of Table 3's
// sweep and of its rows' translations of a sentence.

import {mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {basename, dirname, join, resolve} from 'node:path';
import {pathToFileURL} from 'node:url';

import {openBrowser, run, serve} from './browser.mjs';

const [sweep, sentence, folder] = [resolve(process.argv[2]), process.argv[3], resolve(process.argv[4])];
const name = basename(sweep);
mkdirSync(folder, {recursive: true});
const scratch = mkdtempSync(join(tmpdir(), 'transformer_pictures_'));
const server = await serve(dirname(sweep));
const {page, close} = await openBrowser();

const settle = () => page.waitForTimeout(1500);
async function picture(file, {height = 900} = {}) {
  await page.setViewportSize({width: 1280, height});
  await settle();
  await page.screenshot({path: join(folder, `${file}.png`)});
}
const view = (hash) => page.evaluate((to) => { location.hash = to; }, hash);

try {
  const report = join(scratch, 'report.html');
  run(['report', sweep, '-o', report]);
  await page.goto(pathToFileURL(report).href);
  await page.evaluate(() => document.querySelector('#charts').scrollIntoView());
  await picture('report', {height: 1250});

  await page.goto(server.address);
  await page.locator('#sweep').selectOption(name);
  await page.waitForSelector('figure svg');
  await picture('runs', {height: 1150});

  await view('explore/signal');
  await page.waitForSelector('[data-topic=signal] figure svg');
  await picture('explore');

  await view('translate');
  await page.locator('#checkpoint').selectOption(`${name}/base/seed-1`);
  await page.locator('#other').selectOption(`${name}/C-d1024/seed-1`);
  await page.locator('#sentence').fill(sentence);
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.querySelectorAll('.side .heads').length === 2);
  await page.locator('.side .map').first().focus();
  await page.keyboard.press('ArrowDown');
  await page.evaluate(() => scrollTo(0, 0));
  await picture('translate', {height: 1400});
} finally {
  await close();
  await server.stop();
  rmSync(scratch, {recursive: true, force: true});
}

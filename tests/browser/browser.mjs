// A headless Chromium, a sweep to look at, and the program beside it.

import {execFileSync, spawn} from 'node:child_process';
import {existsSync, mkdtempSync, rmSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const program = process.env.TRANSFORMER_PROGRAM ?? join(root, 'build/release/transformer');
const modules = process.env.TRANSFORMER_BROWSER_MODULES ?? join(root, 'build/browser/');
const executablePath = ['chromium', 'chromium-browser', 'google-chrome'].map((name) => `/usr/bin/${name}`).find(existsSync);

function skip(reason) {
  console.log(`skipped: ${reason}; tools/browser.sh installs it`);
  process.exit(77);
}

function loadPlaywright() {
  try {
    return createRequire(join(modules, 'package.json'))('playwright-core');
  } catch {
    return skip(`playwright-core is not in ${modules}`);
  }
}

if (!executablePath) skip('there is no Chromium');
const {chromium} = loadPlaywright();
const environment = {...process.env, OMP_NUM_THREADS: '1'};

// The program's standard output.
export function run(words, input = '') {
  return execFileSync(program, words.map(String), {cwd: root, env: environment, input, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['pipe', 'pipe', 'ignore']});
}

// What a command line, as the page shows it, prints as JSON.
export const figuresOf = (line) => JSON.parse(run([...line.split(' ').slice(1), '--json']));

export class Place {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'transformer_browser_'));
    run(['data', 'generate', '--out', join(this.folder, 'data'), '--words', 20, '--longest', 6, '--pairs', 300, '--valid', 40, '--test', 12]);
  }

  file(name) { return join(this.folder, name); }

  words(out, changes = {}) {
    const values = {
      'data.train': this.file('data/train'), 'data.valid': this.file('data/valid'), 'data.vocabulary': this.file('data/vocabulary.model'), 'data.tokens_per_batch': 300,
      'model.V': 400, 'model.N': 2, 'model.d_model': 16, 'model.d_ff': 16, 'model.h': 2, 'model.norm_placement': 'post,pre',
      'training.train_steps': 40, 'training.log_every': 1, 'training.validate_every': 4, 'training.warmup_steps': 10, 'decoding.beam': 2, 'decoding.max_extra_length': 3, ...changes,
    };
    return ['sweep', 'configs/mini.json', '--out', this.file(out), '--threads', '1', '--jobs', '1', ...Object.entries(values).map(([key, value]) => `${key}=${value}`)];
  }

  sweep(out, changes) { run(this.words(out, changes)); }

  begin(out, changes) { return spawn(program, this.words(out, changes).map(String), {cwd: root, env: environment, stdio: 'ignore'}); }

  remove() { rmSync(this.folder, {recursive: true, force: true}); }
}

export async function serve(folder) {
  const server = spawn(program, ['serve', folder, '--port', '0'], {cwd: root, env: environment, stdio: ['ignore', 'pipe', 'ignore']});
  const address = await new Promise((resolve, reject) => {
    server.stdout.on('data', (data) => resolve(String(data).trim()));
    server.on('exit', () => reject(new Error('serve ended at once')));
  });
  return {address, stop: () => new Promise((resolve) => { server.on('exit', resolve); server.kill('SIGTERM'); })};
}

// A browser with one page. What the page says wrong and where its requests go is kept.
export async function openBrowser() {
  const profile = mkdtempSync(join(tmpdir(), 'transformer_chromium_'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath, headless: true, viewport: {width: 1280, height: 900},
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
  const page = context.pages()[0] ?? await context.newPage();
  page.setDefaultTimeout(60_000);
  const complaints = [], requests = [];
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) complaints.push(message.text()); });
  page.on('pageerror', (error) => complaints.push(error.message));
  context.on('request', (request) => requests.push(request.url()));
  return {page, complaints, requests, close: async () => { await context.close(); rmSync(profile, {recursive: true, force: true}); }};
}

// "2.509e6", "1,024", "78.1 KiB" as numbers.
export const numberIn = (text) => Number(text.replaceAll(',', '').match(/-?[\d.]+(e-?\d+)?/)?.[0]);

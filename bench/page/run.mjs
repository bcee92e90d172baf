// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
//
// The page beside async-profiler's, speedscope and flamegraph.pl, on the same stacks, in turn.
//
//   bench/page/run [P1] [P2] [--runs N] [--only NAME,...]     JPROF_BUILD_DIR: a release build (default build/release)
//
//   write   the command that makes the file from collapsed stacks; jprof also from its own recording
//   size    of what is opened
//   open    navigation -> painted and idle for two frames; speedscope: its own page, then choosing the file
//   zoom    work of the page's main thread for one zoom, from the first click to the second frame after it (events, script,
//           layout, paint), in processor time, so that other load matters less: 95th percentile of 24 after 6 (of as
//           many as 30 s allow where each takes seconds, at least 3)
//   heap    after opening and a collection: objects and typed arrays
// Medians and ranges over the runs, and the ratio of the medians. The browser is headless Chromium, no GPU.
import { execFileSync, spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { P1, P2, writeCollapsed } from '../../tests/page/big_profile.mjs';
import { browser, closeBrowser } from '../../tests/page/browser.mjs';
import { heapAfterCollection, median, percentile } from '../../tests/page/measure.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const args = process.argv.slice(2);
const option = (name, other) => (args.includes(name) ? args[args.indexOf(name) + 1] : other);
const runs = Number(option('--runs', 5));
const only = option('--only', 'jprof,async-profiler,speedscope,flamegraph.pl').split(',');
const jprof = join(process.env.JPROF_BUILD_DIR || join(root, 'build/release'), 'bin/jprof');
const part = (name) => execFileSync(join(root, 'scripts/parts'), [name], { encoding: 'utf8' }).trim();
const work = mkdtempSync(join(tmpdir(), 'jprof-bench-page-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true }));

// ---- writing ----

// { seconds, megabytes } of a command; its largest resident memory as GNU time tells it, if that is there.
function timed(command, parameters, toFile) {
  const note = join(work, 'time');
  const measured = existsSync('/usr/bin/time') ? ['/usr/bin/time', '-q', '-o', note, '-f', '%M', command, ...parameters] : [command, ...parameters];
  const since = performance.now();
  const shell = toFile ? ['/bin/sh', ['-c', 'out=$1; shift; exec "$@" > "$out"', 'sh', toFile, ...measured]] : [measured[0], measured.slice(1)];
  const ran = spawnSync(shell[0], shell[1], { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
  if (ran.status !== 0) throw new Error(`${command} failed: ${ran.stderr.slice(0, 300)}`);
  return { seconds: (performance.now() - since) / 1000, megabytes: measured.length > parameters.length + 1 ? Number(readFileSync(note, 'utf8')) / 1024 : NaN };
}

function makers(stacks) {
  const page = (name, ending) => join(work, `${name}-${stacks.name}.${ending}`);
  return {
    jprof: { file: page('jprof', 'html'), write: (file) => timed(jprof, ['convert', stacks.file, '-o', file]) },
    'async-profiler': {
      file: page('async-profiler', 'html'),
      write: (file) => timed(join(part('jdk-17'), 'run-java'), ['-Xmx8g', '-cp', join(part('async-profiler'), 'ap-loader.jar'), 'one.convert.Main', stacks.file, file]),
    },
    speedscope: {
      file: stacks.file,
      tooLarge: stacks.bytes > 512 * 1024 * 1024 && 'cannot open text of more than 512 Mi characters',
    },
    'flamegraph.pl': {
      file: page('flamegraph', 'svg'),
      tooLarge: stacks.name === 'P2' && 'is not made: the SVG of P1 takes seconds for each click already',
      write: (file) => timed('perl', [join(part('flamegraph-pl'), 'flamegraph.pl'), stacks.file], file),
    },
  };
}

// ---- in the browser ----

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm' };

// speedscope's own files only work over HTTP.
async function serve(folder) {
  const server = createServer((request, response) => {
    const path = join(folder, normalize(new URL(request.url, 'http://x').pathname));
    if (!path.startsWith(folder) || !existsSync(path)) return response.writeHead(404).end();
    response.writeHead(200, { 'content-type': TYPES[extname(path)] || 'application/octet-stream' }).end(readFileSync(path));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

const idle = (page) => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))));

// Each opener returns when the graph is drawn. `zoom`: where one click or two make a box fill the width, and back.
const viewers = {
  jprof: {
    open: async (page, file) => {
      await page.goto('file://' + file);
      await page.waitForFunction(() => performance.getEntriesByName('painted').length > 0, null, { polling: 'raf', timeout: 120000 });
    },
    clicks: 2,
    rows: [0.35, 0.6],
    back: (page) => page.keyboard.press('0'),
  },
  'async-profiler': {
    open: (page, file) => page.goto('file://' + file, { timeout: 120000 }),
    clicks: 1,
    rows: [0.6, 0.9],
    before: (page) => page.evaluate(() => scrollTo(0, document.body.scrollHeight)),
    back: (page) => page.keyboard.press('0'),
  },
  speedscope: {
    open: async (page, file, server) => {
      await page.goto(`http://127.0.0.1:${server.address().port}/index.html`);
      await page.locator('input[type=file]').first().waitFor({ state: 'attached' });
      await page.locator('input[type=file]').first().setInputFiles(file);
      await page.getByText('Left Heavy').waitFor({ timeout: 300000 });
      await page.getByText('Left Heavy').click();
    },
    clicks: 2,
    rows: [0.35, 0.6],
    back: (page) => page.keyboard.press('0'),
  },
  'flamegraph.pl': {
    open: (page, file) => page.goto('file://' + file, { timeout: 180000 }),
    clicks: 1,
    rows: [0.6, 0.9],
    before: (page) => page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight)),
    back: (page) => page.evaluate(() => window.unzoom && window.unzoom()),
  },
};

// Zooms before the first that is measured: engines compile what runs often.
const WARM_UP = 6;
const PATIENCE_MS = 30000;

async function zoomTimes(page, viewer, steps) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busy = async () => (await session.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration').value * 1000;
  const found = [];
  const since = performance.now();
  if (viewer.before) await viewer.before(page);
  for (let i = 0; i < steps && (found.length < 3 || performance.now() - since < PATIENCE_MS); i++) {
    if (i % 3 === 0) await viewer.back(page);
    const y = 800 * (viewer.rows[0] + ((i * 0.37) % 1) * (viewer.rows[1] - viewer.rows[0]));
    await page.mouse.move(1280 * (0.08 + ((i * 0.21) % 0.5)), y);
    await idle(page);
    const before = await busy();
    if (viewer.clicks === 2) await page.mouse.dblclick(1280 * (0.08 + ((i * 0.21) % 0.5)), y);
    else await page.mouse.click(1280 * (0.08 + ((i * 0.21) % 0.5)), y);
    await idle(page);
    if (i >= WARM_UP) found.push((await busy()) - before);
  }
  return percentile(found, 0.95);
}

async function once(name, file, server) {
  const context = await (await browser()).newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
  const page = await context.newPage();
  const since = performance.now();
  await viewers[name].open(page, file, server);
  await idle(page);
  const open = performance.now() - since;
  await page.waitForTimeout(500);
  const heap = await heapAfterCollection(page);
  const zoom = await zoomTimes(page, viewers[name], WARM_UP + 24);
  await context.close();
  return { open, heap: heap / 1e6, zoom };
}

// ---- the table ----

const digits = (x) => (Number.isNaN(x) ? '?' : x >= 100 ? x.toFixed(0) : x.toPrecision(3));
const range = (values) => `${digits(median(values))} (${digits(Math.min(...values))}-${digits(Math.max(...values))})`;

async function compare(name, count, server) {
  const stacks = { name, file: join(work, name + '.collapsed') };
  writeCollapsed(count, stacks.file);
  stacks.bytes = statSync(stacks.file).size;
  const made = makers(stacks);
  const results = new Map();
  for (const viewer of only) {
    const { file, write, tooLarge } = made[viewer];
    if (tooLarge) {
      console.log(`${name} ${viewer} ${tooLarge}`);
      continue;
    }
    const written = write ? Array.from({ length: Math.min(runs, 3) }, () => write(file)) : [];
    results.set(viewer, { size: [statSync(file).size / 1e6], write: written.map((w) => w.seconds), memory: written.map((w) => w.megabytes), open: [], heap: [], zoom: [] });
  }
  for (let i = 0; i < runs; i++) {
    for (const [viewer, result] of results) {
      if (result.failed) continue;
      try {
        const found = await once(viewer, made[viewer].file, server);
        for (const key of Object.keys(found)) result[key].push(found[key]);
      } catch (error) {
        console.log(`${name} ${viewer} gave no result: ${error.message.split('\n')[0]}`);
        result.failed = true;
        await closeBrowser();
      }
    }
  }
  const units = { size: 'MB', write: 's', memory: 'MB', open: 'ms', zoom: 'ms', heap: 'MB' };
  for (const [key, unit] of Object.entries(units)) {
    const ours = results.get('jprof')[key];
    for (const [viewer, result] of results) {
      if (!result[key].length) continue;
      const ratio = viewer === 'jprof' ? '' : `   jprof is ${(median(ours) / median(result[key])).toFixed(3)} of it`;
      console.log(`${name} ${key.padEnd(6)} ${viewer.padEnd(15)} ${range(result[key]).padStart(22)} ${unit}${ratio}`);
    }
  }
  ownWriter(stacks, name);
}

// From a recording, as the sidecar does it; time and memory are those of the whole program.
function ownWriter(stacks, name) {
  const recording = join(work, name.split(' ')[0] + '.jprof');
  execFileSync(jprof, ['convert', stacks.file, '-o', recording], { stdio: 'ignore' });
  rmSync(stacks.file);
  const times = Array.from({ length: runs }, () => timed(jprof, ['convert', recording, '-o', join(work, 'own.html')]));
  console.log(`${name} jprof from a recording: ${range(times.map((t) => t.seconds))} s, ${range(times.map((t) => t.megabytes))} MB`);
}

const server = only.includes('speedscope') ? await serve(join(part('speedscope'), 'dist/release')) : null;
console.log(`load ${loadavg()[0].toFixed(1)} on ${cpus().length} processors, ${runs} runs`);
const wanted = args.filter((arg) => arg === 'P1' || arg === 'P2');
const small = { file: join(work, 'small.collapsed') };
writeCollapsed(200, small.file);
ownWriter(small, 'small (200 stacks)');
for (const name of wanted.length ? wanted : ['P1', 'P2']) await compare(name, name === 'P1' ? P1 : P2, server);
await closeBrowser();
if (server) server.close();

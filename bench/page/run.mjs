// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
//
// The page beside async-profiler's, speedscope and flamegraph.pl, on the same stacks, in turn.
//
//   bench/page/run [P1] [P2] [chart] [--runs N] [--only NAME,...] [--bin FOLDER] [--samples N]
//
//   chart   the flame chart beside speedscope's view in the order of time (chart.mjs), of --samples (default 1000000)
//   --bin   where the jprof is that writes; default build/image, the program that is shipped (scripts/build --static)
//   write   the command that makes the file from collapsed stacks; jprof also from its own recording
//   size    of what is opened
//   open    from the start of navigation to the second animation frame after the graph was drawn, by the page's own clock;
//           speedscope, which is opened in two steps: from asking for its page, by the driver's clock
//   frame   the main thread's work for the frame that shows a zoom: events, script, style, layout, paint; the largest of
//           the frames of a zoom counts. 95th percentile of 24 zooms after 6 (of as many as 30 s allow where each
//           takes seconds, at least 3)
//   click   all the main thread's work for the same zooms, from the first click until a tenth of a second after the
//           second frame
//   heap    after opening and a collection: objects and typed arrays
// Frames and clicks are processor time, so that other load matters less. Medians and ranges over the runs, and the ratio of
// the medians. The browser is headless Chromium, no GPU. What it takes at least: an empty page, and one of the
// size of jprof's without its script, both in the same runs.
import { execFileSync, spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { P1, P2, writeCollapsed } from '../../tests/page/big_profile.mjs';
import { browser, closeBrowser } from '../../tests/page/browser.mjs';
import { heapAfterCollection, median, percentile, workOfZooms } from '../../tests/page/measure.mjs';
import { compareCharts } from './chart.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const args = process.argv.slice(2);
const option = (name, other) => (args.includes(name) ? args[args.indexOf(name) + 1] : other);
const runs = Number(option('--runs', 5));
const FLOORS = ['empty page', 'no script'];
const only = option('--only', 'jprof,async-profiler,speedscope,flamegraph.pl').split(',');
const jprof = join(option('--bin', join(root, 'build/image')), 'jprof');
if (!existsSync(jprof)) {
  console.error(`${jprof} is missing: scripts/build --static makes it, --bin names another folder`);
  process.exit(2);
}
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
      // It opens in minutes.
      most: 1,
    },
    'empty page': { file: page('empty', 'html'), write: (file) => writeFileSync(file, '<!doctype html><meta charset="utf-8"><title>-</title><p>-</p>\n') },
    'no script': { file: page('plain', 'html'), write: (file) => writeFileSync(file, withoutScript(readFileSync(page('jprof', 'html'), 'utf8'))) },
  };
}

// The same page and bytes, with nothing that runs.
function withoutScript(html) {
  const at = html.lastIndexOf('<script>');
  const end = html.lastIndexOf('</script>');
  return `${html.slice(0, at)}<script type="text/plain">${html.slice(at + 8, end)}${html.slice(end)}`;
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

// In every page: whoever does not tell itself when its graph is drawn (jprof's marks it) has drawn it by script that ran
// before the load event. The driver hears of it on the console: asking again and again would cost the page time.
function tellWhenDrawn(tellsItself) {
  if (!tellsItself) addEventListener('load', () => requestAnimationFrame(() => requestAnimationFrame(() => performance.mark('painted'))));
  new PerformanceObserver((list) => {
    if (list.getEntriesByName('painted').length) console.debug('painted');
  }).observe({ type: 'mark', buffered: true });
}

async function openFile(page, file, timeout = 120000) {
  const drawn = page.waitForEvent('console', { predicate: (message) => message.text() === 'painted', timeout });
  await Promise.all([drawn, page.goto('file://' + file, { timeout, waitUntil: 'commit' })]);
  return page.evaluate(() => performance.getEntriesByName('painted')[0].startTime);
}

async function openSpeedscope(page, file, server) {
  const since = performance.now();
  await page.goto(`http://127.0.0.1:${server.address().port}/index.html`);
  await page.locator('input[type=file]').first().waitFor({ state: 'attached' });
  await page.locator('input[type=file]').first().setInputFiles(file);
  await page.getByText('Left Heavy').waitFor({ timeout: 300000 });
  await page.getByText('Left Heavy').click();
  await idle(page);
  return performance.now() - since;
}

// `open` returns how long it took in ms. `clicks` and `rows`: how many clicks where make a box fill the width; `back`: and back.
const viewers = {
  jprof: { open: openFile, tells: true, clicks: 2, rows: [0.35, 0.6], back: (page) => page.keyboard.press('0') },
  'async-profiler': {
    open: openFile,
    clicks: 1,
    rows: [0.6, 0.9],
    before: (page) => page.evaluate(() => scrollTo(0, document.body.scrollHeight)),
    back: (page) => page.keyboard.press('0'),
  },
  speedscope: { open: openSpeedscope, clicks: 2, rows: [0.35, 0.6], back: (page) => page.keyboard.press('0') },
  'flamegraph.pl': {
    open: (page, file) => openFile(page, file, 900000),
    clicks: 1,
    rows: [0.6, 0.9],
    before: (page) => page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight)),
    back: (page) => page.evaluate(() => window.unzoom && window.unzoom()),
  },
  'empty page': { open: openFile, clicks: 2, rows: [0.35, 0.6], back: () => {} },
  'no script': { open: openFile, clicks: 2, rows: [0.35, 0.6], back: () => {} },
};

// Zooms before the first that is measured: engines compile what runs often.
const WARM_UP = 6;
const PATIENCE_MS = 30000;

// 95th percentiles: { frame, click }.
async function zoomTimes(page, viewer, steps) {
  if (viewer.before) await viewer.before(page);
  const zooms = await workOfZooms(page, async (measured) => {
    const since = performance.now();
    for (let i = 0, done = 0; i < steps && (done < 3 || performance.now() - since < PATIENCE_MS); i++) {
      if (i % 3 === 0) await viewer.back(page);
      const x = 1280 * (0.08 + ((i * 0.21) % 0.5));
      const y = 800 * (viewer.rows[0] + ((i * 0.37) % 1) * (viewer.rows[1] - viewer.rows[0]));
      await page.mouse.move(x, y);
      await idle(page);
      const zoom = async () => {
        await page.mouse.click(x, y, { clickCount: viewer.clicks });
        await idle(page);
        await page.waitForTimeout(100);
      };
      if (i < WARM_UP) await zoom();
      else done = await measured(zoom);
    }
  });
  return { frame: percentile(zooms.map((z) => z.frame), 0.95), click: percentile(zooms.map((z) => z.all), 0.95) };
}

async function once(name, file, server) {
  const context = await (await browser()).newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
  const viewer = viewers[name];
  if (viewer.open !== openSpeedscope) await context.addInitScript(tellWhenDrawn, Boolean(viewer.tells));
  const page = await context.newPage();
  const open = await viewer.open(page, file, server);
  await page.waitForTimeout(500);
  const heap = await heapAfterCollection(page);
  const zoom = await zoomTimes(page, viewer, WARM_UP + 24);
  await context.close();
  return { open, heap: heap / 1e6, ...zoom };
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
  for (const viewer of [...only, ...FLOORS]) {
    const { file, write, tooLarge } = made[viewer];
    if (tooLarge) {
      console.log(`${name} ${viewer} ${tooLarge}`);
      continue;
    }
    const written = write ? Array.from({ length: FLOORS.includes(viewer) ? 1 : Math.min(runs, 3) }, () => write(file)).filter(Boolean) : [];
    results.set(viewer, { size: [statSync(file).size / 1e6], write: written.map((w) => w.seconds), memory: written.map((w) => w.megabytes), open: [], frame: [], click: [], heap: [] });
  }
  for (let i = 0; i < runs; i++) {
    for (const [viewer, result] of results) {
      if (result.failed || i >= (made[viewer].most || runs)) continue;
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
  const units = { size: 'MB', write: 's', memory: 'MB', open: 'ms', frame: 'ms', click: 'ms', heap: 'MB' };
  for (const [key, unit] of Object.entries(units)) {
    const ours = results.get('jprof')[key];
    for (const [viewer, result] of results) {
      if (!result[key].length) continue;
      const ratio = viewer === 'jprof' || FLOORS.includes(viewer) ? '' : `   jprof is ${(median(ours) / median(result[key])).toFixed(3)} of it`;
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
const charts = args.includes('chart');
const small = { file: join(work, 'small.collapsed') };
writeCollapsed(200, small.file);
if (wanted.length || !charts) ownWriter(small, 'small (200 stacks)');
for (const name of wanted.length || charts ? wanted : ['P1', 'P2']) await compare(name, name === 'P1' ? P1 : P2, server);
if (charts || !wanted.length) await compareCharts({ samples: Number(option('--samples', 1e6)), work, jprof, server, only });
await closeBrowser();
if (server) server.close();

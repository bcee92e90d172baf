// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Large captures: size, opening, long tasks, frames, memory. JPROF_PAGE_PROFILE=P2 takes the one of three million
// nodes; the default is P1. Bounds are on processor time, three times the goals, for slow machines: bench/page measures.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { P1, P2, writeCollapsed } from './big_profile.mjs';
import { closeBrowser, settle, withPage } from './browser.mjs';
import { directory, jprof } from './fixtures.mjs';
import { COUNT_FRAMES, chartTimes, drawTimes, framesSoFar, heapAfterCollection, median, openTimes, percentile, threadTime } from './measure.mjs';
import { longCapture, recordingOf } from './recording.mjs';
import { press } from './steps.mjs';

const large = process.env.JPROF_PAGE_PROFILE === 'P2';
const SLOW = 3;
const goals = large ? { bytes: 6e6, open: 1000, heap: 250e6 } : { bytes: 0.85e6, open: 400, heap: 100e6 };
const file = join(directory, 'big.html');

before(() => {
  writeCollapsed(large ? P2 : P1, join(directory, 'big.collapsed'));
  execFileSync(jprof, ['convert', join(directory, 'big.collapsed'), '-o', file]);
});
after(closeBrowser);

test('B5: size', () => {
  const { size } = statSync(file);
  assert.ok(size <= goals.bytes, `${size} bytes`);
});

test('B6, B7: opening is little work and never blocks input for long', async () => {
  const opened = await openTimes(file, 3);
  const work = median(opened.map((o) => o.work));
  assert.ok(work <= SLOW * goals.open, `painted after ${opened.map((o) => o.work.toFixed(0))} ms of work`);
  const longest = median(opened.map((o) => o.longest));
  assert.ok(longest > 0 && longest <= SLOW * 150, `longest tasks ${opened.map((o) => o.longest.toFixed(0))} ms`);
  for (const { heap } of opened) assert.ok(heap <= goals.heap, `${heap} bytes of heap`);
});

test('B14: a frame is little work, zoomed and whole', async () => {
  await withPage(file, {}, async (page) => {
    const { whole, zoomed } = await drawTimes(page);
    assert.ok(percentile(zoomed, 0.95) <= SLOW * 16, `zoomed ${percentile(zoomed, 0.95)} ms`);
    assert.ok(percentile(whole, 0.95) <= SLOW * 40, `whole ${percentile(whole, 0.95)} ms`);
    console.log(`frames: zoomed ${percentile(zoomed, 0.95).toFixed(1)} ms, whole ${percentile(whole, 0.95).toFixed(1)} ms of processor time (p95)`);
  });
});

test('B22: merged callers of a large capture show at once', async () => {
  await withPage(file, {}, async (page) => {
    const spent = await threadTime(page);
    await press(page, '2');
    const work = await spent();
    assert.match(await page.locator('.page').getAttribute('data-view'), /callers/);
    assert.ok(work <= SLOW * 300, `${work} ms`);
  });
});

test('B68: selecting again and again leaks nothing, and a page at rest draws nothing', async () => {
  await withPage(file, { before: COUNT_FRAMES }, async (page) => {
    await press(page, 'Home');
    await press(page, '0');
    const first = await heapAfterCollection(page);
    for (let i = 0; i < (large ? 40 : 200); i++) await page.keyboard.press(['ArrowDown', 'z', 'ArrowRight', '0'][i % 4]);
    await settle(page);
    const grown = (await heapAfterCollection(page)) - first;
    assert.ok(grown <= 50e6, `${grown} bytes more`);
    const drawn = await framesSoFar(page);
    assert.ok(drawn > 10, `${drawn} frames drawn`);
    // What was asked for last may still be drawn; then half a second passes without a frame.
    let late = drawn;
    for (let tries = 0; late > 0 && tries < 60; tries++) {
      const before = await framesSoFar(page);
      await page.waitForTimeout(500);
      late = (await framesSoFar(page)) - before;
    }
    assert.equal(late, 0);
  });
});

test('B83: a flame chart of a million samples shows at once, and a frame of panning is little work', async () => {
  const [recording, page1m] = ['jprof', 'html'].map((ending) => join(directory, `long.${ending}`));
  writeFileSync(recording, recordingOf(longCapture(1e6)));
  execFileSync(jprof, ['convert', recording, '-o', page1m]);
  await withPage(page1m, {}, async (page) => {
    const spent = await threadTime(page);
    await press(page, '6');
    const shown = await spent();
    assert.ok(shown <= SLOW * 300, `${shown} ms`);
    const { whole, zoomed } = await chartTimes(page);
    for (const [what, frames] of Object.entries({ whole, zoomed })) assert.ok(percentile(frames, 0.95) <= (SLOW * 1000) / 60, `${what} ${percentile(frames, 0.95)} ms`);
    console.log(`flame chart: shown in ${shown.toFixed(0)} ms, frames: whole ${percentile(whole, 0.95).toFixed(1)} ms, zoomed ${percentile(zoomed, 0.95).toFixed(1)} ms of processor time (p95)`);
  });
});

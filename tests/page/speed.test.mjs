// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Large captures: size, opening, long tasks, frames, memory. JPROF_PAGE_PROFILE=P2 takes the one of three million
// nodes; the default is P1. Bounds on time are three times the goals, for slow and busy machines: bench/page measures.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { P1, P2, writeCollapsed } from './big_profile.mjs';
import { closeBrowser, settle, withPage } from './browser.mjs';
import { directory, jprof } from './fixtures.mjs';
import { WATCH_FRAMES, drawTimes, framesSince, framesSoFar, heapAfterCollection, median, openTimes, percentile } from './measure.mjs';
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

test('B6, B7: opening is fast and never blocks input for long', async () => {
  const opened = await openTimes(file, 5);
  const painted = median(opened.map((o) => o.painted));
  assert.ok(painted <= SLOW * goals.open, `painted after ${opened.map((o) => o.painted.toFixed(0))} ms`);
  const longest = median(opened.map((o) => o.longest));
  assert.ok(longest <= SLOW * 150, `longest tasks ${opened.map((o) => o.longest.toFixed(0))} ms`);
  for (const { heap } of opened) assert.ok(heap <= goals.heap, `${heap} bytes of heap`);
});

test('B14: a frame takes few milliseconds, zoomed and whole', async () => {
  await withPage(file, { before: WATCH_FRAMES }, async (page) => {
    const { whole, zoomed } = await drawTimes(page);
    assert.ok(whole.length > 20 && zoomed.length > 20, `${whole.length} and ${zoomed.length} frames`);
    assert.ok(percentile(zoomed, 0.95) <= SLOW * 16, `zoomed ${percentile(zoomed, 0.95)} ms`);
    assert.ok(percentile(whole, 0.95) <= SLOW * 40, `whole ${percentile(whole, 0.95)} ms`);
  });
});

test('B22: merged callers of a large capture show at once', async () => {
  await withPage(file, {}, async (page) => {
    const took = await page.evaluate(() => new Promise((resolve) => {
      const since = performance.now();
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '2', bubbles: true }));
      requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now() - since)));
    }));
    assert.match(await page.locator('.page').getAttribute('data-view'), /callers/);
    assert.ok(took <= SLOW * 300, `${took} ms`);
  });
});

test('B68: selecting again and again leaks nothing, and a page at rest draws nothing', async () => {
  await withPage(file, { before: WATCH_FRAMES }, async (page) => {
    await press(page, 'Home');
    await press(page, '0');
    const first = await heapAfterCollection(page);
    for (let i = 0; i < (large ? 40 : 200); i++) await page.keyboard.press(['ArrowDown', 'z', 'ArrowRight', '0'][i % 4]);
    await settle(page);
    const grown = (await heapAfterCollection(page)) - first;
    assert.ok(grown <= 50e6, `${grown} bytes more`);
    await page.waitForTimeout(400);
    const drawn = await framesSoFar(page);
    assert.ok(drawn > 10, `${drawn} frames drawn`);
    await page.waitForTimeout(500);
    assert.deepEqual(await framesSince(page, drawn), []);
  });
});

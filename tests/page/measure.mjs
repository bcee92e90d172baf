// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What a page costs, measured inside the browser.
import { open } from './browser.mjs';

export const percentile = (values, share) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
export const median = (values) => percentile(values, 0.5);

const WATCH_TASKS = () => {
  window.tasks = [];
  new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((e) => e.duration))).observe({ type: 'longtask', buffered: true });
};

// Opens the file in fresh contexts: [{ painted (ms after navigation), longest task (ms), heap (bytes) }].
export async function openTimes(file, times) {
  const found = [];
  for (let i = 0; i < times; i++) {
    const opened = await open(file, { before: WATCH_TASKS });
    const { page } = opened;
    const painted = await page.evaluate(() => performance.getEntriesByName('painted')[0].startTime);
    await page.waitForTimeout(300);
    const longest = await page.evaluate(() => Math.max(0, ...window.tasks));
    found.push({ painted, longest, heap: await heapAfterCollection(page) });
    await opened.close();
  }
  return found;
}

// Objects and the memory of typed arrays.
export async function heapAfterCollection(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize, backingStorageSize = 0 } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize + backingStorageSize;
}

// For `before`: times the callbacks of animation frames. The page keeps its own reference, so it must come first.
export const WATCH_FRAMES = () => {
  const original = window.requestAnimationFrame.bind(window);
  window.frameTimes = [];
  window.requestAnimationFrame = (work) => original((now) => {
    const since = performance.now();
    work(now);
    window.frameTimes.push(performance.now() - since);
  });
};

export const framesSince = (page, count) => page.evaluate((n) => window.frameTimes.slice(n), count);
export const framesSoFar = (page) => page.evaluate(() => window.frameTimes.length);

// Times of the work of single frames, in ms, while the pointer zooms the whole graph in and out, and while it drags
// inside of a zoom.
export async function drawTimes(page) {
  const box = await page.locator('.flame[data-view="graph"] canvas').boundingBox();
  const at = { x: box.x + box.width * 0.3, y: box.y + 150 };
  const frames = async (move) => {
    const before = await framesSoFar(page);
    for (let i = 0; i < 45; i++) await move(i);
    await page.waitForTimeout(100);
    return framesSince(page, before);
  };
  await page.mouse.move(at.x, at.y);
  await page.keyboard.down('Control');
  const whole = await frames((i) => page.mouse.wheel(0, i % 2 ? 4 : -4));
  await page.keyboard.up('Control');
  await page.keyboard.press('0');
  await page.mouse.dblclick(at.x, at.y);
  await page.waitForTimeout(300);
  await page.mouse.dblclick(at.x, at.y + 100);
  await page.waitForTimeout(300);
  await page.mouse.down();
  const zoomed = await frames((i) => page.mouse.move(at.x + (i < 23 ? i : 46 - i) * 8, at.y));
  await page.mouse.up();
  return { whole, zoomed };
}

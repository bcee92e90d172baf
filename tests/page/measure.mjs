// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What a page costs, measured inside the browser.
import { browser, open, settle } from './browser.mjs';

export const percentile = (values, share) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
export const median = (values) => percentile(values, 0.5);

// A function that tells how many milliseconds of processor time the main thread has worked since it was last asked. Unlike
// time on the clock it hardly depends on what else the machine does.
export async function threadTime(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const read = async () => (await session.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration').value * 1000;
  let before = await read();
  return async () => {
    const since = before;
    before = await read();
    return before - since;
  };
}

const isTask = (event) => event.ph === 'X' && event.name === 'ThreadControllerImpl::RunTask';

// What the page's main thread did between two marks of a trace: { frame: the most for one frame, all }, ms of processor
// time. A frame is all that was done since the frame before, up to its end.
function workBetween(trace, from, to) {
  const main = trace.filter((e) => e.pid === from.pid && e.tid === from.tid && e.ts > from.ts && e.ts < to.ts);
  const frames = main.filter((e) => e.name === 'ProxyMain::BeginMainFrame');
  let all = 0;
  let frame = 0;
  let since = 0;
  let last = 0;
  for (const task of main.filter((e) => isTask(e)).sort((a, b) => a.ts - b.ts)) {
    // The task that sets the second mark is not the page's; tasks within tasks are counted by these.
    if (task.ts < last || task.ts + task.dur > to.ts) continue;
    last = task.ts + task.dur;
    all += task.tdur / 1000;
    since += task.tdur / 1000;
    if (!frames.some((e) => e.ts >= task.ts && e.ts < last)) continue;
    frame = Math.max(frame, since);
    since = 0;
  }
  return { frame, all };
}

// steps(measured) does what it wants, and awaits measured(work) for what is to be measured, which tells how many there were:
// [{ frame, all }, ...].
export async function workOfZooms(page, steps) {
  const driver = await browser();
  await driver.startTracing(page, { categories: ['toplevel', 'cc', 'blink.user_timing'] });
  let count = 0;
  const mark = (name) => page.evaluate((text) => void performance.mark(text), name);
  await steps(async (work) => {
    await mark(`begin ${count}`);
    await work();
    await mark(`end ${count}`);
    return ++count;
  });
  const trace = JSON.parse((await driver.stopTracing()).toString()).traceEvents;
  const at = (name) => trace.find((e) => e.name === name && e.cat.includes('user_timing'));
  return Array.from({ length: count }, (_, i) => workBetween(trace, at(`begin ${i}`), at(`end ${i}`)));
}

// The longest task of a page's main thread in a trace, in ms of processor time.
function longestTask(trace) {
  const mains = new Set(trace.filter((e) => e.name === 'thread_name' && e.args.name === 'CrRendererMain').map((e) => `${e.pid} ${e.tid}`));
  const tasks = trace.filter((e) => e.ph === 'X' && e.tdur !== undefined && mains.has(`${e.pid} ${e.tid}`));
  return Math.max(...tasks.map((e) => e.tdur)) / 1000;
}

// Opens the file in fresh contexts: [{ work (ms until painted), longest task (ms), heap (bytes) }].
export async function openTimes(file, times) {
  const found = [];
  for (let i = 0; i < times; i++) {
    let spent;
    const prepare = async (page) => {
      spent = await threadTime(page);
      await (await browser()).startTracing(page, { categories: ['toplevel'] });
    };
    const opened = await open(file, { prepare });
    const work = await spent();
    await settle(opened.page);
    const longest = longestTask(JSON.parse((await (await browser()).stopTracing()).toString()).traceEvents);
    found.push({ work, longest, heap: await heapAfterCollection(opened.page) });
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

// For `before`: counts animation frames. The page keeps its own reference, so it must come first.
export const COUNT_FRAMES = () => {
  const original = window.requestAnimationFrame.bind(window);
  window.framesDrawn = 0;
  window.requestAnimationFrame = (work) => original((now) => {
    window.framesDrawn++;
    work(now);
  });
};

export const framesSoFar = (page) => page.evaluate(() => window.framesDrawn);

// Processor time of single steps with their frames, in ms, while the pointer zooms the whole graph in and out, and while
// it drags inside of a zoom.
export async function drawTimes(page) {
  const box = await page.locator('.flame[data-view="graph"] canvas').boundingBox();
  const at = { x: box.x + box.width * 0.3, y: box.y + 150 };
  const spent = await threadTime(page);
  const frames = async (move) => {
    const found = [];
    await spent();
    for (let i = 0; i < 45; i++) {
      await move(i);
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))));
      found.push(await spent());
    }
    return found;
  };
  await page.mouse.move(at.x, at.y);
  await page.keyboard.down('Control');
  const whole = await frames((i) => page.mouse.wheel(0, i % 2 ? 4 : -4));
  await page.keyboard.up('Control');
  await page.keyboard.press('0');
  // Rows that are full: a click beside the boxes would zoom nowhere.
  for (const row of [1, 3]) {
    await page.mouse.dblclick(at.x, box.y + (row + 0.5) * 20);
    await settle(page);
    if (!(await page.evaluate(() => /\bz=/.test(location.hash)))) throw new Error('nothing was zoomed');
  }
  await page.mouse.down();
  const zoomed = await frames((i) => page.mouse.move(at.x + (i < 23 ? i : 46 - i) * 8, at.y));
  await page.mouse.up();
  return { whole, zoomed };
}

// The same of a flame chart that is shown: zooming the whole of it in and out, and panning where a window holds some seconds.
export async function chartTimes(page) {
  const box = await page.locator('.flame[data-view="chart"] canvas').boundingBox();
  const at = { x: box.x + box.width / 2, y: box.y + 150 };
  const spent = await threadTime(page);
  const frames = async (move) => {
    const found = [];
    await spent();
    for (let i = 0; i < 45; i++) {
      await move(i);
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))));
      found.push(await spent());
    }
    return found;
  };
  const pan = async () => {
    await page.mouse.move(at.x, at.y);
    await page.mouse.down();
    const found = await frames((i) => page.mouse.move(at.x + (i < 23 ? i : 46 - i) * 8, at.y));
    await page.mouse.up();
    return found;
  };
  const zoom = async (times) => {
    await page.mouse.move(at.x, at.y);
    await page.keyboard.down('Control');
    for (let i = 0; i < times; i++) await page.mouse.wheel(0, -200);
    await page.keyboard.up('Control');
    await settle(page);
  };
  await zoom(3);
  const whole = await pan();
  await zoom(5);
  return { whole, zoomed: await pan() };
}

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The flame chart beside speedscope's view in the order of time, on the same samples. speedscope shows one thread at a time: the first.
//   frame   the main thread's work for a frame while the pointer drags the chart, zoomed to some minutes ("whole") and to some
//           seconds ("zoomed"): 95th percentile of 40 steps
import { closeSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { browser, settle } from '../../tests/page/browser.mjs';
import { heapAfterCollection, percentile, threadTime, workOfZooms } from '../../tests/page/measure.mjs';
import { longCapture, recordingOf } from '../../tests/page/recording.mjs';

const STEPS = 40;

// A pause is an empty stack.
function writeSpeedscope(capture, file) {
  const out = openSync(file, 'w');
  const frames = capture.frames.map(({ name }) => ({ name }));
  writeSync(out, `{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":${JSON.stringify(frames)}},"profiles":[`);
  capture.threads.forEach((name, thread) => {
    const samples = [];
    const weights = [];
    let last = 0;
    for (const s of capture.samples) {
      if (s.thread !== thread) continue;
      const pause = s.time - s.weight - last;
      if (pause > 0) {
        samples.push([]);
        weights.push(pause / 1e6);
      }
      samples.push(capture.stacks[s.stack]);
      weights.push(s.weight / 1e6);
      last = s.time;
    }
    writeSync(out, `${thread ? ',' : ''}{"type":"sampled","name":${JSON.stringify(name)},"unit":"milliseconds","startValue":0,"endValue":${last / 1e6},"samples":[`);
    for (let i = 0; i < samples.length; i += 5000) writeSync(out, (i ? ',' : '') + samples.slice(i, i + 5000).map((stack) => `[${stack}]`).join(','));
    writeSync(out, `],"weights":[${weights}]}`);
  });
  writeSync(out, ']}');
  closeSync(out);
}

// Where the pointer is while it drags and zooms.
const AT = { x: 640, y: 420 };

async function drag(page) {
  const frames = await workOfZooms(page, async (measured) => {
    await page.mouse.move(AT.x, AT.y);
    await page.mouse.down();
    for (let i = 0; i < STEPS; i++) {
      await measured(async () => {
        await page.mouse.move(AT.x + (i < STEPS / 2 ? i : STEPS - i) * 8, AT.y);
        await settle(page);
      });
    }
    await page.mouse.up();
  });
  return percentile(frames.map((f) => f.frame), 0.95);
}

async function zoom(page, times) {
  await page.mouse.move(AT.x, AT.y);
  await page.keyboard.down('Control');
  for (let i = 0; i < times; i++) {
    await page.mouse.wheel(0, -200);
    await settle(page);
  }
  await page.keyboard.up('Control');
}

const viewers = {
  jprof: async (page, files) => {
    await page.goto('file://' + files.page);
    await page.waitForFunction(() => performance.getEntriesByName('painted').length > 0, null, { timeout: 120000 });
    const spent = await threadTime(page);
    await page.keyboard.press('6');
    await settle(page);
    return spent();
  },
  speedscope: async (page, files, server) => {
    const spent = await threadTime(page);
    await page.goto(`http://127.0.0.1:${server.address().port}/index.html`);
    await page.locator('input[type=file]').first().waitFor({ state: 'attached' });
    await page.locator('input[type=file]').first().setInputFiles(files.json);
    await page.getByText('Time Order').waitFor({ timeout: 600000 });
    await settle(page);
    return spent();
  },
};

// Prints a line for each viewer. work: a folder; server: of speedscope's files, or null.
export async function compareCharts({ samples, work, jprof, server, only }) {
  const capture = longCapture(samples);
  const files = { recording: join(work, 'long.jprof'), page: join(work, 'long.html'), json: join(work, 'long.speedscope.json') };
  writeFileSync(files.recording, recordingOf(capture));
  execFileSync(jprof, ['convert', files.recording, '-o', files.page], { stdio: 'ignore' });
  if (only.includes('speedscope')) writeSpeedscope(capture, files.json);
  for (const [name, show] of Object.entries(viewers)) {
    if (!only.includes(name)) continue;
    const context = await (await browser()).newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' });
    try {
      const page = await context.newPage();
      const shown = await show(page, files, server);
      const heap = await heapAfterCollection(page);
      await zoom(page, 3);
      const whole = await drag(page);
      await zoom(page, 5);
      const zoomed = await drag(page);
      const size = statSync(name === 'jprof' ? files.page : files.json).size;
      console.log(`chart ${samples} samples ${name.padEnd(10)} ${(size / 1e6).toFixed(1)} MB, shown after ${shown.toFixed(0)} ms of work, frame whole ${whole.toFixed(1)} ms, zoomed ${zoomed.toFixed(1)} ms, heap ${(heap / 1e6).toFixed(0)} MB`);
    } catch (error) {
      console.log(`chart ${samples} samples ${name} gave no result: ${error.message.split('\n')[0]}`);
    }
    await context.close().catch(() => {});
  }
}

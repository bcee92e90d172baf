// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The flame chart. What must be in it is worked out here from the samples themselves, apart from the page's code.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { closeBrowser, settle, withPage } from './browser.mjs';
import { T2, T3, diffPage, pageOf, perfText, randomNumbers } from './fixtures.mjs';
import { recordingOf } from './recording.mjs';
import { ROW, details, fragment, graphBox, pixel, press, search, selectedName } from './steps.mjs';

after(closeBrowser);

const MS = 1e6;
const chartBox = (page) => graphBox(page, 'chart');

// Three threads that run and pause; times in whole ms, so that nothing is rounded.
function wander(seed) {
  const random = randomNumbers(seed);
  const names = Array.from({ length: 9 }, (_, i) => `m${i}`);
  const stacks = Array.from({ length: 24 }, () => Array.from({ length: 1 + Math.floor(random() * 6) }, () => Math.floor(random() ** 2 * names.length)));
  const samples = [];
  [0, 1, 2].forEach((thread) => {
    let time = 1 + Math.floor(random() * 30);
    for (let i = 0; i < 200 - 50 * thread; i++) {
      const weight = 4 + Math.floor(random() * 8);
      time += weight + (random() < 0.3 ? 2 + Math.floor(random() * 25) : 0);
      samples.push({ time: time * MS, thread, stack: Math.floor(random() ** 2 * stacks.length), weight: weight * MS, state: 1 + Math.floor(random() * 3) });
    }
  });
  return { title: 'wander', duration: 3000 * MS, frames: names.map((name) => ({ name })), stacks, threads: ['alpha', 'beta', 'gamma'], samples };
}

const pathOf = (profile, sample) => profile.stacks[sample.stack].map((frame) => profile.frames[frame].name);

// The lanes by falling weight, each with its samples in ms: [{ name, weight, depth, entries: [{ from, to, path }] }].
function lanesOf(profile) {
  return profile.threads
    .map((name, thread) => {
      const own = profile.samples.filter((s) => s.thread === thread).sort((a, b) => a.time - b.time);
      const entries = own.map((s, i) => ({ from: Math.max((s.time - s.weight) / MS, i ? own[i - 1].time / MS : 0), to: s.time / MS, weight: s.weight / MS, path: pathOf(profile, s) }));
      return { name, entries, weight: own.reduce((sum, s) => sum + s.weight, 0), depth: Math.max(...entries.map(({ path }) => path.length)) };
    })
    .sort((a, b) => b.weight - a.weight);
}

// The box of a level at a moment, or null: what lies beside it without a pause and has the same path so far is the same box.
// Times are told in whole ms, so a pause of no more than one is none.
function boxAt({ entries }, depth, tick) {
  const at = entries.findIndex((e) => e.from <= tick && tick < e.to);
  if (at < 0 || entries[at].path.length <= depth) return null;
  const prefix = entries[at].path.slice(0, depth + 1).join();
  const same = (e) => e.path.length > depth && e.path.slice(0, depth + 1).join() === prefix;
  let first = at;
  let last = at;
  while (first > 0 && entries[first].from - entries[first - 1].to <= 1 && same(entries[first - 1])) first--;
  while (last + 1 < entries.length && entries[last + 1].from - entries[last].to <= 1 && same(entries[last + 1])) last++;
  const run = entries.slice(first, last + 1);
  return { name: entries[at].path[depth], from: run[0].from, to: entries[last].to, samples: run.length, ms: run.reduce((sum, e) => sum + e.weight, 0) };
}

async function hover(page, x, y) {
  const box = await chartBox(page);
  await page.mouse.move(box.x + x, box.y + y);
  await settle(page);
  return (await page.locator('.tip').isVisible()) ? page.locator('.tip').innerText() : '';
}

for (const below of [false, true]) {
  test(`B81: every box is where its samples are, ${below ? 'root below' : 'root above'}`, async () => {
    const profile = wander(below ? 5 : 4);
    const lanes = lanesOf(profile);
    const random = randomNumbers(99);
    const file = pageOf(recordingOf(profile), { name: `wander${below}.jprof` });
    for (const from of [0, 700]) {
      const to = from + 300;
      await withPage(file, { hash: `#v=chart&cw=${from}~${to}${below ? '&x=f' : ''}`, viewport: { width: 1280, height: 900 } }, async (page) => {
        const { width } = await chartBox(page);
        let found = 0;
        for (let k = 0; k < 60; k++) {
          const l = Math.floor(random() * lanes.length);
          const depth = Math.floor(random() * lanes[l].depth);
          // In the middle of a ms: away from edges.
          const tick = from + Math.floor(random() * 300) + 0.5;
          const top = lanes.slice(0, l).reduce((sum, lane) => sum + lane.depth + 1, 0);
          const row = top + 1 + (below ? lanes[l].depth - 1 - depth : depth);
          const told = await hover(page, ((tick - from) / (to - from)) * width, (row + 0.5) * ROW);
          const box = boxAt(lanes[l], depth, tick);
          const where = `lane ${lanes[l].name}, level ${depth}, at ${tick} ms`;
          if (!box) {
            assert.equal(told, '', where);
            continue;
          }
          found++;
          const digits = box.to - box.from < 1000 ? 3 : 2;
          const [name, amount, ...rest] = told.split('\n');
          assert.equal(name, box.name, where);
          assert.match(amount, new RegExp(`in ${box.samples} samples? · \\+${(box.from / 1000).toFixed(digits)} s – \\+${(box.to / 1000).toFixed(digits)} s$`), where);
          assert.ok(Math.abs(parseFloat(amount) * (/^[\d.]+ s/.test(amount) ? 1000 : 1) - box.ms) <= 0.006 * box.ms + 0.01, `${where}: ${amount}, not ${box.ms} ms`);
          assert.ok(rest.includes(lanes[l].name), `${where}: ${rest}`);
        }
        assert.ok(found > 15, `${found} of 60 places had a box`);
      });
    }
  });
}

test('B81: a thread that does not run is a gap; one that runs for a part of a pixel is pale', async () => {
  // Busy for a second, idle for one, then 10 ms in each 100.
  const samples = [];
  for (let i = 1; i <= 100; i++) samples.push({ time: i * 10 * MS, thread: 0, stack: 0, weight: 10 * MS });
  for (let i = 1; i <= 20000; i++) samples.push({ time: (2000 + i * 100) * MS, thread: 0, stack: 0, weight: 10 * MS });
  const file = pageOf(recordingOf({ frames: [{ name: 'work' }], stacks: [[0]], threads: ['main'], samples, duration: 2002000 * MS }), { name: 'pauses.jprof' });
  await withPage(file, { hash: '#v=chart&cw=0~4000' }, async (page) => {
    const box = await chartBox(page);
    const at = (ms) => pixel(page, Math.round(box.x + (ms / 4000) * box.width), Math.round(box.y + 1.5 * ROW));
    await page.mouse.move(5, 5);
    assert.deepEqual(await at(1500), [255, 255, 255, 255]);
    assert.deepEqual(await at(2050), [255, 255, 255, 255]);
    const full = await at(600);
    assert.ok(full[0] < 230, full.join());
    assert.notDeepEqual(await at(2095), [255, 255, 255, 255]);
    await press(page, '0');
    assert.equal(fragment(page).get('cw'), null);
    const mean = (await pixel(page, Math.round(box.x + box.width / 2), Math.round(box.y + 1.5 * ROW)))[0];
    assert.ok(mean > full[0] + 20 && mean < 250, `${mean} between ${full[0]} and 255`);
    // Of the time at the pointer a tenth.
    assert.match(await hover(page, box.width / 2, 1.5 * ROW), /At the pointer: (1[567]) of \1 samples in 1\.60 s, of which the thread ran (9|10)\.\d+ %/);
  });
});

test('B81: lanes say what they are, open and close, and the link remembers', async () => {
  const profile = wander(4);
  const lanes = lanesOf(profile);
  const file = pageOf(recordingOf(profile), { name: 'lanes.jprof' });
  await withPage(file, { hash: '#v=chart' }, async (page) => {
    const whole = lanes.reduce((sum, lane) => sum + lane.weight, 0);
    const figures = ({ name, weight, entries }) => new RegExp(`^${name} · ${((100 * weight) / whole).toFixed(1)} % · .* · ${entries.length} samples`);
    const second = lanes[0].depth + 1;
    assert.match(await hover(page, 300, 0.5 * ROW), figures(lanes[0]));
    assert.match(await hover(page, 300, (second + 0.5) * ROW), figures(lanes[1]));
    const box = await chartBox(page);
    await page.mouse.click(box.x + 300, box.y + 0.5 * ROW);
    await settle(page);
    await page.mouse.move(5, 5);
    assert.match(await hover(page, 300, 1.5 * ROW), figures(lanes[1]));
    await page.reload();
    await page.locator('.ruler').waitFor();
    await page.mouse.move(5, 5);
    assert.match(await hover(page, 300, 1.5 * ROW), figures(lanes[1]));
    await page.getByRole('button', { name: 'Close all lanes' }).click();
    assert.match(await hover(page, 300, 2.5 * ROW), figures(lanes[2]));
    await page.getByRole('button', { name: 'Open all lanes' }).click();
    assert.match(await hover(page, 300, (second + 0.5) * ROW), figures(lanes[1]));
    // By name.
    await press(page, 'o');
    assert.match(await hover(page, 300, 0.5 * ROW), /^alpha/);
  });
});

test('B82: keys move through time, levels and lanes; zoom fills the width with a box, Back returns', async () => {
  const profile = wander(4);
  const lanes = lanesOf(profile);
  const file = pageOf(recordingOf(profile), { name: 'keys.jprof' });
  await withPage(file, { hash: '#v=chart' }, async (page) => {
    await press(page, 'Home');
    const first = lanes[0].entries[0];
    assert.equal(await selectedName(page), first.path[0]);
    const box = boxAt(lanes[0], 0, first.from);
    assert.match(await details(page), new RegExp(`this box .* in ${box.samples} samples? · \\+${(box.from / 1000).toFixed(3)} s – \\+${(box.to / 1000).toFixed(3)} s ${lanes[0].name}`));
    await press(page, 'z');
    assert.deepEqual(fragment(page).get('cw').split('~').map(Number), [box.from, box.to]);
    await page.goBack();
    await settle(page);
    assert.equal(fragment(page).get('cw'), null);
    // The next box of the level, then back.
    const next = lanes[0].entries.find((e) => e.from >= box.to);
    await press(page, 'ArrowRight');
    assert.equal(await selectedName(page), next.path[0]);
    assert.match(await details(page), new RegExp(`\\+${(next.from / 1000).toFixed(3)} s –`));
    await press(page, 'ArrowLeft', 'End');
    assert.equal(await selectedName(page), boxLeaf(box, lanes[0]));
    // Over the lane's name into the next lane.
    await press(page, 'ArrowDown');
    assert.equal(await page.locator('.details.none').count(), 1);
    await press(page, 'ArrowDown');
    assert.match(await details(page), new RegExp(`this box .* ${lanes[1].name} here`));
    await press(page, 'Home', 'ArrowUp', 'ArrowLeft');
    assert.match(fragment(page).get('lo'), /^[0-9a-z]+~[0-9a-z]+$/);
    await press(page, '+', '+');
    const [from, to] = fragment(page).get('cw').split('~').map(Number);
    assert.ok(Math.abs(to - from - 3000 * 0.49) < 1, `${from} to ${to}`);
    await press(page, 'd');
    assert.ok(Number(fragment(page).get('cw').split('~')[0]) > from);
    await press(page, 'Backspace', '0');
    assert.equal(fragment(page).get('cw'), null);
  });
});

// At the end of a box: there the arrow that comes from the right arrives.
const boxLeaf = (box, lane) => lane.entries.find((e) => e.to === box.to).path.at(-1);

test('B82: search walks through time, filters and ranges leave their samples, Shift and drag selects', async () => {
  await withPage(pageOf(T3()), { hash: '#v=chart' }, async (page) => {
    await search(page, 'spike');
    await press(page, 'Escape', 'n');
    await page.keyboard.press('Escape');
    await search(page, 'spike');
    await page.keyboard.press('Enter');
    await settle(page);
    assert.equal(await selectedName(page), 'a.spike');
    assert.match(await details(page), /this box 2\.00 s in 200 samples · \+3\.99 s – \+5\.99 s alpha/);
    // In the lane's row, what was found is pink, and only there.
    const box = await chartBox(page);
    const band = (ms) => pixel(page, Math.round(box.x + (ms / 10000) * box.width), Math.round(box.y + ROW - 4));
    const isPink = ([r, g, b]) => r - g > 60 && b - g > 30;
    await page.mouse.move(5, 5);
    assert.ok(isPink(await band(5000)), String(await band(5000)));
    assert.ok(!isPink(await band(3000)), String(await band(3000)));
    await page.keyboard.press('Escape');
    await press(page, 'Escape');
    await press(page, 't');
    await page.getByRole('button', { name: 'Solo beta' }).click();
    await press(page, 't');
    assert.match(await page.locator('.view:not([hidden]) .lanes-note').first().innerText(), /^1 lane/);
    assert.match(await hover(page, 300, 0.5 * ROW), /^beta · 100 %/);
    await press(page, 'u');
    const place = await chartBox(page);
    await page.keyboard.down('Shift');
    await page.mouse.move(place.x + place.width * 0.2, place.y + 60);
    await page.mouse.down();
    await page.mouse.move(place.x + place.width * 0.3, place.y + 60, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up('Shift');
    await settle(page);
    const [from, to] = fragment(page).get('t').split('-').map(Number);
    assert.ok(Math.abs(from - 2000) <= 12 && Math.abs(to - 3000) <= 12, `${from}-${to}`);
    assert.match(await page.locator('.capture').innerText(), /20[0-4] samples/);
    // What the range leaves out is not an idle thread: it is shaded.
    await page.mouse.move(5, 5);
    assert.notDeepEqual(await pixel(page, Math.round(place.x + place.width * 0.6), Math.round(place.y + 1.5 * ROW)), [255, 255, 255, 255]);
    assert.equal(await hover(page, place.width * 0.6, 1.5 * ROW), '');
    // The range fills the width when the window is given up.
    await press(page, '0');
    assert.match(await hover(page, place.width * 0.5, 1.5 * ROW), /main\.run|alpha/);
  });
});

test('B82: saved as SVG, it has the boxes that it shows, in their colours', async () => {
  const profile = wander(4);
  const lanes = lanesOf(profile);
  for (const colorScheme of ['light', 'dark']) {
    await withPage(pageOf(recordingOf(profile), { name: 'svg.jprof' }), { hash: '#v=chart&cw=100~300', colorScheme }, async (page) => {
      await page.getByText('Save', { exact: true }).click();
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save as SVG' }).click()]);
      const svg = readFileSync(await download.path(), 'utf8');
      await page.keyboard.press('Escape');
      for (const { name } of lanes) assert.match(svg, new RegExp(`font-weight="bold">${name} `));
      const box = boxAt(lanes[0], 0, lanes[0].entries.find((e) => e.from > 120 && e.to - e.from > 6).from + 3);
      const middle = (Math.max(100, box.from) + Math.min(300, box.to)) / 2;
      const drawn = [...svg.matchAll(/<g><title>(\S*) [^<]*<\/title><rect x="([\d.]+)" y="54" width="([\d.]+)" [^>]*fill="(#\w+)"/g)].map(([, name, x, wide, fill]) => ({ name, from: 100 + Number(x) / 6, to: 100 + (Number(x) + Number(wide)) / 6, fill }));
      const found = drawn.find(({ from, to }) => from <= middle && middle < to);
      assert.equal(found.name, box.name);
      const area = await chartBox(page);
      const beside = (found.from + Math.min(found.to, found.from + 2)) / 2;
      await page.mouse.move(5, 5);
      const [r, g, b] = await pixel(page, Math.round(area.x + ((beside - 100) / 200) * area.width), Math.round(area.y + ROW + 3));
      assert.equal(found.fill, '#' + [r, g, b].map((n) => n.toString(16).padStart(2, '0')).join(''));
    });
  }
});

test('B82: lost samples are no idle time', async () => {
  const samples = [];
  for (let i = 1; i <= 300; i++) if (i <= 100 || i > 200) samples.push({ time: i * 10 * MS, thread: 0, stack: 0, weight: 10 * MS });
  const file = pageOf(recordingOf({ frames: [{ name: 'work' }], stacks: [[0]], threads: ['main'], samples, duration: 3000 * MS, losses: [['ring full', 100]], gaps: [['ring full', 1000 * MS, 2000 * MS, 100]] }), { name: 'lost.jprof' });
  await withPage(file, { hash: '#v=chart' }, async (page) => {
    const box = await chartBox(page);
    const image = await page.screenshot({ clip: { x: box.x + box.width * 0.4, y: box.y + 1.5 * ROW, width: 40, height: 1 } });
    const plain = await page.screenshot({ clip: { x: box.x + box.width * 0.4, y: box.y + 3.5 * ROW, width: 40, height: 1 } });
    assert.notDeepEqual(image, plain);
  });
});

test('B82: without times, and with two captures, the flame chart says why there is none', async () => {
  await withPage(pageOf(T2), { hash: '#v=chart' }, async (page) => {
    assert.match(await page.locator('.view:not([hidden]) .hint').innerText(), /has no times/);
    await press(page, 'Home', 'ArrowDown', 'z', '0', '+', 'd', 'n');
  });
  await withPage(diffPage(T3(), T3()), { hash: '#v=chart' }, async (page) => {
    assert.match(await page.locator('.view:not([hidden]) .hint').innerText(), /Two captures have no time in common/);
  });
});

test('B82: two ranges of one capture show both, in the colours of their comparison', async () => {
  await withPage(pageOf(T3()), { hash: '#v=chart&t=4000-6000&tb=1000-3000' }, async (page) => {
    const { width } = await chartBox(page);
    const at = (ms) => ((ms - 1000) / 5000) * width;
    assert.match(await hover(page, at(2000), 3.5 * ROW), /^a\.steady\n2\.00 s in 200 samples · \+0\.99 s – \+2\.99 s/);
    assert.match(await hover(page, at(5000), 3.5 * ROW), /^a\.spike\n2\.00 s in 200 samples/);
    assert.equal(await hover(page, at(3500), 3.5 * ROW), '');
  });
});

test('B82: a capture that does not tell how long a sample stands for has lines, and says so', async () => {
  const samples = Array.from({ length: 50 }, (_, i) => ({ time: i / 10, thread: 'm', tid: 1, stack: ['a', 'b'] }));
  const text = perfText(samples).replaceAll('10000000 cpu-clock:u:', '1 page-faults:');
  await withPage(pageOf(text), { hash: '#v=chart' }, async (page) => {
    assert.match(await page.locator('.view:not([hidden]) .lanes-note').first().innerText(), /does not tell how long a sample stands for/);
    const box = await chartBox(page);
    const image = await page.screenshot({ clip: { x: box.x, y: box.y + 1.5 * ROW, width: box.width, height: 1 } });
    const blank = await page.screenshot({ clip: { x: box.x, y: box.y + 12.5 * ROW, width: box.width, height: 1 } });
    assert.notDeepEqual(image, blank);
  });
});

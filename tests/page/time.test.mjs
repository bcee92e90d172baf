// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Times, threads and states.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { closeBrowser, settle, withPage } from './browser.mjs';
import { T2, T3, jprof, pageOf, perfText, withMeta } from './fixtures.mjs';
import { heapAfterCollection } from './measure.mjs';
import { details, fragment, press, samplesShown, search, tableRows } from './steps.mjs';

after(closeBrowser);
const t3 = pageOf(T3());

async function drag(page, from, to, key) {
  const box = await page.locator('.strip canvas').boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * from, y);
  if (key) await page.keyboard.down(key);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * to, y, { steps: 6 });
  await page.mouse.up();
  if (key) await page.keyboard.up(key);
  await settle(page);
}

test('B31: a dragged range re-merges every view and total; Esc clears; keys move and resize', async () => {
  await withPage(t3, { hash: '#v=table' }, async (page) => {
    assert.equal((await tableRows(page))[0][3], 'b.work');
    assert.match(await samplesShown(page), /2,000 samples/);
    await drag(page, 0.42, 0.58);
    const [from, to] = fragment(page).get('t').split('-').map(Number);
    assert.ok(Math.abs(from - 4200) <= 12 && Math.abs(to - 5800) <= 12, `${from}-${to}`);
    const rows = await tableRows(page);
    assert.deepEqual(rows.map((row) => row[3]).sort(), ['a.spike', 'alpha', 'b.work', 'beta', 'main.run']);
    const spike = rows.find((row) => row[3] === 'a.spike');
    assert.match(spike[0], /^(49\.[0-9]|50\.[0-9]) % 1\.[56]/);
    await press(page, '1');
    assert.match(await page.locator('.chips').innerText(), /time range/);
    await press(page, 'Escape');
    assert.match(await samplesShown(page), /2,000 samples/);
    await page.locator('.strip').focus();
    await press(page, 'ArrowRight');
    const moved = fragment(page).get('t');
    assert.ok(moved);
    await press(page, 'Shift+ArrowRight');
    const resized = fragment(page).get('t');
    assert.equal(resized.split('-')[0], moved.split('-')[0]);
    assert.ok(Number(resized.split('-')[1]) > Number(moved.split('-')[1]));
    assert.match(await page.locator('.strip-label').innerText(), /\+0\.10 s – \+1\.20 s/);
  });
});

test('B31: CPU time that no sample stands for has its width, and is neither a sample nor an error', async () => {
  const recording = fileURLToPath(new URL('../fuzz/corpus/recording/rests.jprof', import.meta.url));
  const { samples, tree } = JSON.parse(execFileSync(jprof, ['convert', recording, '--to', 'json']));
  const rests = tree.children.filter((node) => node.kind === 'rest');
  assert.ok(samples > 0 && rests.length > 0 && rests.every((node) => node.samples === 0 && node.self > 0), JSON.stringify(tree.children));
  await withPage(pageOf(readFileSync(recording), { name: 'rests.jprof' }), {}, async (page) => {
    assert.match(await samplesShown(page), new RegExp(`(^|\\D)${samples} samples`));
    assert.match(await page.locator('.strip-label').innerText(), new RegExp(`(^|\\D)${samples} timed samples`));
    const legend = await details(page);
    assert.match(legend, /not sampled/);
    assert.doesNotMatch(legend, /error/);
  });
});

test('B30: the strip draws samples of a cell as their number says', async () => {
  // A hundred samples in the first second, ten in each of the next nine.
  const samples = [];
  for (let i = 0; i < 100; i++) samples.push({ time: i / 100, thread: 'm', tid: 1, stack: ['a'] });
  for (let i = 0; i < 90; i++) samples.push({ time: 1 + i / 10, thread: 'm', tid: 1, stack: ['a'] });
  await withPage(pageOf(perfText(samples)), {}, async (page) => {
    const heights = await page.evaluate(() => {
      const canvas = document.querySelector('#jprof').shadowRoot.querySelector('.strip canvas');
      const context = canvas.getContext('2d');
      const { data, width, height } = context.getImageData(0, 0, canvas.width, canvas.height);
      const columns = [];
      for (let x = 0; x < width; x++) {
        let filled = 0;
        for (let y = 0; y < height; y++) if (data[(y * width + x) * 4] < 180) filled++;
        columns.push(filled);
      }
      return columns;
    });
    const mean = (from, to) => heights.slice(from, to).reduce((a, b) => a + b, 0) / (to - from);
    const w = heights.length;
    const ratio = mean(Math.floor(w * 0.02), Math.floor(w * 0.09)) / mean(Math.floor(w * 0.2), Math.floor(w * 0.9));
    assert.ok(ratio > 6 && ratio < 15, `ratio ${ratio}`);
  });
});

test('B32: a second range by Shift and drag compares the two', async () => {
  await withPage(t3, { hash: '#v=table' }, async (page) => {
    await drag(page, 0.41, 0.59);
    await drag(page, 0.05, 0.35, 'Shift');
    assert.ok(fragment(page).get('tb'));
    const rows = await tableRows(page);
    const spike = rows.find((row) => row[5] === 'a.spike');
    assert.match(spike[0], /^\+(49|50)\.\d+ ± \d+\.\d+ changed new/);
    const steady = rows.find((row) => row[5] === 'a.steady');
    assert.match(steady[0], /^−(49|50)\.\d+ ± \d+\.\d+ changed gone/);
    const work = rows.find((row) => row[5] === 'b.work');
    assert.doesNotMatch(work[0], /changed/);
  });
});

test('B33: threads filter, group, only and none; their weights add up', async () => {
  await withPage(t3, {}, async (page) => {
    await press(page, 't');
    const list = page.locator('.threads .table-row');
    assert.equal(await list.count(), 2);
    assert.match(await list.nth(0).innerText(), /50\.0 %/);
    await page.getByRole('button', { name: 'Solo alpha' }).click();
    await settle(page);
    assert.match(await samplesShown(page), /1,000 samples/);
    assert.match(await page.locator('.chips').innerText(), /1 thread name/);
    await search(page, 'b.work');
    assert.match(await page.locator('.found').innerText(), /nothing found/);
    await page.getByRole('button', { name: 'None' }).click();
    await settle(page);
    assert.match(await samplesShown(page), /no samples match the filters/);
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await settle(page);
    assert.match(await samplesShown(page), /2,000 samples/);
  });
});

test('B33: a button that is pressed while the list is measured again is still the one released', async () => {
  await withPage(t3, {}, async (page) => {
    await press(page, 't');
    const only = await page.getByRole('button', { name: 'Solo alpha' }).boundingBox();
    await page.mouse.move(only.x + only.width / 2, only.y + only.height / 2);
    await page.mouse.down();
    await page.locator('.threads').evaluate((list) => (list.style.height = list.clientHeight - 1 + 'px'));
    await settle(page);
    await page.mouse.up();
    assert.match(await samplesShown(page), /1,000 samples/);
  });
});

test('B33: 300 threads scroll, filter by name and group by pool; split makes one root each', async () => {
  const samples = [];
  for (let i = 0; i < 3000; i++) samples.push({ time: i / 300, thread: `pool-${(i % 3) + 1}-thread-${(i % 300) + 1}`, tid: 100 + (i % 300), stack: ['run', 'work'] });
  await withPage(pageOf(perfText(samples)), {}, async (page) => {
    await press(page, 't');
    const rows = page.locator('.threads .table-row');
    assert.ok((await rows.count()) < 60);
    await page.locator('.threads').evaluate((list) => (list.scrollTop = 1e6));
    await settle(page);
    assert.ok((await rows.count()) > 5);
    await page.getByLabel('Filter threads').fill('thread-299');
    await settle(page);
    assert.equal(await rows.count(), 1);
    await page.getByLabel('Filter threads').fill('');
    await page.getByLabel('group by pool').check();
    await settle(page);
    assert.equal(await rows.count(), 1);
    assert.match(await rows.first().innerText(), /pool-#-thread-#\s+300 threads/);
    await page.getByLabel('group by pool').uncheck();
    await page.getByLabel('split in graph').check();
    await settle(page);
    assert.match(fragment(page).get('x'), /p/);
    await press(page, 'Escape');
    await page.locator('.flame').first().click({ position: { x: 5, y: 30 } });
    await settle(page);
    assert.match(await details(page), /thread here 0\.33 % · 10 samples/);
  });
});

test('B34: a capture without times hides strip and threads and says why', async () => {
  await withPage(pageOf(T2), {}, async (page) => {
    assert.equal(await page.locator('.strip').isVisible(), false);
    await press(page, 't');
    assert.match(await page.locator('.panel').innerText(), /no times and threads per sample/);
  });
});

// Colours of the strip at shares of its width and height.
const stripColours = (page, points) =>
  page.evaluate((wanted) => {
    const canvas = document.querySelector('#jprof').shadowRoot.querySelector('.strip canvas');
    const context = canvas.getContext('2d');
    const { data, width, height } = context.getImageData(0, 0, canvas.width, canvas.height);
    return wanted.map(([x, y]) => [...data.slice((Math.floor(y * height) * width + Math.floor(x * width)) * 4, (Math.floor(y * height) * width + Math.floor(x * width)) * 4 + 3)]);
  }, points);

const isGrey = ([r, g, b]) => Math.max(r, g, b) - Math.min(r, g, b) < 12;

test('B30: heat cells show a column for each second and a row for each part of it', async () => {
  // Ten seconds. Work at the start of each second, a tenth of it long; a little in the middle of the sixth.
  const samples = [];
  for (let second = 0; second < 10; second++) {
    for (let i = 0; i < 20; i++) samples.push({ time: second + i / 200, thread: 'm', tid: 1, stack: ['tick'] });
  }
  for (let i = 0; i < 4; i++) samples.push({ time: 5.52 + i / 200, thread: 'm', tid: 1, stack: ['rare'] });
  samples.push({ time: 9.999, thread: 'm', tid: 1, stack: ['end'] });
  samples.sort((a, b) => a.time - b.time);
  await withPage(pageOf(perfText(samples)), {}, async (page) => {
    await press(page, 'e');
    assert.match(fragment(page).get('x'), /e/);
    const at = (second, part) => [(second + 0.5) / 10, (Math.floor(part * 20) + 0.5) / 20];
    const [first, ninth, nothing, rare, beside] = await stripColours(page, [at(0, 0.02), at(9, 0.07), at(3, 0.5), at(5, 0.52), at(4, 0.52)]);
    assert.deepEqual(first, ninth);
    assert.ok(!isGrey(first) && !isGrey(rare) && isGrey(nothing) && isGrey(beside), `${first} ${rare} ${nothing} ${beside}`);
    assert.notDeepEqual(first, rare);
    // From a cell to a cell: half a second of one column and no more.
    const box = await page.locator('.strip canvas').boundingBox();
    const place = ([x, y]) => [box.x + x * box.width, box.y + y * box.height];
    await page.mouse.move(...place(at(5, 0.5)));
    await page.mouse.down();
    await page.mouse.move(...place(at(5, 0.95)), { steps: 5 });
    await page.mouse.up();
    await settle(page);
    assert.equal(fragment(page).get('t'), '5500-6000');
    assert.match(await samplesShown(page), /\b4 samples/);
    await press(page, 'e');
    assert.doesNotMatch(fragment(page).get('x') || '', /e/);
  });
});

test('B35: times in which samples were lost are drawn as gaps, and the header counts them', async () => {
  const file = withMeta(t3, (meta) => ({ ...meta, lost: 105, gaps: [{ from: 2000, to: 3000, lost: 100, reason: 'ring full' }, { from: 8000, to: 8040, lost: 5, reason: 'ring full' }] }));
  await withPage(file, {}, async (page) => {
    assert.match(await samplesShown(page), /105 lost/);
    assert.match(await page.locator('.strip-label').innerText(), /2 gaps: 105 samples lost/);
    // Above the samples: the gap's colour, and nothing beside it.
    const [inside, narrow, outside] = await stripColours(page, [[0.253, 0.01], [0.8026, 0.01], [0.5, 0.01]]);
    assert.ok(!isGrey(inside) && !isGrey(narrow) && isGrey(outside), `${inside} ${narrow} ${outside}`);
  });
});

test('B68: two hundred ranges of time leave nothing behind', async () => {
  await withPage(t3, {}, async (page) => {
    await page.locator('.strip').focus();
    const first = await heapAfterCollection(page);
    for (let i = 0; i < 200; i++) await page.keyboard.press(i % 80 < 40 ? 'ArrowRight' : 'ArrowLeft');
    await settle(page);
    assert.ok(fragment(page).get('t'));
    const grown = (await heapAfterCollection(page)) - first;
    assert.ok(grown <= 5e6, `${grown} bytes more for 2000 samples`);
  });
});

test('B76: pools keep the digits that are part of a name, and patterns of one\'s own come first', async () => {
  const names = ['C1 CompilerThread0', 'C1 CompilerThread1', 'C2 CompilerThread0', 'G1 Conc#0', 'G1 Conc#12', 'G1 Main Marker', 'GC Thread#3', 'Log4j2-TF-1-Scheduled-2', 'pool-1-thread-7', 'T5', 'http2-exec-1'];
  const samples = names.flatMap((thread, k) => Array.from({ length: names.length - k }, (_, i) => ({ time: k + i / 100, thread, tid: 100 + k, stack: ['work'] })));
  await withPage(pageOf(perfText(samples)), {}, async (page) => {
    const labels = async () => {
      await settle(page);
      return (await page.locator('.threads bdi').allInnerTexts()).sort();
    };
    await press(page, 't');
    await page.getByLabel('group by pool').check();
    assert.deepEqual(await labels(), ['C1 CompilerThread#', 'C2 CompilerThread#', 'G1 Conc#', 'G1 Main Marker', 'GC Thread#', 'Log4j2-TF-#-Scheduled-#', 'T5', 'http2-exec-#', 'pool-#-thread-#']);
    const patterns = page.getByLabel('Patterns of pools');
    await patterns.fill('C# CompilerThread#, G1*');
    await patterns.press('Enter');
    const pools = ['C# CompilerThread#', 'G1*', 'GC Thread#', 'Log4j2-TF-#-Scheduled-#', 'T5', 'http2-exec-#', 'pool-#-thread-#'];
    assert.deepEqual(await labels(), pools);
    assert.equal(fragment(page).get('tg'), 'C# CompilerThread#, G1*');
    // The graph is split by the same pools, also after a reload.
    await page.getByLabel('split in graph').check();
    await page.reload();
    await page.locator('.flame').first().waitFor();
    await press(page, '5');
    const roots = page.locator('.table [role=treeitem][aria-level="1"]');
    assert.deepEqual((await roots.evaluateAll((all) => all.map((e) => e.getAttribute('aria-label').split(',')[0]))).sort(), pools);
    assert.match(await roots.first().getAttribute('aria-label'), /^C# CompilerThread#, 45\.5 %, 30 samples$/);
  });
});

test('B76: a pattern that could freeze an expression does not', async () => {
  const thread = 'a'.repeat(3000) + '!';
  await withPage(pageOf(perfText([{ time: 0, thread, tid: 1, stack: ['work'] }, { time: 1, thread: 'b', tid: 2, stack: ['work'] }])), { hash: '#x=a&tg=' + encodeURIComponent('*a'.repeat(400) + 'b') }, async (page) => {
    await press(page, 't');
    assert.equal(await page.locator('.threads .table-row').count(), 2);
  });
});

test('B76: solo and mute of a row, by keyboard too; each row says what it is', async () => {
  const samples = [];
  for (let i = 0; i < 100; i++) for (const [thread, tid] of [['worker-1', 1], ['worker-2', 2], ['main', 3], ['other', 4]]) samples.push({ time: i / 10 + tid / 1000, thread, tid, stack: ['run'] });
  await withPage(pageOf(perfText(samples)), { hash: '#x=a' }, async (page) => {
    await press(page, 't');
    const row = page.getByRole('listitem', { name: 'worker-#, 2 threads, 50.0 %', exact: true });
    assert.equal(await row.count(), 1);
    const toggle = (name) => page.getByRole('button', { name, exact: true });
    const counted = async () => {
      await settle(page);
      return Number(/([\d,]+) samples?/.exec(await samplesShown(page))[1]);
    };
    await toggle('Mute other').click();
    assert.equal(await counted(), 300);
    assert.equal(await toggle('Mute other').getAttribute('aria-pressed'), 'true');
    assert.equal(await page.getByRole('listitem', { name: /^other, .*, muted$/ }).count(), 1);
    await toggle('Solo worker-#').click();
    assert.equal(await counted(), 200);
    assert.equal(await toggle('Solo worker-#').getAttribute('aria-pressed'), 'true');
    await toggle('Solo main').click();
    assert.equal(await counted(), 100);
    // Back to what counted before the first solo: all but the muted one.
    await toggle('Solo main').focus();
    await page.keyboard.press('Enter');
    assert.equal(await counted(), 300);
    assert.equal(await page.evaluate(() => document.querySelector('#jprof').shadowRoot.activeElement.getAttribute('aria-label')), 'Solo main');
    await toggle('Mute other').click();
    assert.equal(await counted(), 400);
    assert.equal(fragment(page).get('th'), null);
    // A pool of which a part is muted.
    await page.getByLabel('group by pool').uncheck();
    await settle(page);
    await toggle('Mute worker-1').click();
    await page.getByLabel('group by pool').check();
    await settle(page);
    assert.equal(await toggle('Mute worker-#').getAttribute('aria-pressed'), 'mixed');
  });
});

// For each column of the strip how many pixels have a colour: a test of [r, g, b].
const stripColumns = (page, name) =>
  page.evaluate((which) => {
    const tests = {
      filled: ([r, g, b]) => !(r > 240 && g > 240 && b > 240),
      pink: ([r, g, b]) => r - g > 60 && b - g > 30,
      coloured: ([r, g, b]) => Math.max(r, g, b) - Math.min(r, g, b) > 24,
    };
    const canvas = document.querySelector('#jprof').shadowRoot.querySelector('.strip canvas');
    const { data, width, height } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return Array.from({ length: width }, (_, x) => {
      let count = 0;
      for (let y = 0; y < height; y++) if (tests[which]([...data.slice((y * width + x) * 4, (y * width + x) * 4 + 3)])) count++;
      return count;
    });
  }, name);
const strip = (page) => page.locator('.strip-label').innerText();
const middle = (columns, from, to) => columns.slice(Math.floor(columns.length * from), Math.floor(columns.length * to)).sort((a, b) => a - b)[Math.floor((columns.length * (to - from)) / 2)];

// A canvas that is read more than once.
const readBack = { allow: /willReadFrequently/ };

test('B77: even load is even in the strip: bins hold a whole number of intervals, and never less than one', async () => {
  await withPage(t3, readBack, async (page) => {
    await settle(page);
    const columns = await stripColumns(page, 'filled');
    // Columns between bars are background; the bars all have one height.
    const bars = new Set(columns.slice(4, -12).filter((n) => n > 4));
    assert.ok(bars.size <= 2 && Math.max(...bars) - Math.min(...bars) <= 1, [...bars].join());
    // Zoomed until an interval is wider than a bin would be: no empty bins between samples.
    const box = await page.locator('.strip canvas').boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 10);
    for (let i = 0; i < 8; i++) await page.mouse.wheel(0, -200);
    await settle(page);
    const zoomed = await stripColumns(page, 'filled');
    const wide = zoomed.slice(20, -40).filter((n) => n > 4).length / (zoomed.length - 60);
    assert.ok(wide > 0.9, `${wide} of the strip is filled`);
  });
});

test('B77: what was found, what is selected and what filters leave are drawn over the whole', async () => {
  await withPage(t3, readBack, async (page) => {
    await settle(page);
    const whole = middle(await stripColumns(page, 'filled'), 0.1, 0.3);
    await search(page, 'spike');
    await settle(page);
    let pink = await stripColumns(page, 'pink');
    assert.equal(middle(pink, 0.1, 0.35), 0);
    const spike = middle(pink, 0.45, 0.55);
    assert.ok(Math.abs(spike - whole / 2) <= 2, `${spike} of ${whole}`);
    assert.equal(middle(await stripColumns(page, 'filled'), 0.1, 0.3), whole);
    assert.match(await strip(page), /pink: found, 10\.0 %/);
    await press(page, 'Escape', 'Escape');
    // Half of the samples are of one thread: the bars are half as high, in colour, the rest grey.
    await press(page, 't');
    await page.getByRole('button', { name: 'Solo alpha' }).click();
    await settle(page);
    const coloured = middle(await stripColumns(page, 'coloured'), 0.1, 0.3);
    assert.ok(Math.abs(coloured - whole / 2) <= 2, `${coloured} of ${whole}`);
    assert.equal(middle(await stripColumns(page, 'filled'), 0.1, 0.3), whole);
    assert.match(await strip(page), /filters leave 50\.0 %, pale grey: the rest/);
    await page.getByRole('button', { name: 'All', exact: true }).click();
    await press(page, 'Escape', '4');
    await page.locator('.table-row').filter({ hasText: 'a.spike' }).click();
    await page.waitForFunction(() => /line: selected, 10\.0 %/.test(document.querySelector('#jprof').shadowRoot.querySelector('.strip-label').textContent));
    // A filter of stacks, too.
    await press(page, 'k');
    assert.match(await strip(page), /line: selected, 100 % · filters leave 10\.0 %/);
  });
});

test('B77: two ranges name the base, and say what no change means', async () => {
  await withPage(t3, { hash: '#v=table&t=7000-9000&tb=1000-3000' }, async (page) => {
    assert.match(await strip(page), /^new: \+7\.00 s – \+9\.00 s \(2\.00 s\), compared with base: \+1\.00 s – \+3\.00 s \(2\.00 s\)/);
    await page.waitForFunction(() => document.querySelector('#jprof').shadowRoot.querySelector('.summary').textContent);
    assert.match(await page.locator('.summary').innerText(), /^No change can be told from chance: with 400 and 400 samples, .* to see 1 point takes about [\d,]+ samples on each side$/);
    assert.match(await page.locator('.note').innerText(), / 0 changed/);
  });
});

test('B32: ranges of a graph that is split by thread compare the threads\' own samples', async () => {
  await withPage(t3, { hash: '#v=table&x=p&t=4000-6000&tb=1000-3000' }, async (page) => {
    const rows = await tableRows(page);
    assert.match(rows.find((row) => row[5] === 'a.spike')[0], /^\+50\.00 ± \d+\.\d+ changed new/);
    assert.match(rows.find((row) => row[5] === 'beta')[0], /^±0\.000 ± 0\.00 (unclear|too few)/);
    assert.match(rows.find((row) => row[5] === 'beta')[4], /^200 → 200$/);
  });
});

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// TH: names that a compromised JVM may choose. Nothing of them runs, everything of them is shown as text.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { closeBrowser, settle, withPage } from './browser.mjs';
import { directory, jprof, pageOf } from './fixtures.mjs';
import { threadTime } from './measure.mjs';
import { press, search, selectedName, tableRows } from './steps.mjs';

after(closeBrowser);

const EVIL = [
  '</script><img src=x onerror=window.ran=1>',
  '<!--<script>window.ran=2',
  '"\'`${window.ran=3}',
  ']]><svg onload=window.ran=4>',
  'nul\u0000l',
  'sep\u2028line\u2029para',
  'rtl\u202egpj.exe\u202c',
  '\u2066isolate\u2069\u200e\u200f',
  '__proto__',
  'constructor',
  'toString',
  'javascript:window.ran=5',
  '<iframe srcdoc="<script>parent.ran=6</script>">',
  '&lt;b&gt;&#60;script&#62;',
  'tab\there',
  '\ufeffbom',
  '𝒳emoji👩‍👩‍👧',
];

// speedscope's JSON carries any text: line breaks, NUL, empty names.
function speedscope(names, title) {
  return JSON.stringify({
    shared: { frames: names.map((name) => ({ name })) },
    profiles: names.map((name, i) => ({ type: 'sampled', name: title + name, unit: 'milliseconds', startValue: 0, endValue: 10, samples: [[i], [i, (i + 1) % names.length]], weights: [5, 5] })),
  });
}

// An argument of a program cannot hold NUL.
const TITLE = EVIL.join(' ').replaceAll('\u0000', '');
const ALL = [...EVIL, '', 'line\nbreak\r\n', 'x'.repeat(2000000), ...Array.from({ length: 100 }, (_, i) => 'same.prefix.of.all.names.'.repeat(8) + i)];

test('B60: hostile frames, threads and titles run nothing in any view', async () => {
  const page1 = pageOf(speedscope(ALL, 'thread '), { title: TITLE, name: "th'\"<b>&" });
  await withPage(page1, {}, async (page) => {
    for (const key of ['1', 'Home', 'ArrowDown', 'c', '2', '3', '4', '5', 't', 'Escape', '?', 'Escape', 'g', 'r', 'o', 'k', 'u']) await press(page, key);
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    await settle(page);
    assert.equal(await page.evaluate(() => window.ran), undefined);
    assert.equal(await page.evaluate(() => document.querySelector('#jprof').shadowRoot.querySelectorAll('img, iframe, script').length), 0);
  });
});

test('B60: names are shown escaped and isolated, and copied exactly', async () => {
  const file = pageOf(speedscope(ALL, ''), { title: 'th' });
  await withPage(file, { permissions: ['clipboard-read', 'clipboard-write'], hash: '#v=table' }, async (page) => {
    await page.getByLabel('Filter methods').fill('gpj');
    await settle(page);
    const [row] = await tableRows(page);
    assert.match(row[3], /rtl\\u202egpj\.exe\\u202c/);
    await page.locator('.virtual .table-row').first().click();
    assert.match(await selectedName(page), /\\u202e/);
    await press(page, 'Control+c');
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'rtl\u202egpj.exe\u202c');
    for (const name of ['__proto__', 'constructor', 'toString']) {
      await page.getByLabel('Filter methods').fill(name);
      await settle(page);
      assert.equal((await tableRows(page))[0][3], name);
    }
  });
});

test('B60: a name of two million letters costs no frame', async () => {
  await withPage(pageOf(`main;${'y'.repeat(2000000)} 10\nmain;z 5\n`), {}, async (page) => {
    const steps = 20;
    const spent = await threadTime(page);
    await page.evaluate(async (count) => {
      for (let i = 0; i < count; i++) {
        dispatchEvent(new Event('resize'));
        document.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown' }));
        await new Promise((resolve) => requestAnimationFrame(resolve));
      }
    }, steps);
    const each = (await spent()) / steps;
    assert.ok(each < 50, `${each} ms`);
    await search(page, 'yyyy');
    assert.match(await page.locator('.found').innerText(), /1 place, 66\.7 %/);
  });
});

test('B60: no other format lets a name become markup, a line or a command of the terminal', () => {
  const base = join(directory, 'th.in');
  writeFileSync(base, speedscope(ALL, ''));
  for (const ending of ['svg', 'collapsed', 'txt', 'json']) execFileSync(jprof, ['convert', base, '-o', `${base}.${ending}`, '--title', TITLE]);
  const svg = readFileSync(base + '.svg', 'utf8');
  assert.doesNotMatch(svg, /<(img|iframe|image)|<svg onload|\u0000/);
  assert.equal(svg.split('<script').length, 2);
  for (const line of readFileSync(base + '.collapsed', 'utf8').trim().split('\n')) assert.match(line, /^[^\n]* \d+$/);
  assert.doesNotMatch(readFileSync(base + '.txt', 'utf8'), /[\u0000-\u0009\u000b-\u001f\u007f\u202e\u2066]/);
  JSON.parse(readFileSync(base + '.json', 'utf8'));
});

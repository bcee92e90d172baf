// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Five views over one state: their numbers, and that selection and filters hold across them.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBrowser, settle, withPage } from './browser.mjs';
import { T2, pageOf } from './fixtures.mjs';
import { clickBox, details, fragment, hoverBox, pointOf, press, samplesShown, search, selectedName, tableRows } from './steps.mjs';

after(closeBrowser);
const t2 = pageOf(T2);

test('B21: the table has self, total and samples, sorts and filters', async () => {
  await withPage(t2, {}, async (page) => {
    await press(page, '4');
    const rows = await tableRows(page);
    assert.deepEqual(rows.slice(0, 3), [
      ['40.9 %', '50.0 %', '55', 'com.acme.db.Pool.get'],
      ['18.2 %', '54.5 %', '60', 'com.acme.pay.OrderService.place'],
      ['10.9 %', '18.2 %', '20', 'com.acme.util.Json.write'],
    ]);
    assert.match(await page.locator('.note').innerText(), /15 methods/);
    await page.getByLabel('Filter methods').fill('Pool.get');
    assert.equal(await page.locator('.note').innerText(), '1 method');
    await page.getByLabel('Filter methods').fill('');
    await page.getByRole('button', { name: 'Total' }).click();
    await settle(page);
    const byTotal = (await tableRows(page)).map((row) => row[3]);
    assert.deepEqual(byTotal.slice(0, 3), ['java.lang.Thread.run', 'com.acme.Main.main', 'com.acme.pay.OrderService.place']);
    await page.getByRole('button', { name: 'Method' }).click();
    await settle(page);
    const names = (await tableRows(page)).map((row) => row[3]);
    assert.deepEqual(names, names.slice().sort((a, b) => (a < b ? -1 : 1)));
    await page.getByLabel('Filter methods').fill('lambda');
    await settle(page);
    assert.equal((await tableRows(page)).length, 2);
  });
});

test('B21: recursion counts once, so no total passes 100 %', async () => {
  await withPage(pageOf('a;b;a;b;a 6\na;b 2\na 2\n'), { hash: '#v=table' }, async (page) => {
    const rows = Object.fromEntries((await tableRows(page)).map((row) => [row[3], row]));
    assert.deepEqual(rows.a.slice(0, 3), ['80.0 %', '100 %', '10']);
    assert.deepEqual(rows.b.slice(0, 3), ['20.0 %', '80.0 %', '8']);
  });
});

test('B22: merged callers begin at methods with self weight and add up', async () => {
  await withPage(t2, { hash: '#v=callers' }, async (page) => {
    // Heaviest self first: Pool.get 45, place 20, Refund none, Json.write 12, park 10, append 8 ...
    assert.match(await hoverBox(page, 20 / 110, 0, 'callers'), /Pool\.get\n40\.9 % · 45 samples/);
    assert.match(await hoverBox(page, 20 / 110, 1, 'callers'), /OrderService\.place\n27\.3 % · 30 samples/);
    assert.match(await hoverBox(page, 35 / 110, 1, 'callers'), /Refund\.make\n13\.6 % · 15 samples/);
    assert.match(await hoverBox(page, 50 / 110, 0, 'callers'), /OrderService\.place\n18\.2 % · 20 samples/);
    assert.match(await hoverBox(page, 50 / 110, 2, 'callers'), /Thread\.run\n18\.2 % · 20 samples/);
  });
});

test('B23: the sandwich has callers above, callees below, one scale, and Back returns', async () => {
  await withPage(t2, {}, async (page) => {
    await clickBox(page, 10 / 110, 4);
    await press(page, '3');
    assert.match(await page.locator('.between').innerText(), /com\.acme\.db\.Pool\.get 50\.0 % · 55 samples/);
    const up = await page.locator('[data-view="callers of the method"] canvas').boundingBox();
    const at = async (share) => {
      await page.mouse.move(up.x + up.width * share, up.y + up.height - 10);
      await settle(page);
      return page.locator('.tip').innerText();
    };
    assert.match(await at(0.1), /OrderService\.place\n36\.4 % · 40 samples/);
    assert.match(await at(39 / 55), /OrderService\.place/);
    assert.match(await at(41 / 55), /Refund\.make\n13\.6 % · 15 samples/);
    assert.match(await hoverBox(page, 0.1, 0, 'callees of the method'), /Pool\.get\n50\.0 % · 55 samples\n.*self 40\.9 % · 45 samples/);
    assert.match(await hoverBox(page, 9 / 55, 1, 'callees of the method'), /Unsafe\.park\n9\.09 % · 10 samples/);
    // A click on another box moves on; Back returns.
    await page.mouse.click(up.x + up.width * 0.9, up.y + up.height - 10);
    await settle(page);
    assert.match(await page.locator('.between').innerText(), /Refund\.make 13\.6 % · 15 samples/);
    await page.goBack();
    await settle(page);
    assert.match(await page.locator('.between').innerText(), /Pool\.get 50\.0 %/);
  });
});

test('B23: a recursive method counts once in its sandwich', async () => {
  await withPage(pageOf('a;b;a;b 6\na;c 4\n'), {}, async (page) => {
    await clickBox(page, 0.1, 1);
    assert.equal(await selectedName(page), 'a');
    await press(page, '3');
    assert.match(await page.locator('.between').innerText(), /^a 100 % · 10 samples/);
  });
});

test('B24: the call tree opens along the hottest path and obeys the arrow keys', async () => {
  await withPage(t2, { hash: '#v=tree' }, async (page) => {
    const rows = await tableRows(page);
    const names = rows.map((row) => row[2].replace(/^[▾▸]\s*/, ''));
    assert.deepEqual(names.slice(0, 5), ['java.lang.Thread.run', 'com.acme.Main.main', 'com.acme.pay.OrderService.place', 'com.acme.db.Pool.get', 'jdk.internal.misc.Unsafe.park']);
    assert.equal(rows[2][0], '54.5 % 60');
    assert.equal(rows[2][1], '18.2 %');
    await press(page, 'ArrowDown', 'ArrowDown', 'ArrowDown');
    assert.equal(await selectedName(page), 'com.acme.pay.OrderService.place');
    const before = (await tableRows(page)).length;
    await press(page, 'ArrowLeft');
    assert.ok((await tableRows(page)).length < before);
    await press(page, 'ArrowLeft');
    assert.equal(await selectedName(page), 'com.acme.Main.main');
    const item = page.getByRole('treeitem', { name: /OrderService\.place/ }).locator('visible=true').last();
    assert.equal(await item.getAttribute('aria-level'), '3');
    assert.equal(await item.getAttribute('aria-expanded'), 'false');
    assert.equal(await item.getAttribute('aria-posinset'), '1');
    assert.equal(await item.getAttribute('aria-setsize'), '3');
  });
});

test('B25: the selected method survives every switch of the view', async () => {
  await withPage(t2, {}, async (page) => {
    await clickBox(page, 70 / 110, 3);
    const before = await page.locator('.details').innerText();
    for (const key of ['2', '3', '4', '5', '1']) {
      await press(page, key);
      assert.equal(await page.locator('.details').innerText(), before, 'view ' + key);
    }
  });
});

test('B26: recursion folds, generated names merge and say how many they are', async () => {
  await withPage(t2, {}, async (page) => {
    await press(page, 'r');
    // Worker.loop three deep becomes one box with 10 of 110 in row 2; its lambdas lie below it.
    await clickBox(page, 96 / 110, 2);
    assert.equal(await selectedName(page), 'com.acme.Worker.loop');
    assert.match(await details(page), /here 9\.09 % · 10 samples self 4\.55 % · 5 samples/);
    await press(page, 'r', 'g');
    await search(page, 'Lambda');
    await page.keyboard.press('Enter');
    await settle(page);
    assert.equal(await selectedName(page), 'com.acme.Foo$$Lambda.run');
    assert.match(await details(page), /2 names/);
    assert.match(await details(page), /here 4\.55 % · 5 samples/);
  });
});

test('B27: keep, drop, start, hide: exact numbers, each says what it removed, undo and redo', async () => {
  await withPage(t2, {}, async (page) => {
    await clickBox(page, 10 / 110, 4);
    assert.equal(await selectedName(page), 'com.acme.db.Pool.get');
    await press(page, 'k');
    assert.match(await samplesShown(page), /55 samples/);
    assert.match(await page.locator('.chips').innerText(), /only stacks with com\.acme\.db\.Pool\.get\s+50\.0 % hidden/);
    await press(page, 'u');
    assert.match(await samplesShown(page), /110 samples/);
    await press(page, 'U');
    assert.match(await samplesShown(page), /55 samples/);
    await press(page, 'u', 'x');
    assert.match(await samplesShown(page), /55 samples/);
    assert.match(await page.locator('.chips').innerText(), /without stacks with .*Pool\.get\s+50\.0 % hidden/);
    await press(page, 'u');
    // Start at place: 60 samples, Pool.get below it.
    await clickBox(page, 30 / 110, 3);
    await page.getByRole('button', { name: 'Start here' }).click();
    await settle(page);
    assert.match(await samplesShown(page), /\b60 samples/);
    assert.match(await page.locator('.chips').innerText(), /starting at .*place\s+45\.5 % hidden/);
    await clickBox(page, 0.2, 2);
    assert.equal(await selectedName(page), 'com.acme.db.Pool.get');
    await press(page, 'u');
    // Hide place: Pool.get moves up to row 3 and joins nothing else; all samples stay.
    await clickBox(page, 30 / 110, 3);
    assert.equal(await selectedName(page), 'com.acme.pay.OrderService.place');
    await press(page, 'h');
    assert.match(await samplesShown(page), /110 samples/);
    await clickBox(page, 10 / 110, 3);
    assert.equal(await selectedName(page), 'com.acme.db.Pool.get');
    assert.match(await details(page), /here 36\.4 % · 40 samples/);
    await page.getByRole('button', { name: /Remove filter: hidden/ }).click();
    await settle(page);
    await clickBox(page, 10 / 110, 3);
    assert.equal(await selectedName(page), 'com.acme.pay.OrderService.place');
  });
});

test('B27: what is not mine folds into one box', async () => {
  await withPage(t2, {}, async (page) => {
    await page.getByText('View', { exact: true }).click();
    await page.getByLabel('Prefix of my code').fill('com.acme.');
    await page.getByRole('button', { name: 'Fold what is not mine' }).click();
    await page.keyboard.press('Escape');
    await settle(page);
    await clickBox(page, 108 / 110, 1);
    assert.match(await selectedName(page), /library code/);
    // Thread.run, start_thread, GC and the kernel are one box of all 110.
    assert.match(await details(page), /here 100 % · 110 samples/);
    await clickBox(page, 30 / 110, 2);
    assert.equal(await selectedName(page), 'com.acme.Main.main');
    assert.match(fragment(page).get('k'), /^mine:/);
  });
});

// A method with many narrow callees: 12 % in 400 of 3 samples each; 10 000 samples in all.
const SMALL = 'main;wide 8800\n' + Array.from({ length: 400 }, (_, i) => `main;small${i} 3\n`).join('');

test('B78: merged callers as rows: sums are those of the graph, and the keyboard opens them', async () => {
  await withPage(t2, { hash: '#v=callers' }, async (page) => {
    await page.getByLabel('as a table').check();
    assert.equal(fragment(page).get('x'), 'c');
    const rows = async () => (await tableRows(page)).map((row) => [row[0], row[1].replace(/^[▾▸]\s*/, '')]);
    // Methods with self weight, heaviest first; the first is open.
    const first = await rows();
    assert.deepEqual(first.slice(0, 2), [['40.9 % 45', 'com.acme.db.Pool.get'], ['27.3 % 30', 'com.acme.pay.OrderService.place']]);
    assert.ok(first.some(([total, name]) => total === '13.6 % 15' && name === 'com.acme.pay.Refund.make'));
    const roots = page.locator('.table [role=treeitem][aria-level="1"]');
    const selves = { 'com.acme.db.Pool.get': 45, 'com.acme.pay.OrderService.place': 20, 'com.acme.util.Json.write': 12, 'jdk.internal.misc.Unsafe.park': 10, 'java.lang.StringBuilder.append': 8, 'com.acme.Worker.loop': 5, 'G1ParEvacuate': 4 };
    const shown = new Map(await roots.evaluateAll((all) => all.map((e) => [e.querySelector('bdi').textContent, Number(e.querySelector('small').textContent)])));
    for (const [name, self] of Object.entries(selves)) assert.equal(shown.get(name), self, name);
    await roots.filter({ hasText: 'Json.write' }).first().click();
    assert.equal(await selectedName(page), 'com.acme.util.Json.write');
    const before = (await rows()).length;
    await press(page, 'ArrowRight');
    const opened = await rows();
    assert.equal(opened.length, before + 1);
    const at = opened.findIndex(([, name]) => name === 'com.acme.util.Json.write');
    assert.deepEqual(opened[at + 1], ['10.9 % 12', 'com.acme.Main.main']);
    await press(page, 'ArrowRight');
    assert.equal(await selectedName(page), 'com.acme.Main.main');
    await press(page, 'ArrowLeft', 'ArrowLeft');
    assert.equal((await rows()).length, before);
    // It stays chosen, and the graph comes back.
    await page.reload();
    await settle(page);
    assert.equal(await page.getByLabel('as a table').isChecked(), true);
    await page.getByLabel('as a table').uncheck();
    assert.match(await hoverBox(page, 20 / 110, 0, 'callers'), /Pool\.get/);
  });
});

test('B78: what is too narrow says how much it is, and a click opens it', async () => {
  // Each of the 400 is 0.03 % of the width.
  await withPage(pageOf(SMALL), {}, async (page) => {
    const { x, y } = await pointOf(page, 0.94, 2);
    await page.mouse.move(x, y);
    await settle(page);
    assert.match(await page.locator('.tip').innerText(), /400 frames, 12\.0 %/);
    const letters = await page.evaluate(async () => {
      const canvas = document.querySelector('#jprof').shadowRoot.querySelector('.flame[data-view=graph] canvas');
      const { data, width } = canvas.getContext('2d').getImageData(0, 40, canvas.width, 19);
      let dark = 0;
      for (let px = Math.floor(width * 0.885); px < width; px++) for (let py = 0; py < 19; py++) if (data[(py * width + px) * 4] < 80) dark++;
      return dark;
    });
    assert.ok(letters > 40, `${letters} pixels of letters`);
    const steps = await page.evaluate(() => history.length);
    await page.mouse.click(x, y);
    await settle(page);
    assert.match(fragment(page).get('w'), /^88\d\.\d+~(1000|999)\.\d+$/);
    assert.equal(await page.evaluate(() => history.length), steps + 1);
    assert.match(await hoverBox(page, 0.5, 2), /small\d+\n0\.030 % · 3 samples/);
    await page.goBack();
    await settle(page);
    assert.match(await hoverBox(page, 0.5, 2), /^wide/);
  });
});

test('B78: a narrow group has a button that opens it', async () => {
  await withPage(pageOf('main;wide 1000000\n' + Array.from({ length: 214 }, (_, i) => `main;small${i} 10\n`).join('')), {}, async (page) => {
    const box = await page.locator('.flame[data-view=graph] canvas').boundingBox();
    await page.mouse.click(box.x + box.width - 1, box.y + 50);
    await settle(page);
    assert.match(await page.locator('.details').innerText(), /214 frames/);
    await page.getByRole('button', { name: 'Zoom in' }).click();
    assert.match(await hoverBox(page, 0.5, 2), /small\d+/);
  });
});

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Search, keys, the address, and what leaves the page.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { closeBrowser, settle, withPage } from './browser.mjs';
import { T2, T3, pageOf, randomNumbers } from './fixtures.mjs';
import { clickBox, doubleClickBox, fragment, press, samplesShown, search, selectedName, tableRows } from './steps.mjs';

after(closeBrowser);
const t2 = pageOf(T2, { title: 'checkout' });

test('B40: search marks, counts each stack once, and says the share inside the zoom', async () => {
  await withPage(t2, {}, async (page) => {
    assert.match(await search(page, 'pool.get'), /^2 places, 50\.0 %, 1 method$/);
    assert.match(await search(page, 'Pool.Get'), /nothing found/);
    assert.match(await search(page, 'worker'), /^1 place, 9\.09 %, 1 method$/);
    await search(page, '/Pool|Refund/');
    assert.match(await found(page, /methods/), /2 places, 50\.0 %, 2 methods$/);
    assert.match(await search(page, 'class:Json'), /1 place, 18\.2 %/);
    assert.match(await search(page, 'name:place'), /1 place, 54\.5 %/);
    assert.match(await search(page, 'pkg:com.acme.db'), /2 places, 50\.0 %/);
    await search(page, 'Pool');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await search(page, 'Pool.get');
    await doubleClickBox(page, 30 / 110, 3);
    await settle(page);
    assert.match(await page.locator('.found').innerText(), /66\.7 % of the zoomed part/);
    assert.match(await samplesShown(page), /110 samples/);
  });
});

test('B40: n and N walk through hits by weight; hits too small to draw get a tick', async () => {
  let text = 'main;wide 1000000\n';
  for (let i = 0; i < 50; i++) text += `main;narrow${i} ${i + 1}\n`;
  await withPage(pageOf(text), {}, async (page) => {
    await search(page, 'narrow');
    await page.keyboard.press('Enter');
    await settle(page);
    assert.equal(await selectedName(page), 'narrow49');
    await page.keyboard.press('Enter');
    await settle(page);
    assert.equal(await selectedName(page), 'narrow48');
    await page.keyboard.press('Shift+Enter');
    await settle(page);
    assert.equal(await selectedName(page), 'narrow49');
    assert.match(await page.locator('.found').innerText(), /1 of 50 places/);
    const ticks = await page.evaluate(() => {
      const canvas = document.querySelector('#jprof').shadowRoot.querySelector('.flame canvas');
      const { data } = canvas.getContext('2d').getImageData(canvas.width - 4, 42, 4, 10);
      let found = 0;
      for (let i = 0; i < data.length; i += 4) if (data[i] === 177 && data[i + 1] === 0 && data[i + 2] === 142) found++;
      return found;
    });
    assert.ok(ticks > 5, `${ticks} pixels`);
  });
});

// Expressions that take hours on these names, and the names.
const SLOW = ['/(\\w?\\w?)+;/', '/.*.*.*.*.*.*.*.*=/', '/(a+)+$/', '/(x|x)*y/'];
const slowPage = () => pageOf(`main;${'a'.repeat(40)}! 5\nmain;${'x'.repeat(60)} 5\nmain;b 5\n` + Array.from({ length: 200 }, (_, i) => `main;com.acme.${'Word'.repeat(60)}${i} 1\n`).join(''));

async function found(page, pattern) {
  const output = page.locator('.found');
  for (let i = 0; i < 600 && !pattern.test(await output.innerText()); i++) await page.waitForTimeout(50);
  return output.innerText();
}

test('B41: an expression that takes too long is stopped, and the page goes on', async () => {
  await withPage(slowPage(), {}, async (page) => {
    await search(page, 'main');
    for (const slow of SLOW) {
      await search(page, slow);
      // Keys work meanwhile: matched on the page's own thread, it would do nothing else for hours.
      await page.locator('header').click();
      await press(page, '4');
      assert.equal(await page.locator('[role=tab][aria-selected=true]').innerText(), 'Table');
      await press(page, '1');
      assert.match(await found(page, /took longer/), /took longer than 2 s and was stopped/, slow);
      assert.match(await search(page, 'b'), /1 place/);
    }
    // The next one works: also one whose text looks like those.
    await search(page, '/^(b|c)+$/');
    assert.match(await found(page, /place/), /1 place/);
    await page.getByRole('searchbox', { name: /^Search/ }).fill('/(/');
    await settle(page);
    assert.match(await page.locator('.found').innerText(), /not a regular expression/);
  });
});

test('B41: a link cannot freeze the page, neither by its search nor by a filter', async () => {
  const slow = encodeURIComponent(SLOW[0]);
  await withPage(slowPage(), { hash: `#q=${slow}&k=keep:${slow}` }, async (page) => {
    const warning = page.locator('.warning');
    for (let i = 0; i < 600 && !(await warning.isVisible()); i++) await page.waitForTimeout(50);
    assert.match(await warning.innerText(), /matches nothing: this expression took longer than 2 s/);
    await press(page, '/', 'Enter');
    assert.match(await found(page, /took longer/), /was stopped/);
  });
  await withPage(t2, { hash: '#k=keep:' + encodeURIComponent('/Pool|Refund/') }, async (page) => {
    for (let i = 0; i < 600 && !/55 sample/.test(await samplesShown(page)); i++) await page.waitForTimeout(50);
    assert.match(await samplesShown(page), /55 samples/);
  });
});

test('B40: methods are counted as methods, wherever they stand', async () => {
  // Below the one outermost hit lie two more methods; one has two places.
  await withPage(pageOf('m.run;m.work;m.load 5\nm.run;m.work 2\nm.run;x.y;m.load 3\nother 1\n'), {}, async (page) => {
    assert.match(await search(page, 'm.'), /^1 place, 90\.9 %, 3 methods$/);
    assert.match(await search(page, 'load'), /^2 places, 72\.7 %, 1 method$/);
  });
  // More places than are walked through.
  const many = Array.from({ length: 1500 }, (_, i) => `root${i};hit${i % 700} 1\n`).join('');
  await withPage(pageOf(many), {}, async (page) => {
    assert.match(await search(page, 'hit'), /^1[^0-9]?500 places, 100 %, 700 methods$/);
  });
});

test('B41: an expression that came with a link waits for Enter', async () => {
  await withPage(t2, { hash: '#q=' + encodeURIComponent('/Pool/') }, async (page) => {
    assert.match(await page.locator('.found').innerText(), /Enter runs/);
    await press(page, '/', 'Enter');
    assert.match(await found(page, /place/), /2 places/);
  });
});

test('B42: every key does what the help says', async () => {
  await withPage(t2, {}, async (page) => {
    const view = () => page.locator('[role=tab][aria-selected=true]').innerText();
    for (const [key, name] of [['2', 'Callers'], ['3', 'Sandwich'], ['4', 'Table'], ['5', 'Tree'], ['1', 'Graph']]) {
      await press(page, key);
      assert.equal(await view(), name);
    }
    await press(page, 'Home');
    assert.equal(await selectedName(page), 'java.lang.Thread.run');
    await press(page, 'ArrowRight');
    assert.equal(await selectedName(page), 'start_thread');
    await press(page, 'ArrowLeft', 'ArrowDown', 'ArrowDown');
    assert.equal(await selectedName(page), 'com.acme.pay.OrderService.place');
    await press(page, 'ArrowUp');
    assert.equal(await selectedName(page), 'com.acme.Main.main');
    await press(page, 'End');
    assert.equal(await selectedName(page), 'jdk.internal.misc.Unsafe.park');
    await press(page, 'ArrowUp', 'ArrowUp');
    await press(page, 'Enter');
    assert.match(fragment(page).get('z'), /^3\./);
    await press(page, 'Backspace');
    assert.match(fragment(page).get('z'), /^2\./);
    await press(page, '0');
    assert.equal(fragment(page).get('z'), null);
    await press(page, '+');
    assert.ok(fragment(page).get('w'));
    await press(page, 'd');
    await press(page, 'a');
    await press(page, '-');
    await press(page, '-');
    assert.equal(fragment(page).get('w'), null);
    for (const [key, flag] of [['f', 'f'], ['o', 'o'], ['r', 'r'], ['g', 'g'], ['e', 'e']]) {
      await press(page, key);
      assert.ok((fragment(page).get('x') || '').includes(flag), key);
      await press(page, key);
      assert.ok(!(fragment(page).get('x') || '').includes(flag), key);
    }
    await press(page, 't');
    assert.equal(await page.locator('.panel').isVisible(), true);
    await press(page, 'Escape');
    assert.equal(await page.locator('.panel').isVisible(), false);
    await press(page, 'b');
    assert.match(await page.locator('.outline-status').textContent(), /nothing to compare/);
    await press(page, 'y');
    assert.match(await page.locator('.outline-status').textContent(), /nothing to compare/);
    await press(page, 'Control+f');
    await page.keyboard.type('1f');
    await settle(page);
    // Letters typed into the field are no commands.
    assert.equal(await view(), 'Graph');
    assert.equal(fragment(page).get('q'), '1f');
    await press(page, 'Escape');
    assert.equal(fragment(page).get('q'), null);
    await press(page, 'Escape', 'w', 's', 'z', '?');
    assert.equal(await page.locator('dialog[open]').count(), 1);
    await press(page, '?');
    assert.equal(await page.locator('dialog[open]').count(), 0);
  });
});

test('B43: the address holds the view; reload shows the same; Back undoes a change of view', async () => {
  await withPage(pageOf(T3()), {}, async (page) => {
    await press(page, 'Home', 'ArrowDown', 'ArrowDown', 'k', 'o');
    await search(page, 'work');
    await press(page, 'Escape', 'Escape');
    await search(page, 'a.');
    await page.keyboard.press('Enter');
    await page.locator('header').click();
    await press(page, 't');
    await page.getByRole('button', { name: 'Solo beta' }).click();
    await settle(page);
    const picture = await page.locator('.page').ariaSnapshot();
    const address = page.url();
    await page.keyboard.press('Escape');
    await page.goto('about:blank');
    await page.goto(address);
    await page.locator('.toolbar').waitFor();
    await settle(page);
    await press(page, 't');
    const again = await page.locator('.page').ariaSnapshot();
    const facts = (text) => text.split('\n').filter((line) => !/status|Undo|Redo|\[active\]|searchbox/.test(line));
    assert.deepEqual(facts(again), facts(picture));
    assert.ok(new URL(address).hash.length <= 2001);
  });
  await withPage(t2, {}, async (page) => {
    await press(page, '2', '4');
    await page.goBack();
    await settle(page);
    assert.equal(await page.locator('[role=tab][aria-selected=true]').innerText(), 'Callers');
    await page.goForward();
    await settle(page);
    assert.equal(await page.locator('[role=tab][aria-selected=true]').innerText(), 'Table');
    assert.equal((await tableRows(page))[0][3], 'com.acme.db.Pool.get');
  });
});

test('B43: a thousand random addresses cause no error, and a wrong path says so', async () => {
  const random = randomNumbers(5);
  const keys = ['v', 'z', 'w', 'm', 'n', 'q', 't', 'tb', 'c', 'i', 'x', 'st', 'k', 'th', '__proto__', 'constructor', 'zz'];
  const values = ['graph', 'tree', 'sandwich', '3.abc', '1.0', '99999999.zzzzzz', '-1~5', '0~1000', 'NaN~1', '5-1', '0-500', '1e400-2', 'frogps', 'keep:Pool,drop:%25', 'mine:com', '__proto__', '%E0%A4%A', '</script>', '(a+)+$', '/(/', '0.1.2.255.256', '-', 'a.b.c', '\u202e', ''];
  await withPage(pageOf(T3()), {}, async (page) => {
    for (let round = 0; round < 1000; round++) {
      const parts = Array.from({ length: 1 + Math.floor(random() * 6) }, () => keys[Math.floor(random() * keys.length)] + '=' + values[Math.floor(random() * values.length)]);
      await page.evaluate((hash) => {
        history.replaceState(null, '', hash);
        dispatchEvent(new PopStateEvent('popstate'));
      }, '#' + parts.join('&'));
      if (round % 100 === 0) await settle(page);
    }
    await settle(page);
  });
  await withPage(t2, { hash: '#z=4.nothere' }, async (page) => {
    assert.match(await page.locator('.outline-status').textContent(), /not in this capture/);
  });
});

test('B44: name, stack, folded line and table are copied exactly', async () => {
  await withPage(t2, { permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await clickBox(page, 5 / 110, 5);
    await press(page, 'c');
    assert.equal(await copied(), 'java.lang.Thread.run\ncom.acme.Main.main\ncom.acme.pay.OrderService.place\ncom.acme.db.Pool.get\njdk.internal.misc.Unsafe.park');
    await press(page, 'Control+c');
    assert.equal(await copied(), 'jdk.internal.misc.Unsafe.park');
    await page.getByText('Save', { exact: true }).click();
    await page.getByRole('button', { name: 'Copy folded line' }).click();
    await settle(page);
    assert.equal(await copied(), 'java.lang.Thread.run;com.acme.Main.main;com.acme.pay.OrderService.place;com.acme.db.Pool.get;jdk.internal.misc.Unsafe.park 10');
    await page.getByRole('button', { name: 'Copy table' }).click();
    await settle(page);
    assert.equal((await copied()).split('\n')[1], '45\t55\t45\t55\tcom.acme.db.Pool.get');
    await page.getByRole('button', { name: 'Copy link' }).click();
    await settle(page);
    assert.equal(await copied(), page.url());
  });
});

test('B44: SVG, PNG and folded text are saved', async () => {
  await withPage(t2, {}, async (page) => {
    const saved = async (label) => {
      await page.evaluate(() => document.querySelector('#jprof').shadowRoot.querySelectorAll('details').forEach((menu) => (menu.open = true)));
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: label }).click()]);
      return [download.suggestedFilename(), readFileSync(await download.path())];
    };
    const [svgName, svg] = await saved('Save as SVG');
    assert.equal(svgName, 'checkout.svg');
    assert.match(svg.toString(), /^<svg [^]*com\.acme\.db\.Pool\.get 36\.4 %[^]*<\/svg>\n$/);
    const [pngName, png] = await saved('Save as PNG');
    assert.equal(pngName, 'checkout.png');
    assert.equal(png.subarray(1, 4).toString(), 'PNG');
    const [name, folded] = await saved('Save as folded text');
    assert.equal(name, 'checkout.collapsed');
    const sorted = (text) => text.trim().split('\n').sort();
    assert.deepEqual(sorted(folded.toString()), sorted(T2.replaceAll(/_\[.\]/g, '')));
  });
});

test('B45: paper has the facts and the top methods in black on white', async () => {
  await withPage(t2, { colorScheme: 'dark' }, async (page) => {
    const pdf = await page.pdf();
    assert.ok(pdf.length > 2000);
    await page.emulateMedia({ media: 'print' });
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    await settle(page);
    const text = await page.locator('.printed').innerText();
    assert.match(text, /com\.acme\.db\.Pool\.get/);
    assert.match(text, /samples\s+110/);
    assert.equal(await page.locator('.page').evaluate((element) => getComputedStyle(element).backgroundColor), 'rgb(255, 255, 255)');
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  });
});

test('B44: copied as Markdown, it says what is selected, within bounds, and no name becomes markup', async () => {
  const copied = async (page) => {
    await page.evaluate(() => {
      navigator.clipboard.writeText = async (text) => void (window.copied = text);
    });
    await page.getByText('Save', { exact: true }).click();
    await page.getByRole('button', { name: 'Copy as Markdown' }).click();
    await page.keyboard.press('Escape');
    await settle(page);
    return page.evaluate(() => window.copied);
  };
  await withPage(pageOf(T2, { title: 'checkout' }), {}, async (page) => {
    const all = await copied(page);
    assert.match(all, /^# Profile `checkout`\n/);
    assert.match(all, /- self 40\.9 %, total 50\.0 % `com\.acme\.db\.Pool\.get`/);
    await press(page, '4');
    await page.locator('.table-row').filter({ hasText: 'com.acme.db.Pool.get' }).click();
    const one = await copied(page);
    assert.match(one, /Method `com\.acme\.db\.Pool\.get`: 50\.0 % with what it calls, 40\.9 % in itself, 55 samples\./);
    assert.match(one, /## What it calls\n- 9\.09 % `jdk\.internal\.misc\.Unsafe\.park`/);
    assert.match(one, /## What calls it\n- 36\.4 % `com\.acme\.pay\.OrderService\.place`\n- 13\.6 % `com\.acme\.pay\.Refund\.make`/);
  });
  const hostile = Array.from({ length: 300 }, (_, i) => `root;a\`b](javascript:x)\u202e${'x'.repeat(500)}${i} ${i + 1}`).join('\n');
  await withPage(pageOf(hostile), {}, async (page) => {
    const text = await copied(page);
    assert.ok(text.length <= 6100, `${text.length} letters`);
    for (const line of text.split('\n')) assert.ok((line.match(/`/g) || []).length % 2 === 0, line);
    assert.doesNotMatch(text, /\u202e/);
  });
});

test('B45: paper has every method, not the first ones alone', async () => {
  await withPage(pageOf(Array.from({ length: 75 }, (_, i) => `root;m${i} ${i + 1}\n`).join('')), {}, async (page) => {
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    const names = await page.locator('.printed tbody bdi').allTextContents();
    assert.deepEqual(names, [...Array.from({ length: 75 }, (_, i) => 'm' + (74 - i)), 'root']);
  });
});

test('B44: a file that is named like another has one ending', async () => {
  for (const [title, name] of [['shop.jprof', 'shop'], ['stacks.collapsed.gz', 'stacks'], ['v1.2 of shop', 'v1.2-of-shop'], ['.html', 'capture']]) {
    await withPage(pageOf(T2, { title }), {}, async (page) => {
      await page.getByText('Save', { exact: true }).click();
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save as SVG' }).click()]);
      assert.equal(download.suggestedFilename(), name + '.svg');
    });
  }
});

test('B46: a second capture dropped in is compared with', async () => {
  await withPage(t2, {}, async (page) => {
    await page.getByText('Save', { exact: true }).click();
    await page.getByLabel('Compare with another capture').setInputFiles({ name: 'base.collapsed', mimeType: 'text/plain', buffer: Buffer.from(T2.replace('Pool.get 30', 'Pool.get 3')) });
    await settle(page);
    await press(page, 'Escape', '4');
    const row = (await tableRows(page)).find((cells) => cells[5] === 'com.acme.db.Pool.get');
    assert.match(row[2], /^33\.7 %/);
    assert.match(row[3], /^50\.0 %/);
    assert.match(await page.locator('header h1').innerText(), /checkout compared with base\.collapsed/);
  });
});

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The file itself: nothing but itself is needed, and damage is told from old browsers and new formats.
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { closeBrowser, open, settle, withPage } from './browser.mjs';
import { T2, T3, crc32, directory, edited, pageOf } from './fixtures.mjs';
import { press, tableRows } from './steps.mjs';

after(closeBrowser);
const t2 = pageOf(T2, { title: 'checkout' });

test('B1: one request, no violation, in every view', async () => {
  await withPage(t2, {}, async (page, { requests }) => {
    await press(page, '2', '3', '4', '5', '1');
    assert.deepEqual(requests, ['file://' + t2]);
  });
});

test('B1: script and handlers injected into a copy do not run', async () => {
  const evil = edited(t2, (html) => html.replace('<body>', '<body><script>window.ran = 1</script><img src="x" onerror="window.ran = 2">'));
  const { page, context } = await open(evil, { allow: /Content Security Policy|Refused|violates/ });
  await settle(page);
  assert.equal(await page.evaluate(() => window.ran), undefined);
  assert.ok((await page.evaluate(() => window.violations.length)) >= 2);
  await context.close();
});

const DATA = /(id="jprof-data">)([^<]*)/;

test('B2: one flipped character gives a message with both sums', async () => {
  for (const at of [0.02, 0.3, 0.6, 0.97]) {
    const damaged = edited(t2, (html) => html.replace(DATA, (_, tag, data) => {
      const i = Math.max(34, Math.floor(data.length * at));
      return tag + data.slice(0, i) + (data[i] === 'A' ? 'B' : 'A') + data.slice(i + 1);
    }));
    await withPage(damaged, { wait: false }, async (page) => {
      const message = await page.locator('.failed').innerText();
      assert.match(message, /damaged: checksum expected [0-9a-f]{8}, found [0-9a-f]{8}/);
      // The table of the hottest methods is there all the same.
      assert.match(await page.locator('.light table').innerText(), /com\.acme\.db\.Pool\.get/);
    });
  }
});

test('B2: cut, empty and foreign data blocks are told from each other', async () => {
  const cases = [[(data) => data.slice(0, 40), /damaged/], [() => '', /damaged/], [() => '!!!', /not valid base64/], [() => 'AAAA', /does not begin like a capture/]];
  for (const [change, message] of cases) {
    const file = edited(t2, (html) => html.replace(DATA, (_, tag, data) => tag + change(data)));
    await withPage(file, { wait: false }, async (page) => assert.match(await page.locator('.failed').innerText(), message));
  }
});

// A data block with some header bytes changed and the checksum made right again.
function withHeader(html, change) {
  return html.replace(DATA, (_, tag, data) => {
    const bytes = Buffer.from(data, 'base64');
    change(bytes);
    bytes.writeUInt32LE(crc32(Buffer.concat([bytes.subarray(0, 20), bytes.subarray(24)])), 20);
    return tag + bytes.toString('base64');
  });
}

test('B2: a newer format is refused with a message, a newer minor one is read', async () => {
  await withPage(edited(t2, (html) => withHeader(html, (b) => (b[8] = 2))), { wait: false }, async (page) => {
    assert.match(await page.locator('.failed').innerText(), /format 2\.1, this page reads up to 1/);
  });
  await withPage(edited(t2, (html) => withHeader(html, (b) => (b[9] = 7))), {}, async (page) => {
    assert.match(await page.locator('.capture').innerText(), /110 samples/);
  });
});

test('B3: the same input gives the same bytes', () => {
  assert.equal(readFileSync(pageOf(T2, { title: 'checkout' }), 'utf8'), readFileSync(t2, 'utf8'));
});

test('B4: without script the page has a table', async () => {
  const { page, context } = await open(t2, { javaScriptEnabled: false, wait: false, allow: /./ });
  const row = await page.locator('.light tbody tr').first().innerText();
  assert.match(row, /40\.91 %\s+50\.00 %\s+com\.acme\.db\.Pool\.get/);
  await context.close();
});

test('B4: where the script is kept from running, the table shows after a moment', async () => {
  const kept = edited(t2, (html) => html.replace(/<script>/, '<script>;'));
  const { page, context } = await open(kept, { wait: false, allow: /./ });
  await page.waitForFunction(() => document.querySelector('.light table').checkVisibility({ contentVisibilityAuto: true }));
  assert.match(await page.locator('.light table').innerText(), /com\.acme\.db\.Pool\.get/);
  assert.equal(await page.locator('.page').count(), 0);
  await context.close();
});

test('B4: a browser that cannot unpack gets a message and the table', async () => {
  await withPage(t2, { wait: false, before: 'delete window.DecompressionStream' }, async (page) => {
    assert.match(await page.locator('.failed').innerText(), /cannot unpack the data \(needed: Chromium 103/);
    assert.match(await page.locator('.light table').innerText(), /com\.acme\.db\.Pool\.get/);
  });
});

test('a browser without Uint8Array.fromBase64 reads the page', async () => {
  await withPage(t2, { before: 'delete Uint8Array.fromBase64' }, async (page) => {
    assert.match(await page.locator('.capture').innerText(), /110 samples/);
  });
});

test('B8: saved again by the browser the page still opens', async () => {
  const saved = join(directory, 'saved.html');
  await withPage(t2, {}, async (page) => {
    await press(page, '4', 't', 'Escape');
    writeFileSync(saved, '<!doctype html>' + (await page.evaluate(() => document.documentElement.outerHTML)));
  });
  await withPage(saved, { hash: '#v=table' }, async (page) => {
    const rows = await tableRows(page);
    assert.equal(rows[0][3], 'com.acme.db.Pool.get');
  });
});

test('B61: the source holds no markup sink, no eval, no inline style', () => {
  const script = readFileSync(t2, 'utf8');
  for (const word of ['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'document.write', 'eval(', 'new Function', "setAttribute('style'", 'setAttribute("style"']) {
    assert.ok(!script.includes(word), word);
  }
  assert.ok(!/<[^>]+\sstyle=/.test(script), 'a style attribute');
});

test('B64: no samples and one sample', async () => {
  await withPage(pageOf(''), {}, async (page) => {
    assert.match(await page.locator('.capture').innerText(), /no samples/);
    for (const key of ['2', '3', '4', '5', '1', '?']) await press(page, key);
    const text = await page.locator('.page').innerText();
    assert.doesNotMatch(text, /NaN|Infinity|undefined/);
  });
  await withPage(pageOf('only.one 1\n'), {}, async (page) => {
    assert.match(await page.locator('.capture').innerText(), /\b1 sample\b/);
    for (const key of ['2', '3', '4', '5', '1', 'Home', '3', '?']) {
      await press(page, key);
      assert.doesNotMatch(await page.locator('.page').innerText(), /NaN|Infinity|undefined/);
    }
  });
});

test('B66: storage that throws changes nothing, and the choice of theme is kept otherwise', async () => {
  const broken = "Object.defineProperty(window, 'localStorage', { get() { throw new Error('denied'); } })";
  await withPage(t2, { before: broken, colorScheme: 'dark' }, async (page) => {
    assert.ok(await page.locator('.page.dark').count());
    await press(page, 'l');
    assert.equal(await page.locator('.page.dark').count(), 0);
  });
  await withPage(t2, { colorScheme: 'light' }, async (page) => {
    assert.equal(await page.locator('.page.dark').count(), 0);
    await press(page, 'l');
    assert.equal(await page.locator('.page.dark').count(), 1);
    await page.reload();
    await page.locator('.page.dark').waitFor();
  });
});

test('B67: a capture of counts shows no time, one of time shows samples beside', async () => {
  await withPage(t2, {}, async (page) => {
    await press(page, 'Home', '4');
    const text = await page.locator('.page').innerText();
    assert.doesNotMatch(text, /\d (ms|s|ns|min)\b/);
  });
  await withPage(pageOf(T3()), {}, async (page) => {
    await press(page, 'Home');
    assert.match(await page.locator('.details .facts').innerText(), /1,000 samples · 10\.0 s/);
  });
});

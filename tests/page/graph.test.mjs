// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The graph: where boxes lie, how it is zoomed and moved, what it says of a box.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { browser, closeBrowser, settle, withPage } from './browser.mjs';
import { T2, T3, pageOf } from './fixtures.mjs';
import { ROW, clickBox, details, doubleClickBox, fragment, graphBox, hoverBox, pixel, pointOf, press, search, selectedName } from './steps.mjs';

after(closeBrowser);
const t2 = pageOf(T2);

test('B10: heaviest first or by name, root above or below: boxes lie where their weights say', async () => {
  await withPage(t2, {}, async (page) => {
    // Row 3, by weight: place 60, Json.write 20, Refund.make 15 below Main.main (95 of 110).
    await clickBox(page, 30 / 110, 3);
    assert.equal(await selectedName(page), 'com.acme.pay.OrderService.place');
    await clickBox(page, 70 / 110, 3);
    assert.equal(await selectedName(page), 'com.acme.util.Json.write');
    await clickBox(page, 88 / 110, 3);
    assert.equal(await selectedName(page), 'com.acme.pay.Refund.make');
    await press(page, 'o');
    // By name: place 60, Refund.make 15, Json.write 20.
    await clickBox(page, 66 / 110, 3);
    assert.equal(await selectedName(page), 'com.acme.pay.Refund.make');
    await clickBox(page, 85 / 110, 3);
    assert.equal(await selectedName(page), 'com.acme.util.Json.write');
    assert.equal(fragment(page).get('x'), 'o');
    await press(page, 'f');
    const box = await graphBox(page);
    const fromBelow = (row) => (box.height - (row + 1) * ROW) / ROW;
    await clickBox(page, 85 / 110, fromBelow(3));
    assert.equal(await selectedName(page), 'com.acme.util.Json.write');
    await press(page, 'o');
    await clickBox(page, 88 / 110, fromBelow(3));
    assert.equal(await selectedName(page), 'com.acme.pay.Refund.make');
  });
});

test('B11, B74: double click zooms so that the box fills the width in the first row; 0 shows all again', async () => {
  await withPage(t2, {}, async (page) => {
    await doubleClickBox(page, 70 / 110, 3);
    for (const share of [0.01, 0.99]) {
      await clickBox(page, share, 0);
      assert.equal(await selectedName(page), 'com.acme.util.Json.write');
      await clickBox(page, share * 0.4, 1);
      assert.equal(await selectedName(page), 'java.lang.StringBuilder.append');
    }
    assert.match(fragment(page).get('z'), /^3\./);
    await page.getByRole('navigation', { name: 'Callers' }).getByRole('button', { name: /Main\.main/ }).click();
    await clickBox(page, 0.99, 1);
    assert.equal(await selectedName(page), 'com.acme.pay.Refund.make');
    await press(page, '0');
    await clickBox(page, 108 / 110, 2);
    assert.equal(await selectedName(page), 'GCTaskThread::run');
    assert.equal(fragment(page).get('z'), null);
  });
});

test('B11: a double click is one step of the history, which names box and zoom', async () => {
  await withPage(t2, {}, async (page) => {
    const before = await page.evaluate(() => history.length);
    await doubleClickBox(page, 70 / 110, 3);
    assert.equal(await page.evaluate(() => history.length), before + 1);
    assert.match(fragment(page).get('n'), /^3\./);
    assert.equal(fragment(page).get('n'), fragment(page).get('z'));
    await page.goBack();
    await settle(page);
    assert.equal(fragment(page).get('z'), null);
  });
});

test('B11: a drag pans and is no click, three pixels are a click', async () => {
  await withPage(t2, {}, async (page) => {
    await doubleClickBox(page, 70 / 110, 3);
    const from = await pointOf(page, 0.5, 0);
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(from.x + 200, from.y, { steps: 4 });
    await page.mouse.up();
    await settle(page);
    assert.match(fragment(page).get('w'), /~/);
    const left = await hoverBox(page, 0.02, 1);
    assert.match(left, /OrderService\.place/);
    const { x, y } = await pointOf(page, 0.5, 1);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 2, y + 2);
    await page.mouse.up();
    await settle(page);
    assert.equal(await selectedName(page), 'com.acme.util.Json.write');
  });
});

test('B12: Ctrl and wheel zoom at the pointer, within the limits', async () => {
  await withPage(t2, {}, async (page) => {
    const point = await pointOf(page, 65 / 110, 3);
    const { x, y } = { x: Math.round(point.x), y: Math.round(point.y) };
    await page.mouse.move(x, y);
    await page.keyboard.down('Control');
    for (let i = 0; i < 4; i++) {
      await page.mouse.wheel(0, -100);
      await settle(page);
    }
    await page.keyboard.up('Control');
    await page.waitForFunction(() => location.hash.includes('w='));
    // The edges of the box moved away from the pointer in proportion: weight under the pointer stays.
    const box = await graphBox(page);
    const scale = Math.exp(4 * 100 * 0.004);
    // Json.write begins at 60 of 110.
    const left = x - (x - box.x - (60 / 110) * box.width) * scale;
    assert.match(await hoverAt(page, left + 1.5, y), /Json\.write/);
    assert.match(await hoverAt(page, left - 1.5, y), /OrderService\.place/);
    assert.match(fragment(page).get('w'), /~/);
    await page.keyboard.down('Control');
    await page.mouse.move(x, y);
    for (let i = 0; i < 60; i++) await page.mouse.wheel(0, -200);
    await settle(page);
    const deepest = await hoverAt(page, box.x + 2, y);
    assert.match(deepest, /Json\.write/);
    await page.mouse.move(x, y);
    for (let i = 0; i < 80; i++) await page.mouse.wheel(0, 200);
    await page.keyboard.up('Control');
    await settle(page);
    assert.match(await hoverAt(page, box.x + 2, y), /OrderService\.place/);
    assert.match(await hoverAt(page, box.x + box.width - 4, y - ROW), /sys_read/);
  });
});

async function hoverAt(page, x, y) {
  await page.mouse.move(x, y);
  await settle(page);
  return page.locator('.tip').innerText();
}

// Frames of 16 ms each, made by the test: how many the browser manages depends on what else runs.
const OWN_FRAMES = () => {
  const original = window.requestAnimationFrame.bind(window);
  window.asked = null;
  window.requestAnimationFrame = (work) => (window.asked ? window.asked.push(work) : original(work));
};

test('B13: zoom is animated, and at once where motion is unwanted', async () => {
  for (const [reducedMotion, low, high] of [['no-preference', 6, 12], ['reduce', 1, 1]]) {
    await withPage(t2, { reducedMotion, before: OWN_FRAMES }, async (page) => {
      await clickBox(page, 70 / 110, 3);
      const frames = await page.evaluate(() => {
        const canvas = document.querySelector('#jprof').shadowRoot.querySelector('.flame canvas');
        let frames = 0;
        const context = canvas.getContext('2d');
        const clear = context.fillRect;
        context.fillRect = function (x, y, w, h) {
          if (x === 0 && y === 0 && h > 100) frames++;
          return clear.call(this, x, y, w, h);
        };
        window.asked = [];
        document.dispatchEvent(new KeyboardEvent('keydown', { key: 'z' }));
        let now = performance.now();
        for (let turn = 0; window.asked.length && turn < 100; turn++) {
          now += 16;
          for (const work of window.asked.splice(0)) work(now);
        }
        window.asked = null;
        return frames;
      });
      assert.ok(frames >= low && frames <= high, `${reducedMotion}: ${frames} frames`);
    });
  }
});

test('B15: what is too narrow is one grey pixel that says what it hides, and zoom reaches it', async () => {
  let text = 'main;wide 1000000\n';
  for (let i = 0; i < 214; i++) text += `main;narrow${i};below 10\n`;
  await withPage(pageOf(text), {}, async (page) => {
    const box = await graphBox(page);
    const y = box.y + 2 * ROW + ROW / 2;
    const tip = await hoverAt(page, box.x + box.width - 1, y);
    assert.match(tip, /428 frames, 0\.21 %: too narrow to draw/);
    await page.keyboard.down('Control');
    await page.mouse.move(box.x + box.width - 0.5, y);
    for (let i = 0; i < 40; i++) await page.mouse.wheel(0, -100);
    await page.keyboard.up('Control');
    await settle(page);
    assert.match(await hoverAt(page, box.x + box.width / 2, y), /narrow\d+\n0\.0010 %/);
  });
});

test('B16: the minimap moves the window', async () => {
  await withPage(t2, {}, async (page) => {
    await doubleClickBox(page, 70 / 110, 3);
    const box = await page.locator('.minimap canvas').boundingBox();
    await page.mouse.move(box.x + (70 / 110) * box.width, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + (20 / 110) * box.width, box.y + 10, { steps: 4 });
    await page.mouse.up();
    await settle(page);
    assert.match(await hoverBox(page, 0.5, 1), /OrderService\.place/);
    assert.match(fragment(page).get('w'), /~/);
  });
});

test('B16: a stack of 5 000 frames is drawn to its leaf', async () => {
  const deep = Array.from({ length: 5000 }, (_, i) => 'frame' + i).join(';') + ' 3\n';
  await withPage(pageOf(deep), {}, async (page) => {
    await press(page, 'Home', 'End');
    assert.equal(await selectedName(page), 'frame4999');
    const box = await graphBox(page);
    const seen = [];
    for (let y = box.y + ROW / 2; y < box.y + box.height; y += ROW) seen.push(await hoverAt(page, box.x + 50, y));
    assert.ok(seen.some((text) => text.startsWith('frame4999')), seen.join('|'));
  });
});

test('B18: tooltip and details give exact numbers', async () => {
  await withPage(t2, {}, async (page) => {
    assert.match(await hoverBox(page, 10 / 110, 4), /^com\.acme\.db\.Pool\.get\n36\.4 % · 40 samples\nself 27\.3 % · 30 samples/);
    await clickBox(page, 10 / 110, 4);
    assert.match(await details(page), /here 36\.4 % · 40 samples.*self 27\.3 % · 30 samples.*in all places 50\.0 % · 55 samples self 40\.9 %, 2 places/);
    await doubleClickBox(page, 10 / 110, 3);
    await clickBox(page, 0.1, 1);
    assert.match(await details(page), /66\.7 % of the view/);
    await clickBox(page, 0.5, 1);
    await press(page, '0');
    await clickBox(page, 70 / 110, 3);
    assert.match(await details(page), /^inlined /);
  });
});

test('B19: a name has the same colour in every open', async () => {
  const shots = [];
  for (let i = 0; i < 2; i++) {
    await withPage(t2, {}, async (page) => shots.push((await page.locator('.flame canvas').first().screenshot()).toString('base64')));
  }
  assert.equal(shots[0], shots[1]);
});

test('B19: text has a contrast of 4.5 on every colour, light and dark', async () => {
  const { kindColour, markColour, evidenceColour, textColour, Colours } = await import('../../lib/page/src/graph/colours.js');
  const page = await (await browser()).newPage();
  for (const dark of [false, true]) {
    const fills = [markColour(dark)];
    const names = Array.from({ length: 50 }, (_, i) => `com.p${i % 17}.C${i}.m`);
    for (let kind = 0; kind < 15; kind++) for (const name of names) fills.push(kindColour(kind, name, dark));
    for (const mode of ['package', 'mine']) {
      const colours = new Colours(names);
      colours.choose(mode, dark, 'com.p1');
      names.forEach((_, i) => fills.push(colours.of(i, 3)));
    }
    for (const direction of [-1, 0, 1]) for (const strength of [0, 1, 2]) fills.push(evidenceColour(direction, strength, dark));
    const worst = await page.evaluate(
      ([fills, text]) => {
        const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
        const luminance = (colour) => {
          context.fillStyle = colour;
          context.fillRect(0, 0, 1, 1);
          const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const t = luminance(text);
        return fills.map((fill) => [(Math.max(t, luminance(fill)) + 0.05) / (Math.min(t, luminance(fill)) + 0.05), fill]).sort((a, b) => a[0] - b[0])[0];
      },
      [fills, textColour(dark)],
    );
    assert.ok(worst[0] >= 4.5, `${dark ? 'dark' : 'light'}: ${worst}`);
  }
  await page.close();
});

test('B20: help lists every key and the counts per kind', async () => {
  const { KEYS } = await import('../../lib/page/src/controls/keys.js');
  await withPage(t2, {}, async (page) => {
    await press(page, '?');
    const text = await page.locator('dialog.help').innerText();
    for (const [keys, what] of KEYS) {
      assert.ok(text.includes(what), what);
      for (const key of keys) assert.ok(text.includes(key.replace('Arrow', '')), key);
    }
    assert.match(text, /inlined: 12 samples \(self\), 10\.9 %/);
    assert.match(text, /kernel: 1 samples? \(self\)/);
    const snapshot = await page.locator('dialog.help').ariaSnapshot();
    assert.match(snapshot, /dialog "Keys and colours"/);
    await press(page, 'Escape');
    assert.equal(await page.locator('dialog.help[open]').count(), 0);
  });
});

test('B11: ancestors are dimmed whatever edge they share with what was zoomed to', async () => {
  await withPage(t2, {}, async (page) => {
    // Right of the label, above the line under the application's boxes.
    const colour = async (row) => {
      const { x, y } = await pointOf(page, 0.45, row);
      return (await pixel(page, x, y - 6)).join();
    };
    const before = [await colour(1), await colour(2), await colour(3)];
    // place begins where its callers begin. Zoomed by the wheel, its callers are still boxes.
    const box = await graphBox(page);
    await page.keyboard.down('Control');
    await page.mouse.move(box.x + 1, box.y + 3.5 * ROW);
    await page.mouse.wheel(0, -100);
    await page.keyboard.up('Control');
    await page.mouse.move(2, 2);
    await page.waitForFunction(() => /\bw=/.test(location.hash));
    await settle(page);
    const after = [await colour(1), await colour(2), await colour(3)];
    assert.notEqual(after[0], before[0]);
    assert.notEqual(after[1], before[1]);
    assert.equal(after[2], before[2]);
  });
});

test('B17: names are shortened from the left, then cut', async () => {
  const { isJava, shortenings } = await import('../../lib/page/src/data/names.js');
  const { Labels } = await import('../../lib/page/src/graph/labels.js');
  assert.deepEqual(shortenings('com.acme.pay.OrderService.place'), ['com.acme.pay.OrderService.place', 'c.a.p.OrderService.place', 'OrderService.place', 'place']);
  assert.deepEqual(shortenings('G1ParEvacuate::run'), ['G1ParEvacuate::run']);
  assert.deepEqual(shortenings('main'), ['main']);
  // What is not Java has no packages: its dots are part of a version, or of a file's name.
  const [NATIVE, C2, UNKNOWN] = [6, 3, 0];
  const labels = new Labels({ measureText: () => ({ width: 10 }) });
  const label = (kind, name) => labels.fit(name, 110, isJava(kind, name));
  for (const name of ['pthread_cond_wait@@GLIBC_2.3.2', 'libnetty_transport_native_epoll.so+0xb4f0']) {
    for (const kind of [NATIVE, UNKNOWN]) assert.equal(label(kind, name), name.slice(0, 10) + '…', `${kind} ${name}`);
  }
  for (const kind of [C2, UNKNOWN]) assert.equal(label(kind, 'com.acme.pay.OrderService.place'), 'place');
  assert.equal(label(C2, 'com.acme.Foo$$Lambda+0x00007f01.run'), 'run');
  assert.deepEqual(shortenings('java/lang/Thread.run').slice(1), ['j.l.Thread.run', 'Thread.run', 'run']);
  assert.equal(shortenings('x'.repeat(100000))[0].length, 256);
});

test('the picture has text in boxes and no text runs out of its box', async () => {
  await withPage(pageOf(T3()), {}, async (page) => {
    // Right of the last row's text the box is of one colour.
    const { x, y } = await pointOf(page, 0.45, 3);
    const [a, b] = [await pixel(page, x, y), await pixel(page, x + 3, y)];
    assert.deepEqual(a, b);
  });
});

const crumbsOf = (page) => page.getByRole('navigation', { name: 'Callers' });
// A chain of frames with names of one length, and a sibling for each: { text, name(level) }.
function chain(depth) {
  const name = (level) => `com.acme.level${String(level).padStart(3, '0')}.Step.call`;
  const lines = [];
  const path = [];
  for (let level = 1; level <= depth; level++) {
    path.push(name(level));
    lines.push(path.join(';') + ' 1');
  }
  lines.push(path.join(';') + ' 1000');
  return { text: lines.join('\n') + '\n', name };
}

test('B74: a zoom puts the callers into one row of names, by mouse, keyboard, Back and links', async () => {
  let address = '';
  await withPage(t2, {}, async (page) => {
    const crumbs = crumbsOf(page);
    assert.equal(await crumbs.isVisible(), false);
    await doubleClickBox(page, 88 / 110, 3);
    assert.deepEqual(await crumbs.getByRole('button').allInnerTexts(), ['all', 'Thread.run', 'Main.main']);
    assert.match(await crumbs.getByRole('button').nth(2).getAttribute('aria-label'), /^com\.acme\.Main\.main, 86\.4 %, 95 samples$/);
    assert.match(await hoverBox(page, 0.5, 0), /^com\.acme\.pay\.Refund\.make\n/);
    address = new URL(page.url()).hash;
    // Escape closes what it closed before; the zoom stays.
    await press(page, 'Escape');
    assert.equal(await crumbs.isVisible(), true);
    await page.goBack();
    await settle(page);
    assert.equal(await crumbs.isVisible(), false);
    assert.match(await hoverBox(page, 0.5, 0), /^all\n/);
    assert.match(await hoverBox(page, 108 / 110, 2), /^GCTaskThread::run\n/);
    await page.goForward();
    await settle(page);
    assert.match(await hoverBox(page, 0.5, 0), /Refund\.make/);
    // The keyboard: a name zooms out to it and keeps the focus in the row.
    await crumbs.getByRole('button').nth(2).focus();
    await page.keyboard.press('Enter');
    await settle(page);
    assert.match(await hoverBox(page, 0.5, 0), /^com\.acme\.Main\.main\n/);
    assert.match(await page.evaluate(() => document.querySelector('#jprof').shadowRoot.activeElement.textContent), /Thread\.run/);
    await press(page, '0');
    assert.equal(await crumbs.isVisible(), false);
  });
  await withPage(t2, { hash: address }, async (page) => {
    assert.equal(await crumbsOf(page).getByRole('button').count(), 3);
    assert.match(await hoverBox(page, 0.5, 0), /Refund\.make/);
  });
});

test('B74: with the root below, the row is below and the zoomed box in the lowest row', async () => {
  await withPage(t2, { hash: '#x=f' }, async (page) => {
    const box = await graphBox(page);
    await doubleClickBox(page, 88 / 110, (box.height - 4 * ROW) / ROW);
    const after = await graphBox(page);
    assert.match(await hoverBox(page, 0.5, (after.height - ROW) / ROW), /Refund\.make/);
    const row = await crumbsOf(page).boundingBox();
    assert.ok(row.y >= after.y + after.height - 1, `${row.y}`);
  });
});

test('B74: hits and the selection stay visible in the row', async () => {
  await withPage(t2, {}, async (page) => {
    await doubleClickBox(page, 88 / 110, 3);
    const main = crumbsOf(page).getByRole('button', { name: /Main\.main/ });
    const plain = await main.evaluate((e) => getComputedStyle(e).backgroundColor);
    await press(page, 'ArrowUp');
    assert.equal(await selectedName(page), 'com.acme.Main.main');
    assert.match(await main.getAttribute('aria-label'), /, selected$/);
    assert.equal(await main.evaluate((e) => getComputedStyle(e).outlineStyle), 'solid');
    await search(page, 'main.main');
    assert.match(await main.getAttribute('aria-label'), /, found, selected$/);
    assert.notEqual(await main.evaluate((e) => getComputedStyle(e).backgroundColor), plain);
    assert.doesNotMatch(await crumbsOf(page).getByRole('button', { name: /Thread\.run/ }).getAttribute('aria-label'), /found|selected/);
  });
});

test('B74: callers that have no room are in a list in the middle, with their marks', async () => {
  const { text, name } = chain(60);
  await withPage(pageOf(text), {}, async (page) => {
    await press(page, 'Home', 'End', 'Enter');
    const crumbs = crumbsOf(page);
    const row = await crumbs.boundingBox();
    assert.ok(row.height < 2 * ROW, `${row.height}`);
    const inside = await crumbs.evaluate((e) => [...e.children].every((c) => c.getBoundingClientRect().right <= innerWidth));
    assert.ok(inside, 'names run out of the row');
    const shown = await crumbs.locator(':scope > button').evaluateAll((all) => all.map((e) => e.getAttribute('aria-label').split(',')[0]));
    assert.equal(shown[0], 'all');
    // The nearest callers, without a gap.
    assert.deepEqual(shown.slice(1), Array.from({ length: shown.length - 1 }, (_, i) => name(60 - shown.length + 1 + i)));
    const hidden = 60 - shown.length;
    const menu = crumbs.locator('summary');
    assert.equal(await menu.innerText(), `… ${hidden} frames`);
    await search(page, 'level003');
    assert.equal(await menu.innerText(), `… ${hidden} frames, 1 found`);
    await page.keyboard.press('Escape');
    await menu.focus();
    await page.keyboard.press('Enter');
    await settle(page);
    assert.equal(await crumbs.locator('.sheet button').count(), hidden);
    await press(page, 'Escape');
    assert.equal(await crumbs.locator('.sheet').isVisible(), false);
    await menu.click();
    await crumbs.getByRole('button', { name: name(2) }).click();
    await settle(page);
    assert.match(fragment(page).get('z'), /^2\./);
    assert.match(await hoverBox(page, 0.5, 0), new RegExp(name(2)));
  });
});

test('B74: rows stay when the window is moved by hand, until it leaves what is in the first row', async () => {
  await withPage(t2, {}, async (page) => {
    await doubleClickBox(page, 30 / 110, 2);
    await press(page, '+', '+');
    assert.match(await hoverBox(page, 0.5, 0), /Main\.main/);
    await doubleClickBox(page, 0.2, 1);
    assert.match(await hoverBox(page, 0.5, 0), /OrderService\.place/);
    await press(page, '-');
    assert.match(await hoverBox(page, 0.1, 0), /Main\.main/);
  });
});

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Without eyes, without a mouse, without a wide screen.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { closeBrowser, settle, withPage } from './browser.mjs';
import { T2, T3, pageOf } from './fixtures.mjs';
import { fragment, press, selectedName } from './steps.mjs';

after(closeBrowser);
const t2 = pageOf(T2);
const PHONE = { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true, deviceScaleFactor: 3 };

test('B62: a tree beside the canvas mirrors the open branches and moves with the cursor', async () => {
  await withPage(t2, {}, async (page) => {
    await press(page, 'Home', 'ArrowDown', 'ArrowDown');
    const snapshot = await page.getByRole('tree', { name: /Graph as a tree/ }).ariaSnapshot();
    assert.match(snapshot, /treeitem "java\.lang\.Thread\.run, 95\.5 %, 105 samples" \[expanded\] \[level=1\]/);
    assert.match(snapshot, /treeitem "com\.acme\.pay\.OrderService\.place, 54\.5 %, 60 samples" .*\[level=3\]/);
    const tree = page.getByRole('tree', { name: /Graph as a tree/ });
    const active = await tree.getAttribute('aria-activedescendant');
    assert.match(await page.locator('#' + active).getAttribute('aria-label'), /OrderService\.place/);
    assert.equal(await page.locator('#' + active).getAttribute('aria-setsize'), '3');
    await press(page, 'ArrowRight');
    assert.match(await page.locator('#' + (await tree.getAttribute('aria-activedescendant'))).getAttribute('aria-label'), /Json\.write/);
    assert.match(await page.locator('.outline-status').textContent(), /com\.acme\.util\.Json\.write, inlined/);
  });
});

test('B62: Tab goes through the controls in order, and each shows its focus', async () => {
  await withPage(t2, {}, async (page) => {
    const seen = [];
    for (let i = 0; i < 9; i++) {
      await page.keyboard.press('Tab');
      seen.push(
        await page.evaluate(() => {
          const element = document.querySelector('#jprof').shadowRoot.activeElement;
          return element ? (element.getAttribute('aria-label') || element.textContent).slice(0, 40) + (getComputedStyle(element).outlineStyle === 'none' ? ' NO FOCUS' : '') : 'nothing';
        }),
      );
    }
    assert.deepEqual(seen.slice(0, 2), ['Graph', 'Search: text, /regex/, name: class: pkg:']);
    assert.ok(seen.includes('View') && seen.includes('Threads') && seen.includes('Help'), seen.join('|'));
    assert.ok(seen.some((name) => name.startsWith('Graph as a tree')), seen.join('|'));
    // The outline is clipped; its focus shows on the graph.
    assert.ok(!seen.some((name) => name.endsWith('NO FOCUS')), seen.join('|'));
  });
});

test('B62: at 200 % and with forced colours everything is still there', async () => {
  await withPage(t2, { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2, forcedColors: 'active' }, async (page) => {
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 640);
    for (const name of ['Graph', 'Callers', 'Sandwich', 'Table', 'Tree']) assert.ok(await page.getByRole('tab', { name }).isVisible());
    const box = await page.locator('.flame canvas').first().boundingBox();
    assert.ok(box.height > 60, `graph of ${box.height} pixels`);
  });
});

test('B65: on a phone a tap selects, a second one zooms, nothing is too small, nothing scrolls sideways', async () => {
  await withPage(pageOf(T3()), PHONE, async (page) => {
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
    const box = await page.locator('.flame canvas').first().boundingBox();
    assert.ok(box.height >= 150, `graph of ${box.height} pixels`);
    await page.touchscreen.tap(box.x + 20, box.y + 36);
    await settle(page);
    const first = await selectedName(page);
    assert.ok(['alpha', 'beta'].includes(first), first);
    const again = await page.locator('.flame canvas').first().boundingBox();
    await page.touchscreen.tap(again.x + 20, again.y + 36);
    await settle(page);
    assert.match(fragment(page).get('z') || '', /^1\./);
    const small = await page.locator('button:visible, summary:visible, select:visible, input[type=search]:visible').evaluateAll((all) => all.map((e) => [e.textContent || e.getAttribute('aria-label'), e.getBoundingClientRect()]).filter(([, r]) => r.height < 43.5 || r.width < 40).map(([name, r]) => `${name} ${r.width}x${r.height}`));
    assert.deepEqual(small, []);
    for (const view of ['Callers', 'Sandwich', 'Table', 'Tree']) {
      await page.getByRole('tab', { name: view }).tap();
      await settle(page);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360, view);
    }
  });
});

test('B65: a pinch zooms the graph and not the page', async () => {
  await withPage(t2, PHONE, async (page, { context }) => {
    const box = await page.locator('.flame canvas').first().boundingBox();
    const client = await context.newCDPSession(page);
    await client.send('Input.synthesizePinchGesture', { x: box.x + 180, y: box.y + box.height / 2, scaleFactor: 2, gestureSourceType: 'touch' });
    await page.waitForFunction(() => /[zw]=/.test(location.hash));
    assert.equal(await page.evaluate(() => visualViewport.scale), 1);
    const [from, to] = (fragment(page).get('w') || '0~1000').split('~').map(Number);
    assert.ok(fragment(page).get('z') || to - from < 700, page.url());
  });
});

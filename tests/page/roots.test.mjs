// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// "Starts at Java": what folds at the roots, and that every number stays what it is. The oracle here works on the lines
// of text that the pages are made from, and shares no code with the page.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { closeBrowser, settle, withPage } from './browser.mjs';
import { T2, diffPage, pageOf } from './fixtures.mjs';
import { clickBox, details, fragment, hoverBox, pixel, pointOf, press, samplesShown, search, selectedName, tableRows } from './steps.mjs';

after(closeBrowser);

const START = '… thread start';
const JVM = '__GI___clone3;start_thread;thread_native_entry;Thread::call_run;JavaThread::thread_main_inner';
const JAVA = JVM + ';thread_entry;JavaCalls::call_virtual;JavaCalls::call_helper;java.lang.Thread.run;java.lang.Thread.runWith';
const POOL = ';java.util.concurrent.ThreadPoolExecutor$Worker.run;java.util.concurrent.ThreadPoolExecutor.runWorker';
const MAIN = '_start;__libc_start_main;main;JLI_Launch;JavaMain;jni_CallStaticVoidMethod;jni_invoke_static(JNIEnv_*);JavaCalls::call_helper;';
// 200 samples. Thread.run stands below two chains; the compiler's threads share the beginning of one.
const ROOTS = `${JAVA}${POOL};com.acme.pay.OrderService.place;com.acme.db.Pool.update 60
${JAVA}${POOL};com.acme.pay.OrderService.place 20
${JAVA}${POOL};org.apache.catalina.Valve.invoke;com.acme.web.Page.update 30
${JAVA}${POOL} 4
${JVM};JavaThread::run;thread_entry;JavaCalls::call_helper;java.lang.Thread.run;com.acme.Timer.tick 10
${JVM};CompileBroker::compiler_thread_loop;C2Compiler::compile_method 40
${JVM} 2
${MAIN}com.acme.Main.main;com.acme.Main.load 20
${MAIN}com.acme.Main.main 3
start_thread;VMThread::run 7
com.acme.cut.Off.here 4
`;

const FIRST = new Set(
  ('__GI___clone3 start_thread thread_native_entry Thread::call_run JavaThread::thread_main_inner JavaThread::run thread_entry JavaCalls::call_virtual ' +
    'JavaCalls::call_helper _start __libc_start_main main JLI_Launch JavaMain jni_CallStaticVoidMethod jni_invoke_static(JNIEnv_*)').split(' '),
);
const SECOND = new Set(['java.lang.Thread.run', 'java.lang.Thread.runWith', ...POOL.slice(1).split(';')]);

// What the folded page must show: [{ stack, count }], by rules written down here once more. What no Java follows stays,
// unless others that begin like it have Java.
function foldedStacks(text, pools) {
  const lines = text.trim().split('\n').map((line) => [line.slice(0, line.lastIndexOf(' ')).split(';'), Number(line.slice(line.lastIndexOf(' ') + 1))]);
  const leading = (frames) => frames.findIndex((frame) => !FIRST.has(frame));
  const toJava = new Set();
  for (const [frames] of lines) {
    const at = leading(frames);
    if (at > 0 && /^(com|org|java)\./.test(frames[at])) for (let n = 1; n <= at; n++) toJava.add(frames.slice(0, n).join(';'));
  }
  return lines.map(([frames, count]) => {
    let n = 0;
    while (n < frames.length && toJava.has(frames.slice(0, n + 1).join(';'))) n++;
    while (pools && n > 0 && n < frames.length && SECOND.has(frames[n])) n++;
    return [n ? [START, ...frames.slice(n)] : frames, count];
  });
}

// Method: [self, total], recursion once.
function methodSums(stacks) {
  const sums = new Map();
  for (const [frames, count] of stacks) {
    for (const frame of new Set(frames)) {
      const [self, total] = sums.get(frame) || [0, 0];
      sums.set(frame, [self, total + count]);
    }
    sums.get(frames[frames.length - 1])[0] += count;
  }
  return sums;
}

const share = (part, whole) => `${((100 * part) / whole).toPrecision(3)} %`;

async function checkTable(page, stacks, whole) {
  const rows = await tableRows(page);
  const expected = methodSums(stacks);
  const shown = new Map(rows.map(([self, total, samples, name]) => [name, [self, total, Number(samples)]]));
  assert.deepEqual([...shown.keys()].sort(), [...expected.keys()].sort());
  for (const [name, [self, total]] of expected) {
    const [selfShown, totalShown, samples] = shown.get(name);
    assert.equal(samples, total, name);
    assert.equal(totalShown, total === whole ? '100 %' : share(total, whole), name);
    assert.equal(selfShown, self ? share(self, whole) : '0 %', name);
  }
}

const file = pageOf(ROOTS);
// No two ways lead to one method here: nodes are moved, none become one.
const APART = ROOTS.replace(/^.*Timer\.tick.*\n/m, '');

const unfolded = (text) => text.trim().split('\n').map((line) => [line.slice(0, line.lastIndexOf(' ')).split(';'), Number(line.slice(line.lastIndexOf(' ') + 1))]);

test('B70: the table has one row for what folds, in each step, and every number is right', async () => {
  for (const [text, whole] of [[ROOTS, 200], [APART, 190]]) {
    const page = pageOf(text);
    for (const [hash, stacks] of [['', foldedStacks(text, false)], ['&j=p', foldedStacks(text, true)], ['&j=a', unfolded(text)]].slice(0, text === ROOTS ? 3 : 1)) {
      await withPage(page, { hash: '#v=table' + hash, viewport: { width: 1280, height: 1200 } }, async (page) => {
        assert.match(await samplesShown(page), new RegExp(`\\b${whole} samples`));
        await checkTable(page, stacks, whole);
      });
    }
  }
});

// The call tree's rows, all opened, against the stacks: [depth, name, total, self], heaviest first among siblings.
test('B70: the call tree is the tree of the folded stacks', async () => {
  for (const [text, hash, pools] of [[ROOTS, '', false], [APART, '', false], [ROOTS, '&j=p', true]]) {
    const expected = new Map();
    for (const [frames, count] of foldedStacks(text, pools)) {
      frames.forEach((_, n) => {
        const path = frames.slice(0, n + 1).join(';');
        const [total, self] = expected.get(path) || [0, 0];
        expected.set(path, [total + count, self + (n === frames.length - 1 ? count : 0)]);
      });
    }
    await withPage(pageOf(text), { hash: '#v=tree' + hash, viewport: { width: 1280, height: 1400 } }, async (page) => {
      for (let closed = page.locator('section:not([hidden]) [role=treeitem][aria-expanded=false] .twist').first(); await closed.count(); await settle(page)) await closed.click();
      const rows = await page.locator('section:not([hidden]) .virtual [role=treeitem]').evaluateAll((all) => all.sort((a, b) => parseFloat(a.style.top) - parseFloat(b.style.top)).map((row) => [Number(row.getAttribute('aria-level')), row.querySelector('bdi').textContent, Number(row.querySelector('.total small').textContent)]));
      const path = [];
      const weights = [];
      const seen = new Map();
      for (const [level, name, total] of rows) {
        path.length = level - 1;
        weights.length = level;
        path.push(name);
        assert.ok(weights[level - 1] === undefined || total <= weights[level - 1], path.join(';'));
        weights[level - 1] = total;
        seen.set(path.join(';'), total);
      }
      assert.deepEqual([...seen].sort(), [...expected].map(([key, [total]]) => [key, total]).sort());
    });
  }
});

test('B70: nothing folds where no Java method follows', async () => {
  await withPage(pageOf(T2), {}, async (page) => {
    await press(page, 'Home');
    assert.equal(await selectedName(page), 'java.lang.Thread.run');
    await search(page, 'start_thread');
    await page.keyboard.press('Enter');
    assert.match(await details(page), /here 4\.55 % · 5 samples/);
  });
});

test('B70: one box, which a click opens, the switch folds and Back closes', async () => {
  await withPage(file, {}, async (page) => {
    assert.match(await hoverBox(page, 0.3, 1), /… thread start\n94\.5 % · 189 samples\n.*self 1\.00 % · 2 samples/);
    // 114 of Thread.run below it, the rest of the chain's heaviest first: 40 of the compiler, 23 of main.
    assert.match(await hoverBox(page, 0.3, 2), /java\.lang\.Thread\.run\n62\.0 % · 124 samples/);
    assert.match(await hoverBox(page, 140 / 200, 2), /compiler_thread_loop\n20\.0 % · 40 samples/);
    assert.match(await hoverBox(page, 175 / 200, 2), /Main\.main\n11\.5 % · 23 samples/);
    await clickBox(page, 0.3, 1);
    assert.equal(fragment(page).get('j'), 'a');
    assert.match(await hoverBox(page, 0.3, 1), /clone3\n83\.0 % · 166 samples/);
    assert.match(await page.locator('.chips').innerText(), /thread start shown/);
    await page.goBack();
    await settle(page);
    assert.match(await hoverBox(page, 0.3, 1), /… thread start\n94\.5 %/);
    await press(page, 'j');
    assert.match(await hoverBox(page, 0.3, 1), /clone3\n/);
    await press(page, 'j');
    assert.equal(fragment(page).get('j'), null);
    await page.getByText('View', { exact: true }).click();
    await page.getByLabel('Fold pools and executors too').check();
    await page.keyboard.press('Escape');
    await settle(page);
    assert.match(await hoverBox(page, 0.1, 2), /OrderService\.place\n40\.0 % · 80 samples/);
    await page.getByText('View', { exact: true }).click();
    await page.getByLabel('Start at Java').uncheck();
    await settle(page);
    assert.equal(fragment(page).get('j'), 'a');
  });
});

test('B70: Enter opens the box, and the details can in every view', async () => {
  await withPage(file, {}, async (page) => {
    await press(page, 'Home');
    assert.equal(await selectedName(page), START);
    await press(page, 'Enter');
    assert.equal(fragment(page).get('j'), 'a');
    await press(page, 'j', '5', 'ArrowDown');
    assert.equal(await selectedName(page), START);
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await settle(page);
    const rows = await tableRows(page);
    assert.match(rows[0][2], /clone3/);
    assert.match(rows[0][0], /83\.0 % 166/);
  });
});

test('B70: what is selected and zoomed to stays so, also in a link', async () => {
  await withPage(file, {}, async (page) => {
    await press(page, 'Home', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown');
    assert.equal(await selectedName(page), 'com.acme.pay.OrderService.place');
    const before = await details(page);
    await press(page, 'z');
    const { x } = await pointOf(page, 0.5, 1);
    assert.ok(x > 0);
    for (let i = 0; i < 3; i++) {
      await press(page, 'j');
      assert.equal(await selectedName(page), 'com.acme.pay.OrderService.place');
      assert.equal((await details(page)).replace(/ [\d.]+ % of the view/, ''), before.replace(/ [\d.]+ % of the view/, ''));
      // It fills the width, however many callers it has now.
      assert.equal(await page.getByRole('navigation', { name: 'Callers' }).locator('button, summary').count() > 3, true);
      assert.match(await hoverBox(page, 0.02, 0), /OrderService\.place/);
      assert.match(await hoverBox(page, 0.98, 0), /OrderService\.place/);
    }
    const url = page.url();
    await page.reload();
    await page.locator('.flame').first().waitFor();
    await settle(page);
    assert.equal(page.url(), url);
    assert.equal(await selectedName(page), 'com.acme.pay.OrderService.place');
    assert.match(await hoverBox(page, 0.98, 0), /OrderService\.place/);
  });
});

test('B70: search says what lies in the fold and Enter goes there', async () => {
  await withPage(file, {}, async (page) => {
    // Three chains have it: below two kinds of JavaThread and below main.
    assert.match(await search(page, 'JavaCalls::call_helper'), /^3 places in “thread start”: Enter opens it/);
    await press(page, 'Enter');
    assert.equal(await selectedName(page), 'JavaCalls::call_helper');
    assert.equal(fragment(page).get('j'), 'a');
    assert.match(await page.locator('.found').innerText(), /1 of 3 places, 73\.5 %/);
    await press(page, 'Escape', 'Escape', 'j');
    assert.match(await search(page, 'update'), /^2 places, 45\.0 %, 2 methods$/);
  });
});

test('B70: filters by what is folded, copies and files hold whole stacks', async () => {
  await withPage(file, { permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
    const saved = async () => {
      await page.getByText('Save', { exact: true }).click();
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save as folded text' }).click()]);
      await page.keyboard.press('Escape');
      return readFileSync(await download.path(), 'utf8').trim().split('\n').sort();
    };
    assert.deepEqual(await saved(), ROOTS.trim().split('\n').sort());
    await press(page, 'Home', 'ArrowDown');
    assert.equal(await selectedName(page), 'java.lang.Thread.run');
    await press(page, 'c');
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), JAVA.replace(/;java\.lang\.Thread\.runWith$/, '').replaceAll(';', '\n'));
    await press(page, 'z');
    assert.deepEqual(await saved(), ROOTS.trim().split('\n').filter((line) => line.includes('java.lang.Thread.run')).sort());
  });
  await withPage(file, { hash: '#v=table&k=keep:JLI_Launch', viewport: { width: 1280, height: 1200 } }, async (page) => {
    assert.match(await samplesShown(page), /\b23 samples/);
    await checkTable(page, foldedStacks(ROOTS, false).filter((_, i) => ROOTS.split('\n')[i].includes('JLI_Launch')), 23);
  });
});

test('B70: a comparison folds both sides alike and finds what changed', async () => {
  const changed = ROOTS.replace('OrderService.place 20', 'OrderService.place 60').replace(/^com.acme.cut.*\n/m, '');
  await withPage(diffPage(ROOTS, changed), { hash: '#v=table', viewport: { width: 1280, height: 1200 } }, async (page) => {
    const rows = await tableRows(page);
    const [before, now] = [ROOTS, changed].map((text) => methodSums(foldedStacks(text, false)));
    assert.deepEqual(rows.map((row) => row[5]).sort(), [...before.keys()].sort());
    for (const [, , base, other, samples, name] of rows) {
      const total = (cell) => cell.replace(/ self .*/, '');
      const [a, b] = [before.get(name)[1], now.get(name)?.[1] ?? 0];
      assert.equal(samples, `${a} → ${b}`, name);
      assert.equal(total(base), share(a, 200), name);
      assert.equal(total(other), b ? share(b, 236) : '0 %', name);
    }
  });
});

test('B71: the first view shows the widest Java subtree so that it can be read', async () => {
  // 5 % of 390 pixels are no room for a name: Java fills the window. A link says itself what it shows.
  const narrow = `${JVM};CompileBroker::compiler_thread_loop 95\n${JAVA};com.acme.Main.load 4\n${MAIN}com.acme.Main.main 1\n`;
  const phone = { viewport: { width: 390, height: 700 } };
  await withPage(pageOf(narrow), phone, async (page) => {
    for (const x of [0.02, 0.98]) assert.match(await hoverBox(page, x, 0), /java\.lang\.Thread\.run\n4\.00 % · 4 samples/);
    assert.match(await samplesShown(page), /\b100 samples/);
    await press(page, '0');
    assert.match(await hoverBox(page, 0.5, 2), /compiler_thread_loop\n95\.0 %/);
  });
  await withPage(pageOf(narrow), { ...phone, hash: '#o=x' }, async (page) => assert.match(await hoverBox(page, 0.5, 2), /compiler_thread_loop\n95\.0 %/));
  await withPage(file, {}, async (page) => assert.match(await hoverBox(page, 0.99, 0), /^all\n/));
});

test('B72: the application is guessed by its width, can be changed, and its boxes have a line', async () => {
  await withPage(file, {}, async (page) => {
    const mine = page.getByLabel('Prefix of my code');
    await page.getByText('View', { exact: true }).click();
    assert.equal(await mine.inputValue(), 'com.acme.');
    await page.keyboard.press('Escape');
    // Rows of 20 pixels: the line is at the bottom of a box of com.acme, and none at that of a library's.
    const line = async (share, row) => {
      const { x, y } = await pointOf(page, share, row);
      return (await pixel(page, x, y + 7)).slice(0, 3).reduce((sum, c) => sum + c, 0) < 200;
    };
    assert.equal(await line(0.2, 6), true); // OrderService.place
    assert.equal(await line(0.45, 6), false); // Valve.invoke
    assert.equal(await line(0.45, 7), true); // Page.update
    assert.equal(await line(0.2, 2), false); // Thread.run
    await page.getByText('View', { exact: true }).click();
    await mine.fill('org.apache., com.acme.web');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await settle(page);
    assert.equal(await line(0.2, 6), false);
    assert.equal(await line(0.45, 6), true);
    assert.equal(await line(0.45, 7), true);
    assert.equal(fragment(page).get('i'), 'org.apache., com.acme.web');
    assert.match(await page.locator('.details').innerText(), /org\.apache\., com\.acme\.web application/);
    await press(page, '4');
    assert.deepEqual((await page.locator('section:not([hidden]) bdi.mine').allInnerTexts()).sort(), ['com.acme.web.Page.update', 'org.apache.catalina.Valve.invoke']);
  });
});

test('B72: whose code it is: the widest packages of no known library', async () => {
  const { guessMine, ownerOf } = await import('../../lib/page/src/data/ownership.js');
  const owners = {
    'com.acme.pay.Order.place': 'com.acme.',
    'shop.Shop.main': 'shop.',
    'io.github.jane.tool.Main.run': 'io.github.jane.',
    'org.springframework.samples.petclinic.owner.Owner.get': 'org.springframework.samples.petclinic.',
    'org.springframework.web.Filter.doFilter': '',
    'java.util.HashMap.get': '',
    'jdk.internal.misc.Unsafe.park': '',
    'JavaCalls::call_helper': '',
    '[unknown]': '',
    malloc: '',
    'Main.main': 'Main',
  };
  for (const [name, owner] of Object.entries(owners)) assert.equal(ownerOf(name), owner, name);
  // A stack counts once for a prefix: b.B is in more stacks, a.A in more places of fewer.
  const names = ['com.a.A.m', 'com.b.B.m', 'com.c.C.m'];
  const tree = { size: 7, parent: [-1, 0, 1, 2, 0, 0, 5], name: [-1, 0, 0, 0, 1, 1, 2], kind: [0, 3, 3, 3, 3, 3, 3] };
  assert.equal(guessMine(names, tree, [0, 10, 10, 20, 50, 30, 10]), 'com.b.');
  assert.equal(guessMine(names, tree, [0, 10, 10, 30, 50, 30, 10]), 'com.b., com.a.');
  assert.equal(guessMine(['malloc', 'java.util.List.get'], { size: 2, parent: [-1, 0], name: [-1, 0], kind: [0, 6] }, [0, 1]), '');
});

test('B72: labels keep the class where methods of several classes have one name', async () => {
  const { Labels } = await import('../../lib/page/src/graph/labels.js');
  const { repeatedMethods } = await import('../../lib/page/src/data/ownership.js');
  const names = ['com.acme.Rules.rewrite', 'com.acme.Query.rewrite', 'com.acme.Query.parse', 'com.acme.Query.parse(int)', 'main'];
  const repeated = repeatedMethods(names);
  assert.deepEqual([...repeated], ['rewrite']);
  const labels = new Labels({ measureText: () => ({ width: 10 }) });
  assert.equal(labels.fit('com.acme.Query.rewrite', 70), 'rewrite');
  labels.keepClassOf(repeated);
  assert.equal(labels.fit('com.acme.Query.rewrite', 130), 'Query.rewrite');
  assert.equal(labels.fit('com.acme.Query.rewrite', 70), 'Query.…');
  assert.equal(labels.fit('com.acme.Query.parse', 70), 'parse');
});

// Hue in degrees, or -1 for greys, of every pixel of the graph that many others are like.
const HUES = () => {
  const surface = document.querySelector('#jprof').shadowRoot.querySelector('.flame[data-view="graph"] canvas');
  const counts = new Map();
  const { data } = surface.getContext('2d').getImageData(0, 0, surface.width, surface.height);
  for (let i = 0; i < data.length; i += 4) {
    const key = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
    counts.set(key, (counts.get(key) || 0) + 1);
  }
  return [...counts].filter(([, count]) => count > 60).map(([key]) => [key >> 16, (key >> 8) & 255, key & 255]);
};

function hueOf([r, g, b]) {
  const [low, high] = [Math.min(r, g, b), Math.max(r, g, b)];
  if (high - low < 22) return -1;
  const h = high === r ? ((g - b) / (high - low) + 6) % 6 : high === g ? (b - r) / (high - low) + 2 : (r - g) / (high - low) + 4;
  return Math.round(h * 60);
}

test('B73: the legend names every colour of the graph, by kind, by package and for mine, light and dark', async () => {
  for (const [colorScheme, hash] of [['light', '#q=update'], ['light', '#c=package'], ['dark', '#c=mine'], ['dark', '']]) {
    await withPage(pageOf(ROOTS.replaceAll('com.acme.db.Pool.update ', 'com.acme.db.Pool.update_[j];java.util.HashMap.get_[i];sys_read_[k] ')), { colorScheme, hash }, async (page) => {
      const swatches = await page.locator('.details .swatch:not(.own)').evaluateAll((all) => all.map((swatch) => getComputedStyle(swatch).backgroundColor.match(/\d+/g).map(Number)));
      const named = swatches.map(hueOf);
      const drawn = (await page.evaluate(HUES)).map(hueOf).filter((hue) => hue >= 0);
      assert.ok(drawn.length >= (hash === '#c=mine' ? 1 : 3), `${drawn}`);
      for (const hue of drawn) assert.ok(named.some((other) => other >= 0 && Math.min(Math.abs(other - hue), 360 - Math.abs(other - hue)) <= 6), `${hash} ${colorScheme}: hue ${hue} is not among ${named}`);
      // Each has a name.
      for (const text of await page.locator('.details .fact:not(.hint)').allInnerTexts()) assert.match(text.trim(), /\w/);
    });
  }
});

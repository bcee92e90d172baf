// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What colours tell, and which packages fold. The oracle lays the boxes out anew from the lines of text that the pages are made from.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { closeBrowser, settle, withPage } from './browser.mjs';
import { T2, pageOf, randomNumbers } from './fixtures.mjs';
import { ROW, clickBox, details, fragment, hoverBox, press, samplesShown, search, selectedName, tableRows } from './steps.mjs';

after(closeBrowser);

const stacksOf = (text) => text.trim().split('\n').map((line) => [line.slice(0, line.lastIndexOf(' ')).split(';'), Number(line.slice(line.lastIndexOf(' ') + 1))]);

// Boxes of an icicle, widest child first: [{ name, depth, left, right (shares of the whole), above }, ...].
function boxesOf(stacks) {
  const root = { name: 'all', total: 0, below: new Map() };
  for (const [frames, count] of stacks) {
    let at = root;
    at.total += count;
    for (const name of frames) {
      if (!at.below.has(name)) at.below.set(name, { name, total: 0, below: new Map() });
      at = at.below.get(name);
      at.total += count;
    }
  }
  const boxes = [];
  const place = (node, depth, left, above) => {
    const box = { name: node.name, depth, left: left / root.total, right: (left + node.total) / root.total, above };
    boxes.push(box);
    let at = left;
    for (const child of [...node.below.values()].sort((a, b) => b.total - a.total)) {
      place(child, depth + 1, at, box);
      at += child.total;
    }
  };
  place(root, 0, 0, null);
  return boxes;
}

// The colour of each box, [r, g, b]: near its top, where no letter is.
async function coloursOf(page, boxes, view = 'graph') {
  await settle(page);
  return page.evaluate(
    ([boxes, row, view]) => {
      const canvas = document.querySelector('#jprof').shadowRoot.querySelector(`.flame[data-view="${view}"] canvas`);
      // Of a copy: what is read often would be drawn in another way.
      const copy = Object.assign(document.createElement('canvas'), { width: canvas.width, height: canvas.height }).getContext('2d', { willReadFrequently: true });
      copy.drawImage(canvas, 0, 0);
      const { data, width } = copy.getImageData(0, 0, canvas.width, canvas.height);
      return boxes.map(({ depth, left, right }) => {
        const at = ((depth * row + 2) * width + Math.floor(((left + right) / 2) * width)) * 4;
        return [...data.slice(at, at + 3)];
      });
    },
    [boxes, ROW, view],
  );
}

// In degrees; -1 for greys.
function hueOf([r, g, b]) {
  const [low, high] = [Math.min(r, g, b), Math.max(r, g, b)];
  if (high - low < 22) return -1;
  const h = high === r ? ((g - b) / (high - low) + 6) % 6 : high === g ? (b - r) / (high - low) + 2 : (r - g) / (high - low) + 4;
  return Math.round(h * 60);
}

const apart = (a, b) => ((a < 0) !== (b < 0) ? 360 : Math.min(Math.abs(a - b), 360 - Math.abs(a - b)));

// Colour and text of each entry of the legend.
const legendOf = (page) =>
  page.locator('.details .fact:has(.swatch:not(.own))').evaluateAll((all) => all.map((fact) => [getComputedStyle(fact.querySelector('.swatch')).backgroundColor.match(/\d+/g).map(Number), fact.innerText.trim()]));

// Eight layers of four packages; each calls those of the next.
function layered() {
  const random = randomNumbers(7);
  const lines = [];
  for (let i = 0; i < 60; i++) {
    const frames = Array.from({ length: 8 }, (_, layer) => `org.layer${layer}.part${Math.floor(random() * 4)}.Type.step_[j]`);
    lines.push(`${frames.join(';')} ${5 + Math.floor(random() * 40)}`);
  }
  return lines.join('\n') + '\n';
}

test('B79: by package, boxes that touch differ in colour unless they are of one package, and the legend names all', async () => {
  const text = layered();
  const boxes = boxesOf(stacksOf(text)).filter(({ left, right, depth }) => depth > 0 && right - left > 0.006);
  const packageOf = ({ name }) => name.split('.').slice(0, 3).join('.');
  await withPage(pageOf(text), { hash: '#c=package' }, async (page) => {
    const hues = (await coloursOf(page, boxes)).map(hueOf);
    let pairs = 0;
    const check = (a, b) => {
      const far = apart(hues[a], hues[b]);
      if (packageOf(boxes[a]) === packageOf(boxes[b])) return assert.ok(far <= 6, `${boxes[a].name}: ${hues[a]} and ${hues[b]}`);
      pairs++;
      assert.ok(far >= 15, `${boxes[a].name} and ${boxes[b].name} touch: ${hues[a]} and ${hues[b]}`);
    };
    boxes.forEach((box, i) => {
      const above = boxes.indexOf(box.above);
      if (above >= 0) check(above, i);
      const beside = boxes.findIndex((other) => other.depth === box.depth && Math.abs(other.left - box.right) < 1e-9);
      if (beside >= 0) check(i, beside);
    });
    assert.ok(pairs > 100, `${pairs} pairs`);
    const legend = (await legendOf(page)).map(([colour, words]) => [hueOf(colour), words]);
    const named = legend.filter(([hue]) => hue >= 0);
    assert.ok(named.length >= 10 && named.some(([, words]) => words.includes('org.layer0.part')), JSON.stringify(named));
    for (const hue of hues) assert.ok(named.some(([other]) => apart(hue, other) <= 6), `${hue} has no name`);
  });
});

test('B79: by kind, no two kinds are alike, and each is told by its name', async () => {
  const { KINDS } = await import('../../lib/page/src/data/names.js');
  const { kindColour } = await import('../../lib/page/src/graph/colours.js');
  for (const dark of [false, true]) {
    const hues = Array.from({ length: 9 }, (_, i) => Number(/hsl\((\d+)/.exec(kindColour(i + 1, 'm', dark))[1]));
    hues.forEach((hue, i) => hues.slice(0, i).forEach((other, k) => assert.ok(apart(hue, other) >= 20, `${KINDS[i + 1]} and ${KINDS[k + 1]}: ${hue} and ${other}`)));
  }
});

test('B79: by module, native functions have the colour of their library and Java that of the JDK or its owner', async () => {
  const frame = (name, file) => `\t7f00 ${name}+0x1 (${file})\n`;
  const sample = (time, ...frames) => `main 1/1 [000] ${(100 + time).toFixed(6)}:   10000000 cpu-clock:u: \n${frames.reverse().join('')}\n`;
  const jvm = '/usr/lib/jvm/lib/server/libjvm.so';
  let text = '';
  for (let i = 0; i < 40; i++) {
    text += sample(i / 100, frame('thread_start', jvm), frame('compile_all', jvm), frame(i % 2 ? 'memcpy' : 'memset', '/lib/libc.so.6'));
    text += sample(i / 100 + 0.005, frame('com.acme.pay.Order.place', '/tmp/perf-1.map'), frame('com.acme.db.Pool.get', '/tmp/perf-1.map'), frame('java.util.HashMap.get', '/tmp/perf-1.map'));
  }
  await withPage(pageOf(text), { hash: '#c=module' }, async (page) => {
    const legend = await legendOf(page);
    const of = (word) => hueOf((legend.find(([, words]) => words.split(/, | and /).includes(word)) || assert.fail(`${word} is not in ${JSON.stringify(legend)}`))[0]);
    const drawn = new Map();
    // The first row has the thread. Of two boxes that are as wide, either may come first.
    for (const x of [0.1, 0.4, 0.6, 0.9]) {
      for (let row = 2; row <= 4; row++) {
        const [name] = (await hoverBox(page, x, row)).split('\n');
        const [colour] = await coloursOf(page, [{ depth: row, left: x, right: x }]);
        drawn.set(name, hueOf(colour));
      }
    }
    assert.equal(drawn.size, 7, [...drawn.keys()].join());
    for (const [name, word] of [['thread_start', 'libjvm.so'], ['compile_all', 'libjvm.so'], ['memcpy', 'libc.so.6'], ['memset', 'libc.so.6'], ['com.acme.pay.Order.place', 'com.acme'], ['com.acme.db.Pool.get', 'com.acme'], ['java.util.HashMap.get', 'JDK']]) {
      assert.ok(apart(drawn.get(name), of(word)) <= 6, `${name}: ${drawn.get(name)}, ${word}: ${of(word)}`);
    }
    for (const [a, b] of [['libjvm.so', 'libc.so.6'], ['com.acme', 'JDK']]) assert.ok(apart(of(a), of(b)) >= 15, `${a} and ${b}`);
  });
});

test('B79: by heat, the more self time a method has, the redder; filters count', async () => {
  // Self, in 1 000 samples: 2, 6, 20, 50, 200 and the rest; `run` has none.
  const text = `run_[j];a_[j] 2\nrun_[j];b_[j] 6\nrun_[j];c_[j] 20\nrun_[j];d_[j] 50\nrun_[j];e_[j] 200\nrun_[j];f_[j] 722\n`;
  const plain = stacksOf(text.replaceAll('_[j]', ''));
  const boxes = boxesOf(plain).filter(({ left, right, depth }) => depth > 0 && right - left > 0.0015);
  await withPage(pageOf(text), { hash: '#c=heat' }, async (page) => {
    const hue = new Map((await coloursOf(page, boxes)).map((colour, i) => [boxes[i].name, hueOf(colour)]));
    assert.equal(hue.get('run'), -1);
    assert.ok(hue.get('f') === hue.get('e') && hue.get('e') < hue.get('d') - 6 && hue.get('d') < hue.get('c') - 6 && hue.get('c') < hue.get('b') - 6 && hue.get('b') < hue.get('a') - 6, JSON.stringify([...hue]));
    const legend = await legendOf(page);
    for (const [share, name] of [['10 % and more', 'e'], ['3 to 10 %', 'd'], ['1 to 3 %', 'c'], ['0.3 to 1 %', 'b'], ['below 0.3 %', 'a']]) {
      const [colour] = legend.find(([, words]) => words.includes(share));
      assert.ok(apart(hueOf(colour), hue.get(name)) <= 6, `${share}: ${colour}`);
    }
  });
  // Without the widest, `d` has more than a tenth of what is left.
  await withPage(pageOf(text), { hash: '#c=heat&k=drop:%253Df,drop:%253De' }, async (page) => {
    assert.match(await samplesShown(page), /\b78 samples/);
    const left = boxesOf(plain.filter(([frames]) => !['e', 'f'].includes(frames[1])));
    const [d, c, a] = await coloursOf(page, ['d', 'c', 'a'].map((name) => left.find((box) => box.name === name)));
    assert.deepEqual([hueOf(d), hueOf(c)], [hueOf(c), hueOf(c)]);
    assert.ok(hueOf(a) > hueOf(d) + 6);
  });
});

test('B79: by search, only what is found and what it calls has a colour', async () => {
  const boxes = boxesOf(stacksOf(T2.replaceAll(/_\[\w\]/g, ''))).filter(({ left, right, depth }) => depth > 0 && right - left > 0.008);
  await withPage(pageOf(T2), { hash: '#c=search' }, async (page) => {
    for (const colour of await coloursOf(page, boxes)) assert.equal(hueOf(colour), -1);
    await search(page, 'Pool.get');
    const colours = await coloursOf(page, boxes);
    const saturation = ([r, g, b]) => Math.max(r, g, b) - Math.min(r, g, b);
    boxes.forEach((box, i) => {
      let [found, below] = [/Pool\.get/.test(box.name), false];
      for (let up = box.above; up; up = up.above) below ||= /Pool\.get/.test(up.name);
      if (found) assert.ok(saturation(colours[i]) > 60, `${box.name}: ${colours[i]}`);
      else if (below) assert.ok(saturation(colours[i]) > 8 && saturation(colours[i]) < 40 && colours[i][1] < colours[i][0], `${box.name}: ${colours[i]}`);
      else assert.equal(hueOf(colours[i]), -1, box.name);
    });
    assert.match((await legendOf(page)).map(([, words]) => words).join(), /called by what was found,the rest/);
  });
});

test('B79: the menu and a key choose what colours tell, and a link keeps it', async () => {
  await withPage(pageOf(T2), {}, async (page) => {
    for (const [value, words] of [['package', 'by package'], ['module', 'by module'], ['heat', 'by heat: self time'], ['search', 'by search'], ['mine', 'mine and the rest']]) {
      await press(page, 'i');
      assert.equal(fragment(page).get('c'), value);
      await page.getByText('View', { exact: true }).click();
      assert.equal(await page.getByLabel('Colours', { exact: true }).evaluate((select) => select.selectedOptions[0].text), words);
      await page.keyboard.press('Escape');
    }
    await press(page, 'i');
    assert.equal(fragment(page).get('c'), null);
  });
});

// What the table must have when packages fold: runs of methods that begin with a prefix are one method of that name.
function foldRuns(stacks, prefixes) {
  return stacks.map(([frames, count]) => {
    const folded = [];
    for (const frame of frames) {
      const prefix = prefixes.filter((p) => frame.startsWith(p)).sort((a, b) => b.length - a.length)[0];
      const name = prefix ? '… ' + prefix.replace(/\.$/, '') : frame;
      if (!prefix || folded[folded.length - 1] !== name) folded.push(name);
    }
    return [folded, count];
  });
}

// Method: [self, total], recursion once.
function methodSums(stacks) {
  const sums = {};
  for (const [frames, count] of stacks) {
    for (const frame of new Set(frames)) (sums[frame] ??= [0, 0])[1] += count;
    sums[frames[frames.length - 1]][0] += count;
  }
  return sums;
}

async function checkTable(page, stacks) {
  const whole = stacks.reduce((sum, [, count]) => sum + count, 0);
  const share = (part) => (part === 0 ? '0 %' : part === whole ? '100 %' : `${((100 * part) / whole).toPrecision(3)} %`);
  const shown = Object.fromEntries((await tableRows(page)).map(([self, total, samples, name]) => [name, [self, total, samples]]));
  const wanted = Object.fromEntries(Object.entries(methodSums(stacks)).map(([name, [self, total]]) => [name, [share(self), share(total), String(total)]]));
  assert.deepEqual(shown, wanted);
}

const CALLS = `java.lang.Thread.run;org.fw.web.Filter.doFilter;org.fw.web.Chain.next;com.acme.Order.place;org.fw.tx.Proxy.call;org.fw.tx.Proxy.begin;com.acme.Pool.get;java.net.Socket.read 30
java.lang.Thread.run;org.fw.web.Filter.doFilter;org.fw.web.Chain.next;com.acme.Order.place;java.util.HashMap.get 20
java.lang.Thread.run;org.fw.web.Filter.doFilter;com.acme.Order.place 25
java.lang.Thread.run;org.fw.web.Filter.doFilter 10
start_thread;GCTaskThread::run 15
`;

test('B80: packages fold by prefixes, several at once, and every number of the table is right', async () => {
  const file = pageOf(CALLS);
  const large = { viewport: { width: 1280, height: 1200 } };
  await withPage(file, { ...large, hash: '#v=table&j=a' }, async (page) => {
    await checkTable(page, stacksOf(CALLS));
    await page.getByText('View', { exact: true }).click();
    await page.getByLabel('Packages to fold').fill('org.fw., java.');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await checkTable(page, foldRuns(stacksOf(CALLS), ['org.fw.', 'java.']));
    assert.match(await page.locator('.chips').innerText(), /folded org\.fw\.[^]*folded java\./);
    await page.getByRole('button', { name: 'Remove filter: folded java.' }).click();
    await checkTable(page, foldRuns(stacksOf(CALLS), ['org.fw.']));
    await press(page, 'u', 'u');
    await checkTable(page, stacksOf(CALLS));
  });
  // Of two that fit, the longer counts.
  await withPage(file, { ...large, hash: '#v=table&j=a&k=fold:org.fw.,fold:org.fw.tx' }, (page) => checkTable(page, foldRuns(stacksOf(CALLS), ['org.fw.', 'org.fw.tx'])));
});

test('B80: the package of the selected method folds by a key and by a button', async () => {
  await withPage(pageOf(CALLS), { hash: '#j=a' }, async (page) => {
    await clickBox(page, 0.1, 3);
    assert.equal(await selectedName(page), 'org.fw.web.Chain.next');
    await press(page, 'p');
    assert.match(fragment(page).get('k'), /^fold:org\.fw\.web\.$/);
    assert.match(await hoverBox(page, 0.1, 2), /^… org\.fw\.web\n85\.0 % · 85 samples/);
    assert.match(await hoverBox(page, 0.1, 3), /^com\.acme\.Order\.place\n75\.0 % · 75 samples/);
    await clickBox(page, 0.1, 4);
    await page.getByRole('button', { name: 'Fold package' }).click();
    await settle(page);
    assert.match(await page.locator('.chips').innerText(), /folded org\.fw\.tx\./);
    assert.match(await details(page), /./);
    assert.match(await hoverBox(page, 0.1, 4), /^… org\.fw\.tx\n30\.0 %/);
  });
});

test('B80: only my code: what libraries do is self time of what called them; what has none of it stays as one box', async () => {
  const only = stacksOf(CALLS).map(([frames, count]) => {
    const mine = frames.filter((frame) => frame.startsWith('com.acme.'));
    return [mine.length ? mine : ['… library code'], count];
  });
  await withPage(pageOf(CALLS), { hash: '#v=table&i=com.acme.' }, async (page) => {
    await press(page, 'm');
    await checkTable(page, only);
    assert.match(await page.locator('.chips').innerText(), /only my code: com\.acme\./);
    await press(page, 'm');
    assert.equal(fragment(page).get('k'), null);
    await page.getByText('View', { exact: true }).click();
    await page.getByLabel('Only my code').check();
    await page.keyboard.press('Escape');
    await checkTable(page, only);
    await press(page, '1');
    const boxes = boxesOf(only).filter(({ depth }) => depth > 0);
    for (const { name, left, right, depth } of boxes) assert.equal((await hoverBox(page, (left + right) / 2, depth)).split('\n')[0], name);
  });
});

test('B80: CPU time that no sample stands for is no library code', async () => {
  const recording = fileURLToPath(new URL('../fuzz/corpus/recording/rests.jprof', import.meta.url));
  const { readFileSync } = await import('node:fs');
  await withPage(pageOf(readFileSync(recording), { name: 'only.jprof' }), { hash: '#v=table&k=only:com.acme.' }, async (page) => {
    const names = (await tableRows(page)).map((row) => row[row.length - 1]);
    assert.ok(names.includes('… library code') && names.some((name) => /^\[(after last sample|not sampled|ended unseen)\]$/.test(name)), names.join());
  });
});

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Files that are dropped, opened or pasted. What the page reads from a file must be what `jprof convert` makes of it.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { closeBrowser, settle, withPage } from './browser.mjs';
import { T2, T3, directory, jprof, pageOf, randomNumbers } from './fixtures.mjs';
import { chunk, crc32c, fileHeader, recordingOf } from './recording.mjs';
import { details, press, samplesShown, tableRows } from './steps.mjs';

after(closeBrowser);

const viewer = join(directory, 'viewer.html');
execFileSync(jprof, ['open', '--viewer', '-o', viewer]);
const zstd = (bytes, ...flags) => execFileSync('zstd', ['-c', '-q', ...flags], { input: bytes, maxBuffer: 1e9 });
const recordings = fileURLToPath(new URL('../fuzz/corpus/recording/', import.meta.url));

const given = (name, bytes) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(bytes) });
const painted = (page) => page.locator('.tabs').waitFor({ timeout: 60000 });
const openInViewer = async (page, ...files) => {
  await page.getByLabel('Open captures').setInputFiles(files);
};

// What a page shows: of each view as much as can be compared.
async function shown(page) {
  await press(page, '4');
  const table = await page.evaluate(() => new Promise((resolve) => {
    const root = document.querySelector('#jprof').shadowRoot;
    navigator.clipboard.writeText = async (text) => resolve(text);
    [...root.querySelectorAll('button')].find((b) => b.textContent === 'Copy table').click();
  }));
  await press(page, '?');
  const facts = await page.locator('.help dl').innerText();
  await press(page, '?', '1');
  return { title: await page.locator('.titles h1').innerText(), headline: await samplesShown(page), table: table.split('\n').sort().join('\n'), facts, legend: await details(page), strip: await page.locator('.strip-label').innerText() };
}

const sample = (time, thread, stack, weight, more = {}) => ({ time: time * 1e6, thread, stack, weight: weight * 1e6, ...more });

function rich() {
  const random = randomNumbers(3);
  const samples = [];
  for (let i = 1; i < 4000; i++) samples.push(sample(i * 5, i % 3, Math.floor(random() ** 2 * 40), 5 + Math.floor(random() * 3), { state: 1 + (i % 7), count: i % 50 ? 1 : i % 100 ? 0 : 3 }));
  const frames = Array.from({ length: 30 }, (_, i) => ({ name: i === 7 ? 'com.acme.Ünï.naïve' : `com.acme.C${i}.m`, kind: 1 + (i % 9), owner: i % 9 === 5 ? `/usr/lib/lib${i}.so` : '' }));
  // One name, several kinds.
  frames.push({ name: 'com.acme.C1.m', kind: 4 });
  const stacks = Array.from({ length: 40 }, () => Array.from({ length: 1 + Math.floor(random() * 12) }, () => Math.floor(random() * frames.length)));
  return { title: 'rich', start: 1700000000e9, duration: 20123e6, frames, stacks, threads: ['main', 'main', 'G1 Conc#0'], samples, losses: [['ring full', 7]], facts: [['JVM', '17'], ['warning', 'mind the gap']], gaps: [['ring full', 100e6, 200e6, 7]] };
}

test('B84: a recording shows in the viewer what its page shows', async () => {
  const bytes = recordingOf(rich());
  const packed = recordingOf(rich(), (payload) => zstd(payload, '-19'));
  assert.ok(packed.length < bytes.length);
  let wanted;
  await withPage(pageOf(bytes, { name: 'rich.jprof' }), {}, async (page) => {
    wanted = await shown(page);
  });
  assert.match(wanted.table, /com\.acme\.Ünï/);
  for (const [name, file] of [['rich.jprof', bytes], ['packed.jprof', packed], ['whole.zst', zstd(bytes)], ['whole.gz', gzipSync(bytes)]]) {
    await withPage(viewer, { wait: true }, async (page, { requests }) => {
      await openInViewer(page, given(name, file));
      await painted(page);
      assert.deepEqual(await shown(page), wanted, name);
      // The page itself and what it made.
      assert.deepEqual(requests.filter((url) => !/^(file|blob):/.test(url)), []);
    });
  }
});

test('B84: of a recording of several events the viewer shows what its page shows, and names the others', async () => {
  const samples = Array.from({ length: 50 }, (_, i) => sample(i * 3, i % 2, i % 5, 1 + (i % 3)));
  const bytes = recordingOf({ ...rich(), samples: rich().samples.slice(0, 400), others: [{ event: 'alloc', unit: 2, samples }, { event: 'lock', samples: [] }] });
  let wanted;
  await withPage(pageOf(bytes, { name: 'events.jprof' }), {}, async (page) => {
    wanted = await shown(page);
  });
  assert.match(wanted.facts, /samples of other events\s+alloc \(50\)/);
  assert.doesNotMatch(wanted.facts, /lock/);
  await withPage(viewer, { wait: true }, async (page) => {
    await openInViewer(page, given('events.jprof', bytes));
    await painted(page);
    assert.deepEqual(await shown(page), wanted);
  });
});

test('B84: recordings of the past show in the viewer as their pages do, or are refused as they are', async () => {
  for (const name of readdirSync(recordings).slice(0, 40)) {
    const bytes = readFileSync(join(recordings, name));
    let wanted = null;
    try {
      const made = pageOf(bytes, { name: `corpus-${name}.jprof` });
      await withPage(made, {}, async (page) => {
        wanted = await shown(page);
      });
    } catch (error) {
      if (!error.status) throw error;
      // Partial captures have a page, and the command says so by its exit code.
      if (error.status === 6) {
        await withPage(join(directory, `corpus-${name}.jprof.html`), {}, async (page) => {
          wanted = await shown(page);
        });
      }
    }
    await withPage(viewer, {}, async (page) => {
      await openInViewer(page, given(`corpus-${name}.jprof.in`, bytes));
      await page.waitForFunction(() => {
        const root = document.querySelector('#jprof').shadowRoot;
        return root.querySelector('.tabs') || /cannot be opened/.test(root.querySelector('[role=status]').textContent);
      });
      const opened = await page.locator('.tabs').count();
      assert.equal(opened, wanted ? 1 : 0, `${name}: ${wanted ? 'has a page' : 'has none'}`);
      if (opened) assert.deepEqual(await shown(page), wanted, name);
    });
  }
});

test('B84: folded text, speedscope and pages, packed and pasted', async () => {
  const speedscope = JSON.stringify({
    $schema: 'x',
    shared: { frames: [{ name: 'main' }, { name: 'work' }, { name: 'rest' }] },
    profiles: [
      { type: 'evented', name: 'one', unit: 'milliseconds', startValue: 0, endValue: 100, events: [{ type: 'O', frame: 0, at: 0 }, { type: 'O', frame: 1, at: 10 }, { type: 'C', frame: 1, at: 60 }, { type: 'C', frame: 0, at: 100 }] },
      { type: 'sampled', name: 'two', unit: 'milliseconds', startValue: 0, endValue: 30, samples: [[0, 2], [0]], weights: [20, 10] },
    ],
  });
  for (const [name, bytes, methods, chart] of [
    ['a.collapsed', T2, 10, false],
    ['a.collapsed.gz', gzipSync(T2), 10, false],
    ['a.zst', zstd(T2), 10, false],
    ['page.html', readFileSync(pageOf(T3())), 6, true],
    ['a.speedscope.json', speedscope, 3, true],
  ]) {
    await withPage(viewer, {}, async (page) => {
      await openInViewer(page, given(name, bytes));
      await painted(page);
      await press(page, '4');
      const rows = await tableRows(page);
      assert.ok(rows.length >= Math.min(methods, 3), `${name}: ${rows.length} rows`);
      await press(page, '6');
      assert.equal(await page.locator('.ruler').isVisible(), chart, name);
    });
  }
  let made;
  await withPage(pageOf(speedscope, { name: 's.json', title: 's.json' }), {}, async (page) => {
    made = await shown(page);
  });
  await withPage(viewer, {}, async (page) => {
    await openInViewer(page, given('s.json', speedscope));
    await painted(page);
    await press(page, '4');
    const rows = await tableRows(page);
    const of = (name) => rows.find((row) => row[3] === name);
    // 100 ms of one thread, 30 of the other.
    assert.match(of('main')[0], /^46\.2 % 60\.0 ms$/);
    assert.match(of('main')[1], /^100 % 130 ms$/);
    assert.match(of('work')[0], /^38\.5 % 50\.0 ms$/);
    assert.match(of('rest')[0], /^15\.4 % 20\.0 ms$/);
    // As `jprof convert` has it, apart from the facts that only a command knows.
    const { table, strip } = await shown(page);
    assert.deepEqual({ table, strip }, { table: made.table, strip: made.strip });
  });
  // Pasted text.
  await withPage(viewer, {}, async (page) => {
    await page.evaluate((text) => {
      const data = new DataTransfer();
      data.setData('text/plain', text);
      document.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    }, T2);
    await painted(page);
    assert.match(await samplesShown(page), /110 samples/);
  });
});

async function drop(page, name, text) {
  return page.evaluate(([fileName, content]) => {
    const data = new DataTransfer();
    data.items.add(new File([content], fileName));
    const over = new DragEvent('dragover', { dataTransfer: data, bubbles: true, cancelable: true });
    document.dispatchEvent(over);
    const veiled = !document.querySelector('#jprof').shadowRoot.querySelector('.veil').hidden;
    const dropped = new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true });
    document.dispatchEvent(dropped);
    return { veiled, taken: over.defaultPrevented && dropped.defaultPrevented };
  }, [name, text]);
}

test('B85: a file that is dropped on a page is shown beside, or compared', async () => {
  await withPage(pageOf(T2, { title: 'first' }), {}, async (page) => {
    assert.deepEqual(await drop(page, 'second.collapsed', T2.replace('Pool.get 30', 'Pool.get 90')), { veiled: true, taken: true });
    await page.getByRole('button', { name: 'Compare, with this as the base' }).click();
    await settle(page);
    assert.match(await page.locator('.titles h1').innerText(), /^first compared with second\.collapsed$/);
    await press(page, '4');
    const pool = (await tableRows(page)).find((row) => row[5] === 'com.acme.db.Pool.get');
    assert.match(pool[0], /^−/);
    // Either alone.
    await page.getByRole('button', { name: 'second.collapsed', exact: true }).click();
    await settle(page);
    assert.equal(await page.locator('.titles h1').innerText(), 'second.collapsed');
    assert.match(await samplesShown(page), /170 samples/);
    await page.getByRole('button', { name: 'first', exact: true }).click();
    await settle(page);
    assert.match(await samplesShown(page), /110 samples/);
    assert.equal(await page.getByRole('button', { name: 'first', exact: true }).getAttribute('aria-pressed'), 'true');
    await page.getByRole('button', { name: 'Compare with second.collapsed' }).click();
    await settle(page);
    assert.match(await page.locator('.titles h1').innerText(), /^first compared with second\.collapsed$/);
  });
  // Its own selection, range and lanes stay with the capture that they belong to.
  await withPage(pageOf(T3(), { title: 'timed' }), { hash: '#t=4000-6000&q=spike' }, async (page) => {
    await drop(page, 'b.collapsed', T2);
    await page.getByRole('button', { name: 'Show it' }).click();
    await settle(page);
    assert.match(await samplesShown(page), /110 samples/);
    await page.getByRole('button', { name: 'timed', exact: true }).click();
    await settle(page);
    assert.match(await samplesShown(page), /2,000 samples/);
  });
});

test('B85: what cannot be read is said, with its cure, and nothing else changes', async () => {
  const bytes = recordingOf(rich());
  const damaged = Buffer.from(bytes);
  damaged[12] ^= 1;
  for (const [name, content, why] of [
    ['a.jfr', 'FLR\0\0\0', /JFR: asprof/],
    ['a.xz', '\xfd7zXZ\0', /packed by xz: unpack it first|neither/],
    ['empty.txt', '', /is empty/],
    ['a.txt', 'nothing that is a stack\n', /no line of it is a stack and a count/],
    ['a.json', '{"a": 1}', /not speedscope/],
    ['b.json', '{"shared": {}, "profiles": []}', /no frames or no profiles/],
    ['c.json', '{"shared": {"frames": [{"name": "a"}]}, "profiles": [{"type": "sampled", "unit": "seconds", "samples": [[7]], "weights": [1]}]}', /a frame that is not in the list of 1/],
    ['d.json', '{"shared": {"frames": [{"name": "a"}]}, "profiles": [', /JSON is damaged/],
    ['a.svg', '<svg xmlns="x"><text>a 1</text></svg>', /neither a page of jprof nor folded text/],
    ['perf.txt', 'java 1/2 [000] 100.000000:   10000000 cpu-clock:u: \n\t7f a+0x1 (/x)\n\n', /output of perf script: make a page of it with `jprof convert`/],
    ['dump.txt', 'Full thread dump OpenJDK\n"main" #1 tid=0x1 nid=0x2 runnable\n', /thread dump: make a page/],
    ['a.jprof', damaged, /its header is damaged: copy it again/],
    ['new.jprof', Buffer.concat([fileHeader(2), bytes.subarray(16)]), /reads version 1: use a page of the jprof that wrote it/],
    ['none.jprof', bytes.subarray(0, 16), /cut off; 0 samples in 0 chunks could be read: copy the \.jprof again/],
    ['a.gz', gzipSync(T2).subarray(0, 60), /gzip data is damaged/],
    ['a.zst', zstd(T2).subarray(0, 100), /zstd data is damaged/],
    ['twice.gz', gzipSync(gzipSync(T2)), /packed twice/],
    ['page.html', '<script type="text/plain" id="jprof-data">AAAA</script>', /does not begin like a capture/],
  ]) {
    await withPage(viewer, {}, async (page) => {
      await openInViewer(page, given(name, typeof content === 'string' && name === 'a.xz' ? Buffer.from(content, 'latin1') : content));
      await page.waitForFunction(() => /cannot be opened/.test(document.querySelector('#jprof').shadowRoot.querySelector('[role=status]').textContent));
      const said = await page.locator('[role=status]').innerText();
      assert.match(said, why, name);
      assert.ok(said.startsWith(`${name} cannot be opened: `), said);
    });
  }
  await withPage(pageOf(T2), {}, async (page) => {
    await drop(page, 'bad.txt', 'nothing');
    await page.waitForFunction(() => /bad\.txt cannot be opened/.test(document.querySelector('#jprof').shadowRoot.querySelector('.warning').textContent));
    assert.match(await samplesShown(page), /110 samples/);
  });
});

test('B85: hostile recordings give an error or a capture, in bounded time, and never a script', async () => {
  const random = randomNumbers(11);
  const bytes = recordingOf({ ...rich(), samples: rich().samples.slice(0, 300) });
  const files = [];
  // Damage under right checksums: what a hostile writer makes.
  for (let k = 0; k < 60; k++) {
    const copy = Buffer.from(bytes);
    for (let at = 16; at + 32 <= copy.length; ) {
      const stored = copy.readUInt32LE(at + 12);
      const payload = copy.subarray(at + 32, at + 32 + stored);
      for (let n = 0; n < 1 + (k % 4); n++) if (payload.length) payload[Math.floor(random() * payload.length)] = Math.floor(random() * 256);
      const made = chunk(copy.readUInt16LE(at + 4), copy.readUInt32LE(at + 8), payload, { samples: copy.readUInt32LE(at + 20), rawBytes: stored });
      made.copy(copy, at);
      at += 32 + stored;
    }
    files.push(given(`h${k}.jprof`, copy));
  }
  // Claims without bytes.
  const claim = (payload) => Buffer.concat([fileHeader(), chunk(2, 0, Buffer.from(payload))]);
  files.push(given('claims.jprof', claim([1, 6, 0, 0xff, 0xff, 0xff, 0xff, 0x0f])));
  files.push(given('names.jprof', recordingOf({ title: '<script>window.hit=1</script>', frames: [{ name: '<img src=x onerror="window.hit=1">' }, { name: '__proto__' }], stacks: [[0, 1]], threads: ['constructor'], samples: [sample(10, 0, 0, 10)] })));
  assert.equal(crc32c(Buffer.from('123456789')), 0xe3069283);
  await withPage(viewer, {}, async (page) => {
    // The page stays one that is opened once: each file in a page of its own would take minutes.
    await page.evaluate(() => (window.hit = 0));
    await openInViewer(page, ...files);
    await page.waitForFunction(() => document.querySelector('#jprof').shadowRoot.querySelector('.tabs'), null, { timeout: 120000 });
    assert.equal(await page.evaluate(() => window.hit), 0);
    await press(page, '4', '6', '1');
  });
});

test('B84: the viewer is one file that loads nothing, and its policy names its workers', async () => {
  const html = readFileSync(viewer, 'utf8');
  assert.match(html, /worker-src blob:; .* trusted-types jprof-matcher jprof-reader"/);
  assert.ok(!/https?:\/\/(?!www\.w3\.org)/.test(html), 'names a host');
  await withPage(viewer, {}, async (page, { requests }) => {
    assert.match(await page.locator('.start').innerText(), /loads nothing and sends nothing/);
    assert.equal(requests.length, 1);
  });
});

test('B85: reading that takes too long is ended, and the page says so', async () => {
  // A worker that never answers.
  const before = () => {
    window.Worker = class {
      postMessage() {}
      terminate() {
        window.ended = true;
      }
    };
    const timer = window.setTimeout;
    window.setTimeout = (work, ms, ...rest) => timer(work, ms === 60000 ? 10 : ms, ...rest);
  };
  await withPage(viewer, { before }, async (page) => {
    await openInViewer(page, given('slow.jprof', recordingOf(rich())));
    await page.waitForFunction(() => /took longer than 60 s and was stopped: make a page of it/.test(document.querySelector('#jprof').shadowRoot.querySelector('[role=status]').textContent));
    assert.equal(await page.evaluate(() => window.ended), true);
  });
});

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Pictures of every view, light, dark and on a phone, in build/test/screenshots: for people to look at. What can be
// checked without eyes: that something is drawn and that nothing is wider than the window.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { closeBrowser, settle, withPage } from './browser.mjs';
import { diffPage, pageOf, perfText, randomNumbers } from './fixtures.mjs';
import { press } from './steps.mjs';

const out = fileURLToPath(new URL('../../build/test/screenshots/', import.meta.url));
mkdirSync(out, { recursive: true });
after(closeBrowser);

const HTTP = ['java.lang.Thread.run', 'java.util.concurrent.ThreadPoolExecutor$Worker.run', 'org.eclipse.jetty.server.Handler.handle', 'com.acme.shop.web.OrderResource.create'];
const BATCH = ['java.lang.Thread.run', 'com.acme.shop.batch.PriceList.rebuild'];
// [thread, tid, stack, how often, in which seconds]
const WORK = [
  ['http-1', 21, [...HTTP, 'com.acme.shop.order.OrderService.place', 'com.acme.shop.price.Basket.total', 'java.math.BigDecimal.multiply'], 30],
  ['http-1', 21, [...HTTP, 'com.acme.shop.order.OrderService.place', 'com.acme.shop.stock.Reservation.reserve', 'org.postgresql.jdbc.PgStatement.executeQuery', 'java.net.SocketInputStream.read', 'recv', 'tcp_recvmsg_[k]'], 18],
  ['http-2', 22, [...HTTP, 'com.acme.shop.order.OrderService.place', 'com.acme.shop.order.OrderService.lambda$place$3', 'java.util.HashMap.computeIfAbsent', 'java.util.HashMap.resize'], 9],
  ['http-2', 22, [...HTTP, 'com.fasterxml.jackson.databind.ObjectMapper.writeValue', 'com.fasterxml.jackson.databind.ser.BeanSerializer.serialize', 'com.fasterxml.jackson.core.json.UTF8JsonGenerator.writeString'], 22],
  ['http-2', 22, [...HTTP, 'com.fasterxml.jackson.databind.ObjectMapper.readValue', 'com.fasterxml.jackson.databind.deser.BeanDeserializer.deserialize'], 12],
  ['batch', 31, [...BATCH, 'java.util.TreeMap.put', 'java.lang.String.compareTo'], 40, [18, 27]],
  ['batch', 31, [...BATCH, 'java.util.TreeMap.put', 'java.util.TreeMap.fixAfterInsertion'], 14, [18, 27]],
  ['GC Thread#0', 5, ['start_thread', 'thread_native_entry', 'WorkerThread::run', 'G1EvacuateRegionsTask::work', 'G1ParScanThreadState::trim_queue'], 7],
  ['C2 CompilerThread0', 7, ['start_thread', 'thread_native_entry', 'CompileBroker::compiler_thread_loop', 'C2Compiler::compile_method', 'PhaseChaitin::Register_Allocate'], 10, [0, 12]],
];

function shop(seed, slower = 1) {
  const random = randomNumbers(seed);
  const samples = [];
  for (let second = 0; second < 40; second++) {
    for (const [thread, tid, stack, often, [from, to] = [0, 40]] of WORK) {
      const times = second >= from && second < to ? often * (0.6 + 0.8 * random()) * (stack.includes('java.util.HashMap.resize') ? slower : 1) : 0;
      for (let i = 0; i < times; i++) samples.push({ time: second + random(), thread, tid, stack: random() < 0.1 ? stack.slice(0, -1) : stack });
    }
  }
  return perfText(samples.sort((a, b) => a.time - b.time));
}

const LOOKS = {
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  phone: { viewport: { width: 360, height: 640 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2, colorScheme: 'light' },
};
const SCENES = {
  graph: [],
  callers: ['2'],
  sandwich: ['Home', 'ArrowDown', 'ArrowDown', '3'],
  table: ['4'],
  tree: ['Home', '5'],
  chart: ['6'],
  heat: ['e'],
  threads: ['t'],
  flame: ['f'],
  help: ['?'],
};

async function take(page, name) {
  await settle(page);
  await page.waitForTimeout(250);
  const image = await page.screenshot({ path: join(out, name + '.png') });
  assert.ok(image.length > 6000, `${name}: ${image.length} bytes`);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), name + ' scrolls sideways');
}

for (const [look, options] of Object.entries(LOOKS)) {
  test(`pictures: every view, ${look}`, async () => {
    const file = pageOf(shop(1), { title: 'checkout-7d9f / shop' });
    for (const [scene, keys] of Object.entries(SCENES)) {
      await withPage(file, options, async (page) => {
        await press(page, ...keys);
        await take(page, `${look}-${scene}`);
      });
    }
    await withPage(file, options, async (page) => {
      await page.keyboard.press('/');
      await page.keyboard.type('jackson');
      await settle(page);
      await take(page, `${look}-search`);
    });
    await withPage(diffPage(shop(1), shop(2, 6)), options, async (page) => {
      await take(page, `${look}-diff`);
      await press(page, '4');
      await take(page, `${look}-diff-table`);
      const cut = await page.locator('.table-row .cell *').evaluateAll((all) => all.filter((e) => e.getBoundingClientRect().left < 0).length);
      assert.equal(cut, 0, 'cells are cut off');
    });
  });
}

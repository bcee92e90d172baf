// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// A browser without a network. Every request other than the page's own file, every message on the
// console and every page error fails the test that opened the page.
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

let running = null;

export async function browser() {
  running ??= await chromium.launch({
    executablePath: process.env.JPROF_CHROMIUM || '/usr/bin/chromium',
    args: ['--no-sandbox', '--enable-precise-memory-info'],
  });
  return running;
}

export async function closeBrowser() {
  if (running) await running.close();
  running = null;
}

// Opens a file; `options` are those of a browser context, and `allow`: a pattern of expected messages; `prepare`: what to
// do with the page before it is there. Nothing is animated unless asked for: tests wait for what happens, not for a time.
export async function open(file, { hash = '', allow = null, before = null, prepare = null, wait = true, ...options } = {}) {
  const context = await (await browser()).newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', ...options });
  await context.grantPermissions([]);
  const page = await context.newPage();
  const problems = [];
  const requests = [];
  page.on('console', (message) => {
    if (!allow || !allow.test(message.text())) problems.push(`console ${message.type()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => {
    if (!allow || !allow.test(error.message)) problems.push(`error: ${error.stack}`);
  });
  page.on('request', (request) => requests.push(request.url()));
  await context.route(/^(?!file:|blob:)/, (route) => {
    problems.push('request to ' + route.request().url());
    return route.abort();
  });
  await page.addInitScript(() => {
    window.violations = [];
    document.addEventListener('securitypolicyviolation', (event) => window.violations.push(event.violatedDirective + ' ' + event.sample));
  });
  if (before) await page.addInitScript(before);
  if (prepare) await prepare(page);
  await page.goto('file://' + file + hash);
  if (wait) await ready(page);
  return {
    page,
    context,
    requests,
    problems,
    async close() {
      const violations = await page.evaluate(() => window.violations).catch(() => []);
      await context.close();
      assert.deepEqual(problems, []);
      assert.deepEqual(allow ? violations.filter((v) => !allow.test(v)) : violations, []);
    },
  };
}

export async function ready(page) {
  await page.waitForFunction(() => performance.getEntriesByName('painted').length > 0, null, { timeout: 60000 });
}

export async function settle(page) {
  // What the page does after its frames, it asked for before this does. A page that draws no frames must fail its test,
  // not hang it. Without a screen the browser now and then begins no frame by itself: a picture makes it draw one.
  const drawn = page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => requestIdleCallback(() => setTimeout(resolve, 30, true), { timeout: 5000 })))));
  const nudge = setInterval(() => page.screenshot().catch(() => {}), 5000);
  const late = new Promise((resolve) => setTimeout(resolve, 30000, false).unref());
  try {
    if (!(await Promise.race([drawn, late]))) throw new Error('the page has drawn no frame for 30 s');
  } finally {
    clearInterval(nudge);
  }
}

export async function withPage(file, options, work) {
  const opened = await open(file, options);
  try {
    await work(opened.page, opened);
  } catch (error) {
    await opened.context.close().catch(() => {});
    if (opened.problems.length) error.message += '\n' + opened.problems.join('\n');
    throw error;
  }
  await opened.close();
}

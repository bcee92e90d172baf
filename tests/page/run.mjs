#!/usr/bin/env node
// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
//
// The browser tests of the capture page. Usage:
//   tests/page/run             all tests (JPROF_BUILD_DIR: where bin/jprof is; default build/dev)
//   tests/page/run --reserved  makes lib/page/reserved_names.txt anew
//   tests/page/run FILE...     some test files
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const wanted = process.argv.slice(2);

if (!existsSync(here + 'node_modules/playwright-core')) {
  const made = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--silent', '--prefix', here], { stdio: 'inherit' });
  if (made.status !== 0) process.exit(made.status || 1);
}
if (!existsSync(process.env.JPROF_CHROMIUM || '/usr/bin/chromium')) {
  console.error('no /usr/bin/chromium: scripts/install browser installs it');
  process.exit(77);
}
if (wanted[0] === '--reserved') {
  const { browser, closeBrowser } = await import('./browser.mjs');
  const { findReserved, writeList } = await import('./reserved_names.mjs');
  const page = await (await browser()).newPage();
  writeList(await findReserved(page));
  await closeBrowser();
  process.exit(0);
}
const files = wanted.length ? wanted : readdirSync(here).filter((name) => name.endsWith('.test.mjs')).map((name) => here + name);
// One file after the other, since some measure: Debian's Node.js 18 has no --test-concurrency.
const failed = files.filter((file) => spawnSync(process.execPath, ['--test', file], { stdio: 'inherit' }).status !== 0);
if (failed.length) console.error('failed: ' + failed.join(' '));
process.exit(failed.length ? 1 : 0);

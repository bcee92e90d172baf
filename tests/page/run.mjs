#!/usr/bin/env node
// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
//
// The browser tests of the capture page. Usage:
//   tests/page/run             all tests (JPROF_BUILD_DIR: where bin/jprof is; default build/dev)
//   tests/page/run FILE...     some test files
import { spawn, spawnSync } from 'node:child_process';
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
const files = wanted.length ? wanted : readdirSync(here).filter((name) => name.endsWith('.test.mjs')).map((name) => here + name);

// Runs one file; what its failed tests said (TAP: from "not ok" to the end of its YAML block), null when all passed.
function run(file) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--test', file], { stdio: ['ignore', 'pipe', 'inherit'] });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      said += text;
      process.stdout.write(text);
    });
    child.on('close', (status) => resolve(status === 0 ? null : (said.match(/^ *not ok [^]*?\n *\.\.\.$/gm) ?? []).join('\n')));
  });
}

// One file after the other, since some measure: Debian's Node.js 18 has no --test-concurrency.
const failed = new Map();
for (const file of files) {
  const said = await run(file);
  if (said !== null) failed.set(file, said);
}
// At the end once more: of a long output only the end may be kept.
for (const [file, said] of failed) console.error(`failed: ${file}\n${said}`);
process.exit(failed.size ? 1 : 0);

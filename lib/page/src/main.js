// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Start: decode what the page holds, then show it, or say why that cannot be.
import { App } from './app.js';
import { DamagedData } from './data/bytes.js';
import { NewerFormat, OldBrowser, readCapture } from './data/capture.js';
import { h, refill } from './dom/dom.js';
import { Pacer } from './data/pacer.js';
import { serveIntake } from './intake/worker.js';
import { startViewer } from './viewer.js';

// For so long after the start of navigation nothing is said of the progress.
const SILENT_MS = 500;

function attach(host) {
  const shadow = host.shadowRoot || host.attachShadow({ mode: 'open' });
  const sheet = h('style');
  sheet.textContent = document.querySelector('style').textContent;
  refill(shadow, sheet);
  return shadow;
}

function explain(error) {
  if (error instanceof DamagedData) return `This page is damaged: ${error.message}. Copy the file again from where it came.`;
  if (error instanceof NewerFormat) return `This page cannot show its capture: ${error.message}.`;
  if (error instanceof OldBrowser) return `The graph cannot be shown: ${error.message}. The table below is all of it.`;
  return `The graph cannot be shown: ${error && error.message ? error.message : error}`;
}

async function start() {
  const host = document.getElementById('jprof');
  const shadow = attach(host);
  const progress = h('p.loading', { role: 'status' });
  shadow.append(progress);
  try {
    if (host.dataset.viewer !== undefined) {
      progress.remove();
      return startViewer(shadow);
    }
    const blocks = [...document.querySelectorAll('script[type="text/plain"]')];
    if (!blocks.length) throw new DamagedData('its data is missing');
    let steps = 0;
    // Each change of it is a frame for the browser to lay out and draw, and fonts to load: not while that would be the delay.
    const pacer = new Pacer(() => {
      if (performance.now() > SILENT_MS) progress.textContent = 'Reading the capture ' + '.'.repeat((steps++ % 30) + 1);
    });
    const captures = [];
    for (const block of blocks.slice(0, 2)) captures.push(await readCapture(block.textContent, pacer));
    await pacer.breathe();
    progress.remove();
    new App(shadow, captures);
    return requestAnimationFrame(() => requestAnimationFrame(() => performance.mark('painted')));
  } catch (error) {
    // What the light tree holds (facts and the top methods) shows through the slot.
    host.classList.add('told');
    shadow.append(h('p.failed', { role: 'alert' }, explain(error)), h('slot'));
    progress.remove();
    if (!(error instanceof DamagedData || error instanceof NewerFormat || error instanceof OldBrowser)) throw error;
    return undefined;
  }
}

// A worker of this script reads files that the user gives (data/intake.js).
if (typeof document === 'undefined') serveIntake();
else start();

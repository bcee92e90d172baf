// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// A page without a capture: it waits for one.
import { App } from './app.js';
import { CAPTURE_ENDINGS, bindDrop, bindPaste } from './controls/library.js';
import { Theme } from './controls/theme.js';
import { readOther } from './data/intake.js';
import { clip, visible } from './data/names.js';
import { h, refill } from './dom/dom.js';

export function startViewer(shadow) {
  const said = h('p', { role: 'status' });
  const file = h('input', { type: 'file', multiple: true, accept: CAPTURE_ENDINGS, alt: 'Open captures', onchange: () => open([...file.files]) });
  const veil = h('div.veil', { hidden: true, 'aria-hidden': 'true' }, 'Drop a capture');
  const start = h(
    'main.start',
    h('h1', 'jprof: open a capture'),
    h('p', 'Drop a file here, paste its text, or choose it: a recording (.jprof), a page of jprof, folded stacks, or speedscope’s JSON; also packed by gzip or zstd.'),
    h('label', 'Open ', file),
    said,
    h('p.hint', 'Files stay on this machine: this page loads nothing and sends nothing.'),
  );
  const theme = new Theme(() => shadow.host.classList.toggle('dark', theme.dark));
  theme.changed();
  let busy = false;
  async function open(files) {
    if (busy || !files.length) return;
    busy = true;
    const captures = [];
    const problems = [];
    for (const one of files) {
      said.textContent = `Reading ${visible(clip(one.name, 100))} …`;
      try {
        captures.push(await readOther(one));
      } catch (error) {
        problems.push(`${clip(one.name, 100)} cannot be opened: ${error.message}`);
      }
    }
    busy = false;
    said.textContent = visible(problems.join(' · '));
    if (!captures.length) return;
    unbind();
    start.remove();
    const app = new App(shadow, captures.slice(0, 1), captures.slice(1));
    app.library.problem = problems.join(' · ');
    app.render();
  }
  const unbind = (() => {
    const stop = new AbortController();
    bindDrop(veil, open, stop.signal);
    bindPaste(open, stop.signal);
    return () => {
      stop.abort();
      veil.remove();
    };
  })();
  shadow.append(start, veil);
  refill(said);
  performance.mark('painted');
}

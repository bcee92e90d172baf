// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The captures of a page: its own, and files that were dropped, opened or pasted. One is shown, or two are compared.
import { jointSource, singleSource } from '../data/compare.js';
import { readOther } from '../data/intake.js';
import { clip, visible } from '../data/names.js';
import { button, h, listen, refill } from '../dom/dom.js';

export const CAPTURE_ENDINGS = '.jprof,.html,.collapsed,.folded,.txt,.json,.gz,.zst';

const MOST_CAPTURES = 12;
// Text that is pasted is no file; a word or two is none that somebody means to open.
const LEAST_PASTED = 8;

// What belongs to one capture, and not to the next.
const OWN = { range: null, base: null, threads: null, states: null, split: false, zoom: '', part: '', path: '', chartWindow: null, lanes: null };

const labelOf = (capture, name) => visible(clip(capture.meta.title || name || 'capture', 60));

export class Library {
  // captures: what is shown; others: what can be.
  constructor(app, captures, others) {
    this.app = app;
    this.entries = [...captures, ...others].map((capture, i) => ({ capture, label: labelOf(capture, `capture ${i + 1}`) }));
    // The entries that are shown: [one], or [base, other].
    this.shown = this.entries.slice(0, captures.length);
    this.problem = '';
    this.tabs = h('div.captures', { role: 'group', alt: 'Captures', hidden: true });
    this.dialog = h('dialog.ask', { alt: 'A capture was opened' });
    this.veil = h('div.veil', { hidden: true, 'aria-hidden': 'true' }, 'Drop a capture: .jprof, a page, folded stacks or speedscope’s JSON, also packed');
    this.bind();
  }

  get source() {
    const [first, second] = this.shown.map(({ capture }) => capture);
    return second ? jointSource(first, second) : singleSource(first);
  }

  bind() {
    bindDrop(this.veil, (files) => this.open(files));
    bindPaste((files) => this.open(files));
  }

  // Reads files one after the other, then asks what to do with them.
  async open(files) {
    const added = [];
    this.app.chrome.closeMenus();
    this.problem = '';
    for (const file of files.slice(0, MOST_CAPTURES - this.entries.length)) {
      this.app.outline.say('Reading ' + clip(file.name, 100));
      const entry = await this.read(file, 'opened');
      if (entry) added.push(entry);
    }
    if (files.length > MOST_CAPTURES - this.entries.length) this.note(`a page shows ${MOST_CAPTURES} captures at most: reload it to begin anew`);
    const whole = this.shown.length === 1 ? this.shown[0] : null;
    this.entries.push(...added);
    if (added.length === 1 && whole) this.ask(whole, added[0]);
    else if (added.length) this.show([added[added.length - 1]]);
    else this.app.render();
  }

  async read(file, verb) {
    try {
      const capture = await readOther(file);
      return { capture, label: labelOf(capture, file.name) };
    } catch (error) {
      this.note(`${clip(file.name, 100)} cannot be ${verb}: ${error.message}`);
      return null;
    }
  }

  note(text) {
    this.problem = this.problem ? `${this.problem} · ${text}` : text;
  }

  // Compared at once, as the menu's entry says.
  async compareWith(file) {
    this.app.chrome.closeMenus();
    this.problem = '';
    const base = await this.read(file, 'compared');
    if (!base) return this.app.render();
    this.entries.push(base);
    this.show([base, this.shown[this.shown.length - 1]]);
    return this.app.outline.say('Compared with ' + file.name);
  }

  ask(before, added) {
    const choice = (text, run) => button(text, () => {
      this.dialog.close();
      run();
    });
    refill(
      this.dialog,
      h('h2', h('bdi', added.label)),
      h('p', 'What do you want to do with it?'),
      h('div.choices', choice('Show it', () => this.show([added])), choice('Compare, with this as the base', () => this.show([added, before])), choice('Compare, with this as the new one', () => this.show([before, added])), choice('Later', () => this.app.render())),
    );
    this.app.render();
    this.dialog.showModal();
  }

  show(entries) {
    this.shown = entries;
    this.app.adoptSource(this.source, OWN);
  }

  draw() {
    const { entries, shown } = this;
    this.tabs.hidden = entries.length < 2;
    const isShown = (entry) => shown.length === 1 && shown[0] === entry;
    const tabs = entries.map((entry) => button(entry.label, () => this.show([entry]), { class: 'plain toggle', 'aria-pressed': String(isShown(entry)) }));
    if (shown.length === 2) tabs.push(h('span.compared', `${shown[1].label} compared with ${shown[0].label}`));
    else if (entries.length > 1) tabs.push(...entries.filter((entry) => !isShown(entry)).map((entry) => button(`Compare with ${entry.label}`, () => this.show([entry, shown[0]]), { class: 'toggle' })));
    refill(this.tabs, ...tabs);
  }
}

// signal: ends it.
export function bindDrop(veil, open, signal) {
  const holds = (event) => event.dataTransfer && [...event.dataTransfer.types].includes('Files');
  listen(document, 'dragover', (event) => {
    if (!holds(event)) return;
    event.preventDefault();
    veil.hidden = false;
  }, { signal });
  listen(document, 'dragleave', (event) => {
    if (!event.relatedTarget) veil.hidden = true;
  }, { signal });
  listen(document, 'drop', (event) => {
    veil.hidden = true;
    if (!holds(event)) return;
    event.preventDefault();
    open(filesOf(event.dataTransfer, 'dropped text'));
  }, { signal });
}

export function bindPaste(open, signal) {
  listen(document, 'paste', (event) => {
    const target = event.composedPath()[0];
    if (target.matches?.('input, textarea')) return;
    const files = filesOf(event.clipboardData, 'pasted text');
    if (!files.length) return;
    event.preventDefault();
    open(files);
  }, { signal });
}

function filesOf(transfer, name) {
  if (transfer.files.length) return [...transfer.files];
  const text = transfer.getData('text/plain');
  return text.trim().length >= LEAST_PASTED ? [new File([text], name)] : [];
}

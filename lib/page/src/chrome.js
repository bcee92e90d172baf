// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The frame around the views: title, tabs, menus, chips, help.
import { kindColour } from './colours.js';
import { button, h } from './dom.js';
import { KEYS } from './keys.js';
import { KINDS, clip, visible } from './names.js';
import { formatCount, formatShare } from './numbers.js';
import { STATES } from './strip.js';

const TABS = [['graph', 'Graph'], ['callers', 'Callers'], ['sandwich', 'Sandwich'], ['table', 'Table'], ['tree', 'Tree']];
const VERB_WORDS = new Map([['keep', 'only stacks with'], ['drop', 'without stacks with'], ['start', 'starting at'], ['hide', 'hidden'], ['mine', 'mine']]);

export class Chrome {
  constructor(app) {
    this.app = app;
    this.tabs = h('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Views' });
    for (const [id, label] of TABS) this.tabs.append(h('button', { type: 'button', role: 'tab', 'data-view': id, onclick: () => app.go(id) }, label));
    this.chips = h('div', { class: 'chips', 'aria-label': 'Filters' });
    this.title = h('h1', null, h('bdi', null, ''));
    this.facts = h('p', { class: 'capture' });
    this.warning = h('p', { class: 'warning', hidden: true });
    this.header = h('header', null, h('div', { class: 'titles' }, this.title, this.facts));
    this.menus = [this.viewMenu(), this.moreMenu()];
    this.toolbar = h('nav', { class: 'toolbar', 'aria-label': 'Views and search' }, this.tabs, app.searchBox.element, h('div', { class: 'actions' }, ...this.menus, button('Threads', () => app.togglePanel(), { title: 'Threads and states (t)' }), button('Help', () => app.toggleHelp(), { title: 'Keys and colours (?)' }, '?')));
    this.help = h('dialog', { class: 'help', 'aria-label': 'Keys and colours' });
    this.help.addEventListener('close', () => (app.helpOpen = false));
  }

  check(label, field, title) {
    const box = h('input', { type: 'checkbox', onchange: () => this.app.update({ [field]: box.checked }) });
    this.boxes = this.boxes || {};
    this.boxes[field] = box;
    return h('label', { title }, box, ' ' + label);
  }

  viewMenu() {
    const { app } = this;
    this.colour = h('select', { 'aria-label': 'Colours', onchange: () => app.update({ colour: this.colour.value }) });
    for (const [value, text] of [['kind', 'by kind of frame'], ['package', 'by package'], ['mine', 'mine and the rest']]) this.colour.append(h('option', { value }, text));
    this.mine = h('input', { type: 'text', placeholder: 'com.acme.', 'aria-label': 'Prefix of my code', spellcheck: 'false', onchange: () => app.update({ mine: this.mine.value.trim() }) });
    return h(
      'details',
      { class: 'menu' },
      h('summary', null, 'View'),
      h(
        'div',
        { class: 'sheet' },
        this.check('Root below (f)', 'flame'),
        this.check('Order by name (o)', 'byName'),
        this.check('Merge generated names (g)', 'merge'),
        this.check('Fold recursion (r)', 'fold'),
        (this.baseShape = this.check('Shape of the base (b)', 'baseShape')),
        (this.rate = this.check('Weight per second instead of shares', 'rate')),
        h('label', null, 'Colours ', this.colour),
        h('label', null, 'Mine ', this.mine),
        button('Fold what is not mine', () => app.addChip('mine', this.mine.value.trim())),
        button('Light or dark (l)', () => app.toggleTheme()),
      ),
    );
  }

  moreMenu() {
    const { app } = this;
    this.file = h('input', { type: 'file', 'aria-label': 'Compare with another capture', accept: '.html,.collapsed,.txt,.folded', onchange: () => this.file.files[0] && app.compareWith(this.file.files[0]) });
    return h(
      'details',
      { class: 'menu' },
      h('summary', null, 'Save'),
      h(
        'div',
        { class: 'sheet' },
        button('Copy link to this view', () => app.copyLink()),
        button('Copy folded line', () => app.copyFolded()),
        button('Copy table', () => app.copyTable()),
        button('Save as SVG', () => app.saveSvg()),
        button('Save as PNG', () => app.savePng()),
        button('Save as folded text', () => app.saveFolded()),
        button('Print', () => print()),
        h('label', null, 'Compare with a base capture ', this.file),
      ),
    );
  }

  closeMenus() {
    const open = this.menus.filter((menu) => menu.open);
    for (const menu of open) menu.open = false;
    return open.length > 0;
  }

  show() {
    const { app } = this;
    const { state } = app;
    for (const tab of this.tabs.children) {
      const on = tab.dataset.view === state.view;
      tab.setAttribute('aria-selected', String(on));
      tab.tabIndex = on ? 0 : -1;
    }
    for (const [field, box] of Object.entries(this.boxes)) box.checked = state[field];
    this.baseShape.hidden = !app.result.comparing;
    this.rate.hidden = !app.result.comparing || !app.rates();
    this.colour.value = state.colour;
    if (document.activeElement !== this.mine) this.mine.value = state.mine;
    this.showChips();
  }

  showChips() {
    const { app } = this;
    const { state, result } = app;
    const chips = state.chips.map((chip, i) => {
      const told = result.chips.find((entry) => entry.chip === chip);
      const what = chip.text[0] === '=' ? chip.text.slice(1) : chip.text;
      const text = `${VERB_WORDS.get(chip.verb)} ${visible(clip(what, 60))}`;
      const effect = told ? `${formatShare(told.gone, told.whole)} hidden` : '';
      return h('span', { class: 'chip' }, h('bdi', null, text), effect ? h('small', null, ' ' + effect) : null, button(`Remove filter: ${text}`, () => app.update({ chips: state.chips.filter((_, k) => k !== i) }), { class: 'plain' }, '×'));
    });
    const flag = (on, text, off) => on && chips.push(h('span', { class: 'chip' }, text, button(`Remove filter: ${text}`, () => app.update(off), { class: 'plain' }, '×')));
    flag(state.range, 'time range', { range: null, base: null });
    flag(state.threads, state.threads && `${formatCount(state.threads.length)} thread name${state.threads.length === 1 ? '' : 's'}`, { threads: null });
    flag(state.states, state.states && (state.states.map((n) => STATES[n]).join(', ') || 'no state'), { states: null });
    flag(state.fold, 'recursion folded', { fold: false });
    flag(state.merge, 'generated names merged', { merge: false });
    flag(state.split, 'split by thread', { split: false });
    if (app.undo.past.length || app.undo.future.length) {
      chips.push(button('Undo', () => app.undoStep(), { class: 'plain', disabled: !app.undo.past.length }), button('Redo', () => app.redoStep(), { class: 'plain', disabled: !app.undo.future.length }));
    }
    this.chips.hidden = !chips.length;
    this.chips.replaceChildren(...chips);
  }

  fillHelp() {
    const { app } = this;
    const counts = new Map();
    const { tree } = app.result;
    for (let i = 1; i < tree.size; i++) if (app.shown.self[i] > 0) counts.set(tree.kind[i], (counts.get(tree.kind[i]) || 0) + app.shown.selfSamplesOf(i));
    const legend = [...counts.entries()]
      .sort((a, b) => b[1] - a[1])
      .map(([kind, samples]) => {
        const swatch = h('i', { class: 'swatch' });
        swatch.style.background = kindColour(kind, '', app.dark);
        return h('li', null, swatch, `${KINDS[kind] || 'other'}: ${formatCount(samples)} samples (self), ${formatShare(samples, app.shown.samplesOf(0))}`);
      });
    const keys = KEYS.map(([names, text]) => h('li', null, ...names.flatMap((name, i) => [i ? ' ' : '', h('kbd', null, name.replace('Arrow', ''))]), ' ' + text));
    const compared = app.result.comparing ? [h('h3', null, 'Comparison'), h('p', null, 'Orange: more than in the base. Blue: less. Pale: some evidence, full: strong, grey: not distinguishable. Hatched: only on one side. Widths are shares of each side’s own total.')] : [];
    this.help.replaceChildren(
      h('div', { class: 'panel-head' }, h('h2', null, 'Keys and colours'), button('Close', () => this.help.close(), { class: 'plain' }, '×')),
      h('h3', null, 'Colours by kind of frame'),
      h('ul', { class: 'legend' }, ...legend),
      ...compared,
      h('h3', null, 'Search'),
      h('p', null, 'Plain text ignores case until a capital letter is typed. /expression/ is a regular expression; name: class: pkg: look at one part of the name.'),
      h('h3', null, 'Keys'),
      h('ul', { class: 'keys' }, ...keys),
      h('p', { class: 'hint' }, 'Wheel scrolls, Ctrl+wheel or pinch zooms at the pointer, drag pans, double click zooms to a box.'),
      h('h3', null, 'Capture'),
      h('dl', null, ...app.allFacts().flatMap(([label, value]) => [h('dt', null, label), h('dd', null, h('bdi', null, visible(clip(value, 1000))))])),
    );
  }
}

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The frame around the views: title, tabs, menus, chips, help.
import { button, h, listen, refill } from '../dom/dom.js';
import { KEYS } from './keys.js';
import { COLOUR_WORDS, foldPackages, onlyMine, toggleOnlyMine } from './packages.js';
import { clip, visible } from '../data/names.js';
import { formatCount, formatShare } from '../data/numbers.js';
import { CAPTURE_ENDINGS } from './library.js';
import { STATES } from '../views/strip.js';

const TABS = [['graph', 'Graph'], ['callers', 'Callers'], ['sandwich', 'Sandwich'], ['table', 'Table'], ['tree', 'Tree'], ['chart', 'Flame chart']];
const VERB_WORDS = new Map([['keep', 'only stacks with'], ['drop', 'without stacks with'], ['start', 'starting at'], ['hide', 'hidden'], ['mine', 'mine'], ['only', 'only my code:'], ['fold', 'folded']]);

export class Chrome {
  constructor(app) {
    this.app = app;
    this.tabs = h('div.tabs', { role: 'tablist', alt: 'Views' });
    for (const [id, label] of TABS) this.tabs.append(h('button', { type: 'button', role: 'tab', 'data-view': id, onclick: () => app.go(id) }, label));
    this.chips = h('div.chips', { alt: 'Filters' });
    this.title = h('h1', h('bdi', ''));
    this.facts = h('p.capture');
    this.warning = h('p.warning', { hidden: true });
    this.header = h('header', h('div.titles', this.title, this.facts));
    this.menus = [this.viewMenu(), this.moreMenu()];
    this.toolbar = h('nav.toolbar', { alt: 'Views and search' }, this.tabs, app.searchBox.element, h('div.actions', ...this.menus, button('Threads', () => app.togglePanel(), { title: 'Threads and states (t)' }), button('Help', () => app.toggleHelp(), { title: 'Keys and colours (?)' }, '?')));
    this.help = h('dialog.help', { alt: 'Keys and colours' });
    listen(this.help, 'close', () => (app.helpOpen = false));
  }

  check(label, which, title) {
    const box = h('input', { type: 'checkbox', onchange: () => this.app.update({ [which]: box.checked }) });
    this.boxes = this.boxes || {};
    this.boxes[which] = box;
    return h('label', { title }, box, ' ' + label);
  }

  // Two steps of one choice: the second holds the first.
  rootsCheck(label, on, off) {
    const box = h('input', { type: 'checkbox', onchange: () => this.app.setRoots(box.checked ? on : off) });
    this.rootBoxes = { ...this.rootBoxes, [on]: box };
    return h('label', box, ' ' + label);
  }

  viewMenu() {
    const { app } = this;
    this.colour = h('select', { alt: 'Colours', onchange: () => app.update({ colour: this.colour.value }) });
    for (const [value, text] of Object.entries(COLOUR_WORDS)) this.colour.append(h('option', { value }, text));
    this.mine = h('input', { type: 'text', placeholder: 'com.acme.', alt: 'Prefix of my code', title: 'Guessed from the widest packages that are of no known library; commas between several', spellcheck: 'false', onchange: () => app.update({ mine: this.mine.value.trim() }) });
    this.packages = h('input', { type: 'text', placeholder: 'org.springframework.', alt: 'Packages to fold', title: 'Prefixes of packages, with commas between them; each becomes one box where it is called', spellcheck: 'false', onchange: () => this.foldTyped() });
    return h(
      'details.menu',
      h('summary', 'View'),
      h(
        'div.sheet',
        this.check('Root below (f)', 'flame'),
        this.check('Order by name (o)', 'byName'),
        this.check('Merge generated names (g)', 'merge'),
        this.check('Fold recursion (r)', 'fold'),
        this.rootsCheck('Start at Java (j)', 'java', 'all'),
        this.rootsCheck('Fold pools and executors too', 'pools', 'java'),
        this.check('Time as heat cells (e)', 'heat'),
        (this.baseShape = this.check('Shape of the base (b)', 'baseShape')),
        (this.bySelf = this.check('Colours of the comparison by self (y)', 'bySelf')),
        (this.rate = this.check('Weight per second instead of shares', 'rate')),
        h('label', 'Colours ', this.colour),
        h('label', 'Mine ', this.mine),
        h('label', (this.only = h('input', { type: 'checkbox', onchange: () => toggleOnlyMine(app) })), ' Only my code (m)'),
        h('label', 'Fold ', this.packages),
        button('Fold what is not mine', () => app.addChip('mine', this.mine.value.trim())),
        button('Light or dark (l)', () => app.toggleTheme()),
      ),
    );
  }

  foldTyped() {
    foldPackages(this.app, this.packages.value);
    this.packages.value = '';
  }

  moreMenu() {
    const { app } = this;
    this.file = h('input', { type: 'file', alt: 'Compare with another capture', accept: CAPTURE_ENDINGS, onchange: () => this.file.files[0] && app.compareWith(this.file.files[0]) });
    return h(
      'details.menu',
      h('summary', 'Save'),
      h(
        'div.sheet',
        button('Copy link to this view', () => app.copyLink()),
        button('Copy folded line', () => app.copyFolded()),
        button('Copy table', () => app.copyTable()),
        button('Copy as Markdown', () => app.copyPrompt(), { title: 'What is selected, for a ticket or an assistant' }),
        button('Save as SVG', () => app.saveSvg()),
        button('Save as PNG', () => app.savePng()),
        button('Save as folded text', () => app.saveFolded()),
        button('Print', () => print()),
        h('label.file', 'Open another capture ', (this.others = h('input', { type: 'file', multiple: true, alt: 'Open another capture', accept: CAPTURE_ENDINGS, onchange: () => app.library.open([...this.others.files]) }))),
        h('label.file', 'Compare with a base capture ', this.file),
      ),
    );
  }

  closeMenus() {
    const open = [...this.menus, this.app.views.graph.crumbs.menu].filter((menu) => menu.open);
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
      // On a phone the tabs may be wider than the page.
      if (on && this.tabs.scrollWidth > this.tabs.clientWidth) this.tabs.scrollLeft = tab.offsetLeft - this.tabs.offsetLeft;
    }
    for (const [which, box] of Object.entries(this.boxes)) box.checked = state[which];
    this.only.checked = onlyMine(app);
    this.rootBoxes.java.checked = state.roots !== 'all';
    this.rootBoxes.pools.checked = state.roots === 'pools';
    this.baseShape.hidden = this.bySelf.hidden = !app.result.comparing;
    this.rate.hidden = !app.result.comparing || !app.rates();
    this.colour.value = app.colouring;
    if (app.shadow.activeElement !== this.mine) this.mine.value = app.mine;
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
      return h('span.chip', h('bdi', text), effect ? h('small', ' ' + effect) : null, button(`Remove filter: ${text}`, () => app.update({ chips: state.chips.filter((_, k) => k !== i) }), { class: 'plain' }, '×'));
    });
    const flag = (on, text, off) => on && chips.push(h('span.chip', text, button(`Remove filter: ${text}`, () => app.update(off), { class: 'plain' }, '×')));
    flag(state.range, 'time range', { range: null, base: null });
    flag(state.threads, state.threads && `${formatCount(state.threads.length)} thread name${state.threads.length === 1 ? '' : 's'}`, { threads: null });
    flag(state.states, state.states && (state.states.map((n) => STATES[n]).join(', ') || 'no state'), { states: null });
    flag(state.fold, 'recursion folded', { fold: false });
    flag(state.merge, 'generated names merged', { merge: false });
    flag(state.roots !== 'java' && app.pipeline.foldedRoots({ roots: 'pools' }), state.roots === 'all' ? 'thread start shown' : 'pools and executors folded', { roots: 'java' });
    flag(state.split, 'split by thread', { split: false });
    if (app.undo.past.length || app.undo.future.length) {
      chips.push(button('Undo', () => app.undoStep(), { class: 'plain', disabled: !app.undo.past.length }), button('Redo', () => app.redoStep(), { class: 'plain', disabled: !app.undo.future.length }));
    }
    this.chips.hidden = !chips.length;
    refill(this.chips, ...chips);
  }

  fillHelp() {
    const { app } = this;
    const legend = app.details.legend.forHelp();
    const keys = KEYS.map(([names, text]) => h('li', ...names.flatMap((name, i) => [i ? ' ' : '', h('kbd', name.replace('Arrow', ''))]), ' ' + text));
    const compared = app.result.comparing ? [h('h3', 'Comparison'), h('p', 'Orange: more than in the base. Blue: less. Pale: some evidence, full: strong, grey: not distinguishable. Hatched: only on one side. Colours tell of the total, or of self weight (y). Widths are shares of each side’s own total.')] : [];
    refill(this.help,
      h('div.panel-head', h('h2', 'Keys and colours'), button('Close', () => this.help.close(), { class: 'plain' }, '×')),
      ...legend,
      ...compared,
      h('h3', 'Search'),
      h('p', 'Plain text ignores case until a capital letter is typed. /expression/ is a regular expression; name: class: pkg: look at one part of the name.'),
      h('h3', 'Keys'),
      h('ul.keys', ...keys),
      h('p.hint', 'Wheel scrolls, Ctrl+wheel or pinch zooms at the pointer, drag pans, double click zooms to a box.'),
      h('h3', 'Capture'),
      h('dl', ...app.allFacts().flatMap(([label, value]) => [h('dt', label), h('dd', h('bdi', visible(clip(value, 1000))))])),
    );
  }
}

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The table of methods: self, total, share; with two captures also what changed and how surely.
import { passing, twoSided } from '../data/compare.js';
import { h, refill } from '../dom/dom.js';
import { visible } from '../data/names.js';
import { formatCount, formatPoints, formatShare, formatWeight, plural } from '../data/numbers.js';
import { VirtualList } from '../dom/virtual.js';

const PLAIN = [
  ['self', 'Self', 'Weight in the method itself'],
  ['total', 'Total', 'Weight in the method and all it called; recursion counts once'],
  ['samples', 'Samples', 'Samples behind the total'],
  ['name', 'Method', ''],
];
const COMPARED = [
  ['change', 'Change', 'Difference of the shares of total, in percentage points'],
  ['before', 'Base', 'Share of total in the base'],
  ['total', 'New', 'Share of total in the new capture'],
  ['samples', 'Samples', 'Samples behind the total: base and new'],
  ['name', 'Method', ''],
];

export class TableView {
  constructor(app) {
    this.app = app;
    this.id = 'table';
    this.sort = { key: 'self', down: true };
    this.filter = h('input', {
      type: 'search',
      class: 'filter',
      placeholder: 'Filter methods',
      alt: 'Filter methods',
      oninput: () => this.arrange(),
    });
    this.only = h('select', { alt: 'Which methods', onchange: () => this.arrange() });
    for (const [value, text] of [['all', 'All'], ['changed', 'Changed'], ['gone', 'Gone'], ['new', 'New']]) this.only.append(h('option', { value }, text));
    this.head = h('div.table-head', { role: 'row' });
    this.list = new VirtualList({ role: 'rowgroup', class: 'table' }, 24, (i) => this.row(i));
    this.note = h('span.note');
    this.grid = h('div', { role: 'table', class: 'grid', alt: 'Methods', tabindex: '0' }, h('div', { role: 'rowgroup' }, this.head), this.list.element);
    this.element = h('section.view', { alt: 'Table of methods' }, h('div.tools', this.filter, this.only, this.note), this.grid);
    this.order = [];
  }

  show() {
    const { app } = this;
    if (this.made !== app.result) {
      this.made = app.result;
      this.sums = app.result.measures.map((measure) => app.methods(measure));
      this.judge();
      this.sort = { key: app.result.comparing ? 'change' : 'self', down: true };
    }
    this.list.rowHeight = app.rowHeight + 4;
    this.arrange();
  }

  get last() {
    return this.sums[this.sums.length - 1];
  }

  judge() {
    const { app } = this;
    this.verdicts = null;
    if (!app.result.comparing) return;
    const judgeName = app.pipeline.nameEvidence(app.result, app.state, this.sums);
    this.verdicts = new Map();
    const tests = [];
    for (let n = 0; n < app.pipeline.names.length; n++) {
      if (!this.sums[0].total[n] && !this.sums[1].total[n]) continue;
      const verdict = judgeName(n);
      this.verdicts.set(n, verdict);
      if (!verdict.few) tests.push({ key: n, p: twoSided(verdict.z) });
    }
    this.changed = passing(tests);
  }

  // What a column of a method is worth, for sorting and showing.
  value(n, key) {
    const whole = this.app.result.measures.map((m) => m.total[0] || 1);
    if (key === 'name') return this.app.pipeline.names[n];
    if (key === 'self') return this.last.self[n];
    if (key === 'before') return this.sums[0].total[n] / whole[0];
    if (key === 'change') return Math.abs(this.verdicts.get(n).difference);
    if (key === 'samples') return this.last.samplesOf(n);
    return this.app.result.comparing ? this.last.total[n] / whole[1] : this.last.total[n];
  }

  arrange() {
    const { names } = this.app.pipeline;
    const wanted = this.filter.value.trim().toLowerCase();
    const only = this.verdicts ? this.only.value : 'all';
    this.only.hidden = !this.verdicts;
    const order = [];
    for (let n = 0; n < names.length; n++) {
      const some = this.sums.some((sum) => sum.total[n] > 0);
      if (!some || (wanted && !names[n].toLowerCase().includes(wanted))) continue;
      if (only === 'changed' && !this.changed.has(n)) continue;
      if (only === 'gone' && this.last.total[n] > 0) continue;
      if (only === 'new' && this.sums[0].total[n] > 0) continue;
      order.push(n);
    }
    const { key, down } = this.sort;
    const sign = down ? -1 : 1;
    const values = key === 'name' ? names : null;
    const keyed = values ? null : new Map(order.map((n) => [n, this.value(n, key)]));
    order.sort((a, b) => (values ? (values[a] < values[b] ? -1 : 1) * -sign : sign * (keyed.get(a) - keyed.get(b)) || this.last.total[b] - this.last.total[a]));
    this.order = order;
    this.fillHead();
    this.note.textContent = this.summary();
    this.grid.setAttribute('aria-rowcount', order.length + 1);
    this.list.setCount(order.length);
  }

  summary() {
    const { app } = this;
    const all = plural(this.order.length, 'method');
    if (!this.verdicts) return all;
    const timed = app.result.nameSums.every(Boolean);
    const marked = `${formatCount(this.changed.size)} changed (5 % false discovery rate)`;
    return `${all}, ${marked}${timed ? '' : ' · without time slices: assumes independent samples, never the full shade'}`;
  }

  fillHead() {
    const columns = this.verdicts ? COMPARED : PLAIN;
    const cells = columns.map(([key, title, tip]) => {
      const active = this.sort.key === key;
      const sort = () => {
        this.sort = { key, down: active ? !this.sort.down : true };
        this.arrange();
      };
      const cell = h('button', { type: 'button', onclick: sort, title: tip || title }, title, active ? (this.sort.down ? ' ↓' : ' ↑') : '');
      return h('div', { role: 'columnheader', class: 'cell ' + key, 'aria-sort': active ? (this.sort.down ? 'descending' : 'ascending') : 'none' }, cell);
    });
    refill(this.head, ...cells);
  }

  row(index) {
    const { app } = this;
    const n = this.order[index];
    const name = app.pipeline.names[n];
    const cells = this.verdicts ? this.comparedCells(n) : this.plainCells(n);
    const row = h(
      'div',
      {
        role: 'row',
        class: 'table-row' + (n === app.chosen.name ? ' selected' : ''),
        'aria-rowindex': index + 2,
        'aria-selected': n === app.chosen.name ? 'true' : null,
        onclick: () => app.selectName(n),
        ondblclick: () => app.go('sandwich', n),
      },
      ...cells,
      h('div', { role: 'cell', class: 'cell name', title: visible(name.slice(0, 4000)) }, h('bdi', { class: app.nameClass(n) }, visible(name.slice(0, 1000)) || '(empty name)')),
    );
    return row;
  }

  plainCells(n) {
    const { app } = this;
    const whole = app.shown.total[0];
    const { unit } = app;
    const cell = (kind, part) => {
      const bar = h('i.bar');
      bar.style.width = (100 * part) / (whole || 1) + '%';
      const weight = part && formatWeight(part, unit);
      return h('div', { role: 'cell', class: 'cell ' + kind }, bar, h('span', formatShare(part, whole)), weight ? h('small', weight) : null);
    };
    return [cell('self', this.last.self[n]), cell('total', this.last.total[n]), h('div.cell samples', { role: 'cell' }, formatCount(this.last.samplesOf(n)))];
  }

  comparedCells(n) {
    const verdict = this.verdicts.get(n);
    const sure = this.changed.has(n);
    const word = verdict.few ? 'too few' : sure ? 'changed' : '';
    const gone = !this.last.total[n] ? ' gone' : !this.sums[0].total[n] ? ' new' : '';
    const cell = (kind, ...text) => h('div', { role: 'cell', class: 'cell ' + kind }, ...text);
    return [
      cell('change' + (sure ? (verdict.difference > 0 ? ' more' : ' less') : ''), formatPoints(verdict.difference), h('small', word + gone)),
      cell('before', formatShare(verdict.pa, 1)),
      cell('total', formatShare(verdict.pb, 1)),
      cell('samples', `${formatCount(this.sums[0].samplesOf(n))} → ${formatCount(this.last.samplesOf(n))}`),
    ];
  }

  // Arrow keys.
  move(step) {
    const at = this.order.indexOf(this.app.chosen.name);
    const next = Math.max(0, Math.min(this.order.length - 1, at + step));
    if (!this.order.length) return;
    this.app.selectName(this.order[next]);
    this.list.reveal(next);
  }

  redraw() {
    this.list.draw();
  }

  text() {
    const lines = [this.verdicts ? 'change\tbase\tnew\tmethod' : 'self\ttotal\tself samples\tsamples\tmethod'];
    const clean = (name) => name.replace(/[\t\r\n]/g, ' ');
    for (const n of this.order) {
      const name = clean(this.app.pipeline.names[n]);
      if (this.verdicts) {
        const v = this.verdicts.get(n);
        lines.push([v.difference, v.pa, v.pb, name].join('\t'));
      } else lines.push([this.last.self[n], this.last.total[n], this.last.selfSamplesOf(n), this.last.samplesOf(n), name].join('\t'));
    }
    return lines.join('\n') + '\n';
  }
}

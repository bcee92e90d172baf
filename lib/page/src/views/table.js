// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The table of methods: self, total, share; with two captures also what changed and how surely.
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
  ['selfchange', 'Self change', 'Difference of the shares of self weight, in percentage points, with its 95 % range'],
  ['change', 'Total change', 'Difference of the shares of total, in percentage points, with its 95 % range'],
  ['before', 'Base', 'Share of total in the base; self beside it'],
  ['total', 'New', 'Share of total in the new capture; self beside it'],
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
      this.verdicts = app.result.comparing ? app.verdicts() : null;
      this.sort = { key: app.result.comparing ? 'selfchange' : 'self', down: true };
    }
    this.list.rowHeight = app.rowHeight + 4;
    this.arrange();
  }

  get last() {
    return this.sums[this.sums.length - 1];
  }

  // What a column of a method is worth, for sorting and showing.
  value(n, key) {
    const whole = this.app.result.measures.map((m) => m.total[0] || 1);
    if (key === 'name') return this.app.pipeline.names[n];
    if (key === 'self') return this.last.self[n];
    if (key === 'before') return this.sums[0].total[n] / whole[0];
    if (key === 'selfchange') return Math.abs(this.verdicts.get(n).self.difference);
    if (key === 'change') return Math.abs(this.verdicts.get(n).total.difference);
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
      if (only === 'changed' && !this.verdicts.isClear(n)) continue;
      if (only === 'gone' && this.last.total[n] > 0) continue;
      if (only === 'new' && this.sums[0].total[n] > 0) continue;
      order.push(n);
    }
    const { key, down } = this.sort;
    const sign = down ? -1 : 1;
    const values = key === 'name' ? names : null;
    const keyed = values ? null : new Map(order.map((n) => [n, this.value(n, key)]));
    const rank = key === 'selfchange' && down ? (n) => this.verdicts.rank(n) : () => 0;
    const tie = (a, b) => (this.verdicts ? this.value(b, 'change') - this.value(a, 'change') : 0) || this.last.total[b] - this.last.total[a];
    order.sort((a, b) => (values ? (values[a] < values[b] ? -1 : 1) * -sign : rank(b) - rank(a) || sign * (keyed.get(a) - keyed.get(b)) || tie(a, b)));
    this.order = order;
    this.fillHead();
    this.note.textContent = this.summary();
    this.grid.setAttribute('aria-rowcount', order.length + 1);
    this.list.setCount(order.length);
  }

  summary() {
    const all = plural(this.order.length, 'method');
    if (!this.verdicts) return all;
    const marked = `${formatCount(this.verdicts.clear.length)} changed (5 % false discovery rate)`;
    return `${all}, ${marked}${this.verdicts.sliced ? '' : ' · without time slices: assumes independent samples, never the full shade'}`;
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
        class: 'table-row' + (n === app.chosen.name ? ' selected' : '') + (this.verdicts && !this.verdicts.isClear(n) ? ' unclear' : ''),
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
    const { verdicts } = this;
    const { self, total } = verdicts.get(n);
    const word = self.few && total.few ? 'too few' : verdicts.isClear(n) ? 'changed' : 'unclear';
    const side = verdicts.isGone(n) ? ' gone' : verdicts.isNew(n) ? ' new' : '';
    const cell = (kind, ...text) => h('div', { role: 'cell', class: 'cell ' + kind }, ...text);
    const change = (kind, verdict, sure, ...more) => cell(kind + (sure ? (verdict.difference > 0 ? ' more' : ' less') : ''), h('span', `${formatPoints(verdict.difference)} `, h('small', '± ' + (196 * verdict.error).toFixed(2))), ...more);
    const share = (kind, whole, own) => cell(kind, formatShare(whole, 1), h('small', own ? 'self ' + formatShare(own, 1) : ''));
    return [
      change('selfchange', self, verdicts.changedSelf(n), h('small.word', word + side)),
      change('change', total, verdicts.changedTotal(n)),
      share('before', total.pa, self.pa),
      share('total', total.pb, self.pb),
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
    const lines = [this.verdicts ? 'self change\tself error\ttotal change\ttotal error\tself base\tself new\tbase\tnew\tmethod' : 'self\ttotal\tself samples\tsamples\tmethod'];
    const clean = (name) => name.replace(/[\t\r\n]/g, ' ');
    for (const n of this.order) {
      const name = clean(this.app.pipeline.names[n]);
      if (this.verdicts) {
        const { self, total } = this.verdicts.get(n);
        lines.push([self.difference, self.error, total.difference, total.error, self.pa, self.pb, total.pa, total.pb, name].join('\t'));
      } else lines.push([this.last.self[n], this.last.total[n], this.last.selfSamplesOf(n), this.last.samplesOf(n), name].join('\t'));
    }
    return lines.join('\n') + '\n';
  }
}

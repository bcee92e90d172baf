// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Threads by weight, and thread states: which of them count.
import { button, h, refill } from '../dom/dom.js';
import { hashText, visible } from '../data/names.js';
import { formatCount, formatShare, plural } from '../data/numbers.js';
import { poolNamer } from '../data/pools.js';
import { weightOf } from '../data/selection.js';
import { STATES } from '../views/strip.js';
import { VirtualList } from '../dom/virtual.js';

export class ThreadPanel {
  constructor(app) {
    this.app = app;
    this.filter = h('input', { type: 'search', placeholder: 'Filter threads', alt: 'Filter threads', oninput: () => this.arrange() });
    this.group = h('input', { type: 'checkbox', onchange: () => app.update({ pooled: this.group.checked }, 'replace') });
    this.pools = h('input', {
      type: 'text',
      class: 'pools',
      placeholder: 'Patterns: http-nio-#, G1 *',
      alt: 'Patterns of pools',
      title: '# is a number, * is anything, commas between several; other threads are grouped by the numbers in their names',
      spellcheck: 'false',
      onchange: () => app.update({ pools: this.pools.value.trim() }, 'replace'),
    });
    this.split = h('input', { type: 'checkbox', onchange: () => app.update({ split: this.split.checked }) });
    this.list = new VirtualList({ role: 'list', class: 'threads', alt: 'Threads' }, matchMedia('(pointer: coarse)').matches ? 46 : 28, (i) => this.row(i));
    this.states = h('div.states', { role: 'group', alt: 'States' });
    this.why = h('p.hint');
    this.element = h(
      'aside.panel',
      { alt: 'Threads and states', hidden: true },
      h('div.panel-head', h('h2', 'Threads'), button('Close', () => app.togglePanel(), { class: 'plain' }, '×')),
      this.why,
      (this.body = h(
        'div.panel-body',
        h('div.tools', this.filter, button('All', () => this.choose(null)), button('None', () => this.choose([]))),
        h('div.tools', h('label', this.group, ' group by pool'), h('label', this.split, ' split in graph'), this.pools),
        this.states,
        this.list.element,
      )),
    );
  }

  get side() {
    return this.app.source.sides[this.app.source.sides.length - 1];
  }

  count() {
    const { timed, threads } = this.side;
    const weight = weightOf(this.side);
    this.weight = new Float64Array(threads.length);
    this.samples = new Float64Array(threads.length);
    this.byState = new Float64Array(STATES.length);
    for (let s = 0; s < timed.count; s++) {
      const n = timed.repeat ? timed.repeat[s] : 1;
      this.weight[timed.thread[s]] += weight(s);
      this.samples[timed.thread[s]] += n;
      this.byState[Math.min(timed.state[s], STATES.length - 1)] += n;
    }
    this.counted = this.side;
  }

  show() {
    const possible = this.side.timed && this.side.threads.length > 0;
    this.body.hidden = !possible;
    this.why.hidden = Boolean(possible);
    if (!possible) {
      this.why.textContent = this.side.timed ? 'This capture has no thread names.' : 'This capture has no times and threads per sample: its source (folded text, for example) holds sums only.';
      return;
    }
    if (this.counted !== this.side) this.count();
    const { state, shadow } = this.app;
    this.split.checked = state.split;
    this.group.checked = state.pooled;
    this.pools.hidden = !state.pooled;
    if (shadow.activeElement !== this.pools) this.pools.value = state.pools;
    this.arrange();
    this.fillStates();
  }

  arrange() {
    const { state, shadow } = this.app;
    const wanted = this.filter.value.trim().toLowerCase();
    const poolOf = poolNamer(state);
    const groups = new Map();
    this.side.threads.forEach((name, i) => {
      if (wanted && !name.toLowerCase().includes(wanted)) return;
      const key = poolOf(name);
      const group = groups.get(key) || { label: key, names: new Set(), count: 0, weight: 0, samples: 0 };
      group.names.add(name);
      group.count++;
      group.weight += this.weight[i];
      group.samples += this.samples[i];
      groups.set(key, group);
    });
    this.groups = [...groups.values()].sort((a, b) => b.weight - a.weight || (a.label < b.label ? -1 : 1));
    // Rows are made anew: the keyboard stays at its button.
    const focused = this.list.element.contains(shadow.activeElement) ? shadow.activeElement.getAttribute('aria-label') : null;
    this.list.setCount(this.groups.length);
    if (focused) [...this.list.element.querySelectorAll('button')].find((one) => one.getAttribute('aria-label') === focused)?.focus();
  }

  isOn(name) {
    const { threads } = this.app.state;
    return !threads || threads.includes(hashText(name).toString(36));
  }

  choose(names) {
    this.app.update({ threads: names && names.map((name) => hashText(name).toString(36)) });
  }

  set(group, on) {
    const chosen = new Set(this.side.threads.filter((name) => this.isOn(name)));
    for (const name of group.names) on ? chosen.add(name) : chosen.delete(name);
    this.choose(chosen.size === new Set(this.side.threads).size ? null : [...chosen]);
  }

  // Whether a group is all that counts.
  isSolo(group) {
    return this.app.state.threads !== null && this.side.threads.every((name) => this.isOn(name) === group.names.has(name));
  }

  // Alone, and back to what counted before.
  solo(group) {
    if (this.isSolo(group)) {
      this.app.update({ threads: this.beforeSolo ?? null });
      this.beforeSolo = null;
      return;
    }
    if (!this.groups.some((other) => this.isSolo(other))) this.beforeSolo = this.app.state.threads;
    this.choose([...group.names]);
  }

  row(index) {
    const group = this.groups[index];
    const whole = this.weight.reduce((sum, w) => sum + w, 0);
    const on = [...group.names].filter((name) => this.isOn(name)).length;
    const solo = this.isSolo(group);
    const label = visible(group.label.slice(0, 300)) || '(unnamed thread)';
    const share = formatShare(group.weight, whole);
    const muted = on === 0 ? 'true' : on < group.names.size ? 'mixed' : 'false';
    const toggle = (word, pressed, work) => button(`${word} ${label}`, work, { class: 'plain toggle', 'aria-pressed': pressed }, word.toLowerCase());
    return h(
      'div',
      { role: 'listitem', class: 'table-row' + (on ? '' : ' muted'), alt: `${label}, ${plural(group.count, 'thread')}, ${share}${on ? '' : ', muted'}` },
      h('span.cell name', { title: label }, h('bdi', label), group.count > 1 ? h('small', plural(group.count, 'thread')) : null),
      toggle('Solo', String(solo), () => this.solo(group)),
      toggle('Mute', muted, () => this.set(group, on === 0)),
      h('span.cell samples', { title: formatCount(group.samples) + ' samples' }, share),
    );
  }

  fillStates() {
    const { states } = this.app.state;
    const present = STATES.map((_, n) => n).filter((n) => this.byState[n] > 0);
    this.states.hidden = present.length < 2;
    refill(this.states,
      ...present.map((n) => {
        const box = h('input', { type: 'checkbox', onchange: () => this.toggleState(n, present) });
        box.checked = !states || states.includes(n);
        return h('label', box, h('i.state s' + n), ` ${STATES[n]} `, h('small', formatCount(this.byState[n])));
      }),
    );
  }

  toggleState(n, present) {
    const on = new Set(this.app.state.states || present);
    if (!on.delete(n)) on.add(n);
    this.app.update({ states: on.size === present.length ? null : [...on].sort((a, b) => a - b) });
  }
}

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What is known about the selected box or method, and what can be done with it; the tooltip.
import { button, h, refill } from '../dom/dom.js';
import { nodeEvidence } from '../data/evidence.js';
import { KINDS, clip, visible } from '../data/names.js';
import { formatCount, formatPoints, formatShare, formatWeight, plural } from '../data/numbers.js';
import { Legend } from './legend.js';
import { foldPackageOfSelected } from './packages.js';

export class Details {
  constructor(app) {
    this.app = app;
    this.legend = new Legend(app);
    this.name = h('bdi.full');
    this.facts = h('div.facts');
    const verb = (label, key, run) => button(label, run, { 'data-verb': key });
    this.verbs = h(
      'div.verbs',
      verb('Zoom', 'zoom', () => app.zoomSelected()),
      (this.open = verb('Open', 'open', () => app.openStart())),
      verb('Sandwich', 'sandwich', () => app.go('sandwich', app.chosen.name)),
      verb('Keep', 'keep', () => app.addChip('keep')),
      verb('Drop', 'drop', () => app.addChip('drop')),
      verb('Start here', 'start', () => app.addChip('start')),
      verb('Hide', 'hide', () => app.addChip('hide')),
      verb('Fold package', 'fold', () => foldPackageOfSelected(app)),
      verb('Copy', 'copy', () => app.copyStack()),
    );
    this.element = h('footer.details', { alt: 'Details' }, h('div.about', this.name, this.facts), this.verbs);
    this.tip = h('div.tip', { role: 'tooltip', hidden: true });
  }

  show() {
    const { app } = this;
    const { node, name } = app.chosen;
    this.verbs.hidden = name < 0;
    this.open.hidden = !app.isStart(app.result.tree, node);
    this.element.classList.toggle('none', name < 0);
    if (name < 0) {
      this.name.textContent = '';
      refill(this.facts, ...(app.chosen.run ? [describeRun(app, app.chosen.run), button('Zoom in', () => app.openRun(app.flame, app.chosen.run))] : this.legend.line()));
      return;
    }
    this.name.textContent = visible(clip(app.pipeline.names[name], 4000)) || '(empty name)';
    refill(this.facts, ...this.factsOf(node, name));
  }

  factsOf(node, name) {
    const { app } = this;
    const { tree } = app.result;
    const facts = [];
    const add = (label, value, extra) => facts.push(h('span.fact', h('b', label), ' ', value, extra ? h('small', ' ' + extra) : null));
    const sums = app.methods(app.shown);
    const kind = node > 0 ? tree.kind[node] : sums.kind[name];
    if (kind) facts.push(h('span.fact kind', h('i.swatch k' + kind), KINDS[kind]));
    const behind = app.pipeline.namesBehind(name, app.state);
    if (behind > 1) facts.push(h('span.fact', plural(behind, 'name')));
    if (app.chart) facts.push(...app.chart.facts());
    if (node > 0) {
      add('here', this.amount(app.shown.total[node], app.shown.samplesOf(node)), app.viewShare(node));
      add('self', this.amount(app.shown.self[node], app.shown.selfSamplesOf(node)));
      if (app.result.comparing) facts.push(...this.comparison(node));
    }
    add('in all places', this.amount(sums.total[name], sums.samplesOf(name)), `self ${formatShare(sums.self[name], app.shown.total[0])}, ${plural(sums.places[name], 'place')}`);
    return facts;
  }

  amount(weight, samples) {
    const { app } = this;
    const inUnit = weight && formatWeight(weight, app.unit);
    return `${formatShare(weight, app.shown.total[0])} · ${plural(samples, 'sample')}${inUnit ? ' · ' + inUnit : ''}`;
  }

  comparison(node) {
    const { app } = this;
    const [base, other] = app.result.measures;
    const v = nodeEvidence(app.result, app.state, 'total')(node);
    const self = nodeEvidence(app.result, app.state, 'self')(node);
    const facts = [
      `base ${formatShare(v.pa, 1)} (${plural(base.samplesOf(node), 'sample')})`,
      `new ${formatShare(v.pb, 1)} (${plural(other.samplesOf(node), 'sample')})`,
      describeChange(v),
    ];
    if (self.pa || self.pb) facts.push(`self ${formatShare(self.pa, 1)} → ${formatShare(self.pb, 1)}: ${describeChange(self)}`);
    const rate = app.rateText(node);
    if (rate) facts.push(rate);
    return facts.map((text) => h('span.fact', text));
  }

  // The tooltip beside the pointer.
  hover(view, hit, event) {
    const { app, tip } = this;
    const changed = ['node', 'row', 'left'].some((part) => (view.hovered && view.hovered[part]) !== (hit && hit[part]));
    view.hovered = hit;
    if (changed) view.redraw();
    if (!hit || event.pointerType === 'touch') {
      tip.hidden = true;
      return;
    }
    if (changed || tip.hidden || view.tipText) refill(tip, ...this.tipText(view, hit));
    tip.hidden = false;
    const x = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const below = event.clientY + 18;
    tip.style.left = Math.max(4, x) + 'px';
    tip.style.top = Math.max(4, below + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : below) + 'px';
    app.tipShown = true;
  }

  tipText(view, hit) {
    const { app } = this;
    if (view.tipText) return view.tipText(hit);
    if (hit.run) return [describeRun(app, hit.run)];
    const { tree, total } = view.model;
    const measure = tree === app.result.tree ? app.shown : tree;
    const name = tree.name[hit.node];
    const samples = measure.samplesOf(hit.node);
    const lines = [h('bdi.full', visible(clip(view.model.name(hit.node), 600)) || '(empty name)'), h('div', this.amount(total[hit.node], samples))];
    if (name >= 0) {
      const kind = tree.kind[hit.node];
      const self = measure.self[hit.node];
      lines.push(h('div.dim', `${kind ? KINDS[kind] + ' · ' : ''}self ${formatShare(self, app.shown.total[0])} · ${plural(measure.selfSamplesOf(hit.node), 'sample')}`));
    }
    if (view === app.views.graph.flame && app.isStart(tree, hit.node)) lines.push(h('div.dim', 'libc, libjvm and the launcher before the first Java method; click to see them'));
    if (app.result.comparing && tree === app.result.tree && hit.node > 0) lines.push(...this.comparison(hit.node).map((fact) => h('div.dim', fact.textContent)));
    return lines;
  }
}

function describeChange(v) {
  const strength = v.few ? 'too few samples to tell' : ['not distinguishable', 'some evidence', 'strong evidence'][v.strength];
  return `${formatPoints(v.difference)} points, 95 % range ${formatPoints(v.difference - 1.96 * v.error)} to ${formatPoints(v.difference + 1.96 * v.error)}: ${strength}`;
}

function describeRun(app, run) {
  return h('div', `${formatCount(run.frames)} ${run.frames === 1 ? 'frame' : 'frames'}, ${formatShare(run.value, app.shown.total[0])}: too narrow to draw; zoom in to see them`);
}

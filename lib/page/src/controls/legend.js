// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What the colours mean: every colour that the graph has now, with its name.
import { KINDS, clip, visible } from '../data/names.js';
import { formatCount, formatShare } from '../data/numbers.js';
import { h } from '../dom/dom.js';
import { STATES } from '../views/strip.js';
import { HEAT, belowFoundColour, evidenceColour, greyColour, heatColour, hueColour, isNeutral, kindColour, markColour, mineSwatch, ownColour, restColour, rootColour, stateColour } from '../graph/colours.js';

export class Legend {
  constructor(app) {
    this.app = app;
  }

  swatch(colour, line) {
    const swatch = h(line ? 'i.swatch own' : 'i.swatch');
    if (line) swatch.style.borderBottomColor = colour;
    else swatch.style.background = colour;
    return swatch;
  }

  // [colour, what has it, how much (or nothing)], the colours of boxes.
  boxes() {
    const { app } = this;
    const { dark } = app;
    if (app.result.comparing) {
      const what = app.state.bySelf ? 'more self than in the base' : 'more than in the base';
      return [[evidenceColour(1, 2, dark), what], [evidenceColour(1, 1, dark), 'perhaps more'], [evidenceColour(-1, 2, dark), 'less'], [evidenceColour(-1, 1, dark), 'perhaps less'], [evidenceColour(0, 0, dark), 'not distinguishable']];
    }
    if (app.colouring === 'kind') return this.kinds();
    const neutral = this.kinds().filter(([, , , kind]) => isNeutral(kind));
    if (app.colouring === 'mine') return [[mineSwatch(true, dark), app.mine ? 'mine: ' + app.mine : 'mine'], [mineSwatch(false, dark), 'the rest']];
    if (app.colouring === 'heat') return HEAT.map((step, i) => [heatColour(step, dark), (i === HEAT.length - 1 ? 'self ' : '') + step[4]]).reverse();
    if (app.colouring === 'search') return [...(app.hits ? [[belowFoundColour(dark), 'called by what was found']] : []), [restColour(dark), app.hits ? 'the rest' : 'all, until you search']];
    return [...this.groups(), ...neutral];
  }

  // Kinds that samples ended in, most first, then those that are only on the way.
  kinds() {
    const { app } = this;
    const whole = app.shown.total[0];
    const own = app.selfByKind();
    const entry = (kind, sum) => [kindColour(kind, '', app.dark), KINDS[kind] || 'other', sum ? formatShare(sum, whole) : '', kind];
    const told = new Set(own.map(([kind]) => kind));
    const passed = app.kindsShown().filter((kind) => !told.has(kind));
    return [...own.map(([kind, sum]) => entry(kind, sum)), ...passed.map((kind) => entry(kind, 0))];
  }

  // For each hue the widest packages or modules that have it: there are more of them than colours.
  groups() {
    const { app } = this;
    const sums = app.methods(app.shown);
    const { grouping } = app.colours;
    if (this.groupsOf !== sums || this.grouping !== grouping) Object.assign(this, { groupsOf: sums, grouping, groupNames: this.nameGroups(sums, grouping) });
    return this.groupNames.map(([hue, text]) => [hueColour(hue, 2, app.dark), text]);
  }

  nameGroups(sums, grouping) {
    const { app } = this;
    const { names } = app.pipeline;
    const hues = new Map();
    names.forEach((name, n) => {
      const kind = sums.kind[n];
      if (!sums.total[n] || isNeutral(kind)) return;
      const hue = app.colours.hueOf(n, kind);
      const owner = grouping.labelOf(name, n, kind) || 'native and others';
      if (!hues.has(hue)) hues.set(hue, { width: 0, owners: new Map() });
      const entry = hues.get(hue);
      entry.owners.set(owner, Math.max(entry.owners.get(owner) || 0, sums.total[n]));
      entry.width = Math.max(entry.width, sums.total[n]);
    });
    return [...hues].sort((a, b) => b[1].width - a[1].width).map(([hue, { owners }]) => {
      const widest = [...owners].sort((a, b) => b[1] - a[1]).map(([owner]) => visible(clip(owner, 40)));
      return [hue, widest.slice(0, 2).join(', ') + (widest.length > 2 ? ` and ${widest.length - 2} more` : '')];
    });
  }

  // Colours that say something of a box besides its own.
  others() {
    const { app } = this;
    const { dark } = app;
    const all = [[rootColour(dark), app.rootName], [greyColour(dark), 'too narrow to draw']];
    if (app.chart) all.splice(0, 2, ...app.chart.statesShown().map((state) => [stateColour(state, dark), `thread ${STATES[state] ?? STATES[0]}`]));
    if (app.hits) all.unshift([markColour(dark), 'found']);
    return all;
  }

  own() {
    const { app } = this;
    return app.mine ? [h('span.fact', this.swatch(ownColour(app.dark), true), h('b', visible(clip(app.mine, 100))), ' application')] : [];
  }

  // In the line below the graph.
  line() {
    const entry = ([colour, text, share]) => h('span.fact', this.swatch(colour), text, share ? h('small', ' ' + share) : null);
    return [...this.own(), ...this.boxes().map(entry), ...this.others().map(entry), h('span.fact hint', 'Select a box for its numbers, double click to zoom')];
  }

  forHelp() {
    const { app } = this;
    const { shown } = app;
    const counts = new Map(app.selfByKind().map(([kind, sum, samples]) => [kind, `: ${formatCount(samples)} samples (self), ${formatShare(sum, shown.total[0])}`]));
    const item = ([colour, text, , kind]) => h('li', this.swatch(colour), text + (counts.get(kind) || ''));
    const byKind = this.kinds();
    const boxes = app.colouring === 'kind' && !app.result.comparing ? [] : [h('h3', 'Colours now'), h('ul.legend', ...this.boxes().map(item))];
    return [...boxes, h('h3', 'Colours by kind of frame'), h('ul.legend', ...byKind.map(item), ...this.others().map(item)), h('p', ...this.own())];
  }
}

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The page: one state, one result of the pipeline, and the views that show it.
import { Chrome } from './controls/chrome.js';
import { Colours } from './graph/colours.js';
import { Commands } from './controls/commands.js';
import { warnings } from './data/compare.js';
import { Details } from './controls/details.js';
import { afterPaint, h, later, listen, oncePerFrame, refill } from './dom/dom.js';
import { bindKeys } from './controls/keys.js';
import { nodeAround, startOf } from './graph/layout.js';
import { outermostPlaces } from './data/merged.js';
import { sumMethods } from './data/methods.js';
import { KIND_THREAD, clip, hashText, visible } from './data/names.js';
import { formatCount, formatShare, formatWeight, plural } from './data/numbers.js';
import { Library } from './controls/library.js';
import { Outline } from './views/outline.js';
import { guessMine, repeatedMethods } from './data/ownership.js';
import { Pipeline } from './data/pipeline.js';
import { TreeView } from './views/rows.js';
import { SearchBox } from './controls/searchbox.js';
import { Summary } from './controls/summary.js';
import { Undo, findPath, pathHash, readFragment, writeFragment } from './data/state.js';
import { verdictsOf } from './data/verdicts.js';
import { Strip } from './views/strip.js';
import { TableView } from './views/table.js';
import { Theme } from './controls/theme.js';
import { ThreadPanel } from './controls/threads.js';
import { CallersView, GraphView, SandwichView } from './views/views.js';
import { ChartView } from './views/chart.js';

// Changes of these need a new result; the rest only a new drawing.
const DATA_FIELDS = ['chips', 'range', 'base', 'threads', 'states', 'merge', 'fold', 'split', 'pooled', 'pools', 'roots'];

export class App extends Commands {
  // captures: one, or base and other; others: what else can be shown.
  constructor(shadow, captures, others = []) {
    super();
    this.shadow = shadow;
    this.library = new Library(this, captures, others);
    this.state = readFragment(location.hash.slice(1));
    this.undo = new Undo();
    this.chosen = { name: -1, node: -1, run: null };
    this.hits = null;
    this.listener = {
      select: (view, node, run) => this.click(view, node, run),
      zoom: (view, node) => this.zoomInto(view, node),
      open: (view, run) => this.openRun(view, run),
      hover: (view, hit, event) => this.details.hover(view, hit, event),
      moved: (view) => this.moved(view),
      settled: (view) => this.settled(view, 'replace'),
    };
    this.theme = new Theme(() => this.render());
    this.tellSoon = oncePerFrame(() => this.tell());
    this.setSource(this.library.source);
    this.build();
    this.searchBox.adopt(this.state.query);
    this.recompute();
    this.adoptLink();
    this.render();
    // What selecting needs.
    afterPaint(() => {
      this.methods(this.shown);
      later(() => this.result.tree.placesOf(0));
    });
    bindKeys(this);
    listen(window, 'popstate', () => this.adoptFragment());
    listen(window, 'beforeprint', () => this.preparePrint());
    listen(window, 'afterprint', () => this.endPrint());
  }

  get dark() {
    return this.theme.dark && !this.printing;
  }

  get colouring() {
    const { colour } = this.state;
    return colour === 'kind' && !this.kindsTold ? 'package' : colour;
  }

  setTheme(choice) {
    this.theme.choose(choice);
  }

  setSource(source) {
    this.source = source;
    const pipeline = new Pipeline(source, () => this.pipeline === pipeline && this.apply({}, 'replace'));
    this.pipeline = pipeline;
    this.colours = new Colours(this.pipeline.names, source);
    // Imported text often does not tell kinds of frames: packages tell more then than one colour for all.
    const { kind, size } = source.tree;
    let told = 1;
    while (told < size && (kind[told] === 0 || kind[told] === KIND_THREAD)) told++;
    this.kindsTold = told < size;
    this.guessed = guessMine(source.names, source.tree, source.weights);
    this.repeated = repeatedMethods(source.names);
    this.hashes = [];
    this.result = null;
  }

  // What the user said is the application's code, or what looks like it.
  get mine() {
    return this.state.mine || this.guessed;
  }

  get meta() {
    return this.source.sides[this.source.sides.length - 1].meta;
  }

  get title() {
    const [a, b] = this.source.sides;
    return b ? `${b.meta.title || 'new'} compared with ${a.meta.title || 'base'}` : this.meta.title || 'capture';
  }

  get unit() {
    return this.meta.unit || '';
  }

  build() {
    this.rowHeight = matchMedia('(pointer: coarse)').matches || innerWidth < 500 ? 24 : 20;
    this.searchBox = new SearchBox(this);
    this.chrome = new Chrome(this);
    this.details = new Details(this);
    this.strip = new Strip(this);
    this.summary = new Summary(this);
    this.panel = new ThreadPanel(this);
    this.outline = new Outline(this);
    this.views = {};
    for (const View of [GraphView, CallersView, SandwichView, TableView, TreeView, ChartView]) {
      const view = new View(this);
      this.views[view.id] = view;
    }
    this.printed = h('div.printed', { 'aria-hidden': 'true' });
    this.stage = h('main.stage', ...Object.values(this.views).map((view) => view.element), this.panel.element);
    const { chrome } = this;
    this.root = h('div.page', chrome.header, this.library.tabs, this.summary.element, chrome.warning, chrome.toolbar, this.strip.element, chrome.chips, this.outline.element, this.stage, this.details.element, this.printed, this.outline.status, this.details.tip, chrome.help, this.library.dialog, this.library.veil);
    this.shadow.append(this.root);
  }

  // ---- results ----

  recompute() {
    this.result = this.pipeline.run(this.state);
    this.partial = Boolean(this.state.range || this.state.threads || this.state.states || this.state.chips.length);
    this.colours.names = this.pipeline.names;
    this.findSelected();
  }

  // The measure that is drawn: the new side, or the base when its shape was asked for.
  get shown() {
    const { measures } = this.result;
    return this.result.comparing && this.state.baseShape ? measures[0] : measures[measures.length - 1];
  }

  get rootName() {
    return this.result.comparing ? (this.state.baseShape ? 'all of the base' : 'all') : 'all';
  }

  pathOf(node) {
    return pathHash(this.result.tree, this.pipeline.names, node, hashText);
  }

  // Made when a link or a step back asks for a place.
  get nameHashes() {
    const { names } = this.pipeline;
    if (this.hashes.length !== names.length) this.hashes = Uint32Array.from(names, hashText);
    return this.hashes;
  }

  // After a reshape the selected node is found again by its path, or only the method stays selected.
  findSelected() {
    const { state, chosen, result } = this;
    if (state.path) chosen.node = findPath(result.tree, this.nameHashes, state.path);
    else chosen.node = -1;
    if (chosen.node > 0) chosen.name = result.tree.name[chosen.node];
    else if (state.method) chosen.name = this.nameHashes.indexOf(parseInt(state.method, 36));
  }

  findZoom() {
    const { graph } = this.views;
    this.foundZoom = this.state.zoom;
    const node = this.state.zoom ? findPath(this.result.tree, this.nameHashes, this.state.zoom) : 0;
    graph.anchorAt(Math.max(0, node));
    if (node < 0) this.outline.say('The place that this link shows is not in this capture');
    return node >= 0;
  }

  adoptLink() {
    if (this.state.chips.length || this.state.query || this.state.zoom || this.state.path) {
      if (!this.findZoom()) this.state.zoom = '';
    } else if (!location.hash) this.zoomToJava();
    this.pendingPart = this.state.part;
  }

  adoptFragment() {
    this.owed = '';
    const before = this.rememberFilters();
    this.state = readFragment(location.hash.slice(1));
    if (this.rememberFilters() !== before) this.recompute();
    else this.findSelected();
    this.findZoom();
    this.views.graph.forgetWindow();
    this.pendingPart = this.state.part;
    this.render();
  }

  // history: push (a step that Back undoes), replace, or nothing.
  update(patch, history = 'push') {
    const before = this.rememberFilters();
    const data = DATA_FIELDS.some((name) => name in patch);
    Object.assign(this.state, patch);
    if (data && this.rememberFilters() !== before) this.undo.remember(before);
    this.afterChange(data, history);
  }

  apply(filters, history) {
    Object.assign(this.state, filters);
    this.afterChange(true, history);
  }

  afterChange(data, history) {
    if (data) this.recompute();
    if (data || this.state.zoom !== this.foundZoom) this.findZoom();
    this.noteSelection();
    this.writeFragment(history);
    this.render();
  }

  writeFragment(wanted) {
    const history = this.owed || wanted;
    this.owed = '';
    const { text, shortened } = writeFragment(this.state);
    const address = '#' + text;
    if (shortened) this.outline.say('This view is too long for a link: the link holds a part of it');
    if (location.hash === address || (!text && !location.hash)) return;
    try {
      if (history === 'push') window.history.pushState(null, '', address);
      else window.history.replaceState(null, '', address);
    } catch {
      // Some browsers limit how often a page may do this; the next change tries again.
    }
  }

  // ---- drawing ----

  render() {
    const { state } = this;
    this.colours.choose(this.colouring, this.dark, this.mine, this.heatSums);
    this.root.classList.toggle('dark', this.dark);
    this.shadow.host.classList.toggle('dark', this.dark);
    this.root.dataset.view = state.view;
    for (const [id, view] of Object.entries(this.views)) view.element.hidden = id !== state.view;
    this.searchBox.run();
    this.showHeader();
    this.chrome.show();
    this.library.draw();
    this.summary.show();
    this.strip.show();
    if (!this.panel.element.hidden) this.panel.show();
    const view = this.views[state.view];
    view.show();
    if (state.view === 'graph' && this.pendingPart) this.showPart();
    this.details.show();
    this.outline.element.hidden = !view.flame;
    if (view.flame) this.outline.show(view.flame);
  }

  showHeader() {
    const { chrome } = this;
    chrome.title.firstChild.textContent = visible(clip(this.title, 300));
    const facts = this.headline().map((text) => h('span', text));
    refill(chrome.facts, ...facts);
    const all = this.source.sides.length === 2 ? warnings(this.source.sides[0].meta, this.source.sides[1].meta) : [];
    for (const side of this.source.sides) for (const text of side.meta.warnings || []) all.push(text);
    if (this.library.problem) all.unshift(this.library.problem);
    if (this.meta.partial) all.push('ended early: ' + this.meta.partial);
    for (const { text } of this.state.chips) if (this.pipeline.problems.has(text)) all.push(`the filter ${text} matches nothing: ${this.pipeline.problems.get(text)}`);
    chrome.warning.hidden = !all.length;
    chrome.warning.textContent = visible(clip(all.join(' · '), 600));
  }

  headline() {
    const { meta } = this;
    const facts = [];
    if (meta.event) facts.push(meta.event + (meta.interval ? ' every ' + meta.interval : ''));
    if (meta.duration) facts.push(meta.duration);
    const all = this.result.measures.map((measure) => formatCount(measure.samplesOf(0))).join(' and ');
    const samples = this.shown.samplesOf(0);
    const weight = formatWeight(this.shown.total[0], this.unit);
    facts.push(`${all} sample${samples === 1 ? '' : 's'}${weight ? ' · ' + weight : ''}`);
    if (this.shown.total[0] === 0) facts.push(this.partial ? 'no samples match the filters' : 'no samples' + (meta.empty ? ': ' + meta.empty : ''));
    if (meta.lost) facts.push(`${formatCount(meta.lost)} lost`);
    return facts.map((text) => visible(clip(text, 300)));
  }

  // Which kinds of frames the samples ended in, most first: [[kind, weight, samples], ...].
  selfByKind() {
    const { kind, size } = this.result.tree;
    const { self, total, perSample, selfSamples } = this.shown;
    if (this.kindsOf !== self) {
      const sums = new Float64Array(256);
      const counts = new Float64Array(256);
      const seen = new Uint8Array(256);
      for (let i = 1; i < size; i++) {
        sums[kind[i]] += self[i];
        if (total[i] > 0) seen[kind[i]] = 1;
        if (selfSamples) counts[kind[i]] += selfSamples[i];
      }
      this.kindsOf = self;
      this.kindsSeen = [...seen.keys()].filter((k) => seen[k]);
      this.kinds = [...sums].map((sum, k) => [k, sum, perSample ? sum / perSample : counts[k]]).filter(([, sum]) => sum > 0).sort((a, b) => b[1] - a[1]);
    }
    return this.kinds;
  }

  // Kinds of all frames that are shown.
  kindsShown() {
    this.selfByKind();
    return this.kindsSeen;
  }

  // Every fact of the capture, for help and print.
  allFacts() {
    return this.source.sides.flatMap((side, i) => {
      const which = this.source.sides.length === 2 ? [['base: ', 'new: '][i]] : [''];
      return (side.meta.facts || []).map(([label, value]) => [which + String(label), String(value)]);
    });
  }

  // ---- selection ----

  select(flame, node, run) {
    const view = this.views[this.state.view];
    // The second click of a double click.
    if (flame && node > 0 && flame.cursor === node && this.chosen.name === flame.model.tree.name[node]) return;
    if (run) this.chosen = { name: -1, node: -1, run };
    else if (flame && flame.model && node > 0) {
      const name = flame.model.tree.name[node];
      const own = flame.model.tree === this.result.tree;
      this.chosen = { name, node: own ? node : -1, run: null };
    } else this.chosen = { name: -1, node: -1, run: null };
    if (flame) flame.cursor = run ? -1 : node;
    if (view.flame && view.id === 'callers') view.cursor = flame.cursor;
    if (view.id === 'sandwich' && flame && node > 0 && !run) return this.sandwichStep(flame, node);
    this.afterSelect();
  }

  sandwichStep(flame, node) {
    // Another method: it moves to the middle, and Back returns.
    const name = flame.model.tree.name[node];
    if (name === this.views.sandwich.name) return this.afterSelect();
    flame.cursor = -1;
    if (flame.linked) flame.linked.cursor = -1;
    this.chosen = { name, node: -1, run: null };
    this.update({ view: 'sandwich' }, 'push');
  }

  selectNode(node) {
    this.chosen = { name: node > 0 ? this.result.tree.name[node] : -1, node, run: null };
    this.views.graph.flame.cursor = node;
    this.afterSelect();
  }

  selectName(name) {
    const [place] = outermostPlaces(this.result.tree, name).sort((a, b) => this.shown.total[b] - this.shown.total[a]);
    this.chosen = { name, node: place === undefined ? -1 : place, run: null };
    this.afterSelect();
  }

  noteSelection() {
    const { name, node } = this.chosen;
    this.state.method = name >= 0 ? hashText(this.pipeline.names[name]).toString(36) : '';
    this.state.path = node > 0 ? this.pathOf(node) : '';
  }

  afterSelect() {
    this.noteSelection();
    const view = this.views[this.state.view];
    view.redraw();
    if (view.flame) this.outline.show(view.flame);
    this.selected = this.chosen.name >= 0;
    this.askTell();
  }

  // What changes beside the graph is changed once a frame: a double click selects twice and zooms.
  askTell(history) {
    this.owed ||= history;
    this.toTell = true;
    this.tellSoon();
  }

  tell() {
    if (!this.toTell) return;
    this.toTell = false;
    this.writeFragment('replace');
    this.searchBox.tell();
    this.details.show();
    this.strip.follow();
    if (this.selected) this.outline.say(this.details.name.textContent + ', ' + this.details.facts.textContent);
    this.selected = false;
  }

  // Sums per method of what is shown or of its base, made once.
  methods(measure) {
    return (measure.methods ??= sumMethods(this.result.tree, measure, this.pipeline.names.length));
  }

  // What changed, of a comparison.
  verdicts() {
    const { result, state, pipeline } = this;
    return verdictsOf(pipeline.names, result, state, result.measures.map((measure) => this.methods(measure)));
  }

  viewShare(node) {
    const zoomed = this.zoomedNode();
    if (zoomed <= 0) return '';
    return `${formatShare(this.shown.total[node], this.shown.total[zoomed])} of the view`;
  }

  describe(tree, values, node) {
    const name = visible(clip(this.pipeline.names[tree.name[node]] ?? this.rootName, 300)) || '(empty name)';
    const samples = tree === this.result.tree ? this.shown.samplesOf(node) : tree.samplesOf(node);
    return `${name}, ${formatShare(values.total[node], values.total[0])}, ${plural(samples, 'sample')}`;
  }

  fillBetween(element, callees) {
    const name = visible(clip(this.pipeline.names[this.chosen.name], 300)) || '(empty name)';
    refill(element, h('bdi', name), h('small', ` ${formatShare(callees.total[0], this.shown.total[0])} · ${plural(callees.samples[0], 'sample')}`));
  }

  // Weight per second of both sides, where both tell how long they took.
  rates() {
    const sides = this.result.sides.map((side) => side.meta.durationS);
    return sides.length === 2 && sides.every((s) => s > 0) ? sides : null;
  }

  rateText(node) {
    const seconds = this.rates();
    if (!seconds || !this.state.rate) return '';
    const [a, b] = this.result.measures.map((m, i) => m.total[node] / seconds[i]);
    const text = (x) => (formatWeight(x, this.unit) || x.toPrecision(3) + ' samples') + '/s';
    return `${text(a)} → ${text(b)}`;
  }

  // ---- the window of the graph ----

  zoomedNode() {
    return this.views.graph.anchored;
  }

  moved(flame) {
    if (!this.views || !this.views.graph) return;
    if (flame === this.views.graph.flame) this.views.graph.minimap.redraw();
    if (flame.linked && !this.linking) {
      this.linking = true;
      flame.linked.setWindow(flame.from, flame.to);
      this.linking = false;
    }
  }

  // A window moved by hand is a part of the node that it lies in.
  settled(flame, history, [from, to] = [flame.from, flame.to]) {
    const { graph } = this.views;
    if (flame !== graph.flame || !flame.model) return;
    const { total } = flame.model;
    const { node, start } = nodeAround(flame.model, from, to);
    graph.settleAt(node);
    const whole = total[node] || 1;
    const part = [(from - start) / whole, (to - start) / whole].map((x) => (x * 1000).toFixed(2));
    const all = Number(part[0]) <= 0 && Number(part[1]) >= 1000;
    this.state.zoom = this.pathOf(node);
    this.state.part = all ? '' : part.join('~');
    this.foundZoom = this.state.zoom;
    this.writeFragment(history);
  }

  showPart() {
    const { graph } = this.views;
    const [from, to] = this.pendingPart.split('~').map(Number);
    this.pendingPart = '';
    const { flame } = graph;
    const node = this.zoomedNode();
    const whole = flame.model.total[node];
    const start = startOf(flame.model.tree, node, flame.model.total, flame.model.order);
    if (to > from) flame.setWindow(start + (from / 1000) * whole, start + (to / 1000) * whole);
  }
}

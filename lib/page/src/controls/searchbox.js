// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The search field: marks what it finds, says how much that is, walks through it.
import { button, h } from '../dom/dom.js';
import { Matcher } from '../data/matcher.js';
import { formatShare, plural } from '../data/numbers.js';
import { countMethods, hitsByWeight, matchNames, parseQuery, weighHits } from '../data/search.js';

const SEARCHING = 'searching …';

export class SearchBox {
  constructor(app) {
    this.app = app;
    this.input = h('input', {
      type: 'search',
      placeholder: 'Search   /',
      alt: 'Search: text, /regex/, name: class: pkg:',
      spellcheck: 'false',
      autocomplete: 'off',
      oninput: () => this.typed(),
      onkeydown: (event) => this.key(event),
    });
    this.result = h('output.found');
    this.element = h('div.search', { role: 'search' }, this.input, this.result, button('Previous hit', () => app.walkHits(-1), { class: 'plain walk' }, '‹'), button('Next hit', () => app.walkHits(1), { class: 'plain walk' }, '›'));
    this.at = -1;
    this.matcher = new Matcher();
    // Why there is no result for what the field holds; empty if there is.
    this.missing = '';
  }

  focus() {
    this.input.focus();
    this.input.select();
  }

  typed() {
    this.app.update({ query: this.input.value }, 'replace');
  }

  key(event) {
    if (event.key === 'Enter') {
      event.preventDefault();
      if (this.waiting) {
        this.waiting = false;
        this.app.update({ query: this.input.value }, 'replace');
        return;
      }
      this.app.walkHits(event.shiftKey ? -1 : 1);
    }
  }

  // Takes over the state's query; a regex that came with a link waits for Enter.
  adopt(query) {
    this.input.value = query;
    this.waiting = query.startsWith('/');
  }

  // Called whenever the query or what it is asked of has changed.
  run() {
    const { app } = this;
    const text = app.state.query;
    if (this.input.value !== text) this.input.value = text;
    if (this.waiting && text.startsWith('/')) {
      this.result.textContent = 'Enter runs this expression';
      return;
    }
    this.waiting = false;
    const query = parseQuery(text);
    this.element.classList.toggle('bad', Boolean(query && query.error));
    this.element.classList.toggle('some', Boolean(query));
    if (query && query.error) {
      // The last result stays.
      this.result.textContent = query.error;
      return;
    }
    if (!query) {
      this.matcher.stop();
      app.hits = null;
      app.hitList = null;
      this.result.textContent = '';
      this.last = '';
      return;
    }
    const { names } = app.pipeline;
    if (this.names !== names) app.hits = null;
    if (this.last !== text || this.names !== names || this.namesSeen !== names.length) {
      this.last = text;
      this.names = names;
      this.namesSeen = names.length;
      this.at = -1;
      this.missing = '';
      this.matcher.stop();
      if (query.expression) this.ask(query.expression);
      else app.hits = matchNames(names, query);
    }
    // The last result stays until there is another, on the tree that is shown now.
    app.hitList = app.hits && hitsByWeight(app.result.tree, app.shown, app.hits, 1000);
    this.tell();
  }

  ask(expression) {
    const { app } = this;
    this.missing = SEARCHING;
    this.matcher.match(this.names, expression).then(
      (hits) => {
        app.hits = hits;
        this.missing = '';
        app.render();
      },
      (why) => {
        this.missing = why;
        this.tell();
      },
    );
  }

  // Places of what is searched for that fold at the roots.
  foldedHits() {
    const { app } = this;
    const { shape } = app.result;
    const folded = shape.map && app.pipeline.foldedRoots(app.state);
    if (!folded || !app.hits) return 0;
    const { tree } = app.source;
    const isHit = (node) => app.hits[tree.name[node]] && this.weighs(tree, node);
    return folded.nodes.filter(isHit).length;
  }

  // Whether something that is selected lies below a recorded node.
  weighs(tree, node) {
    const { map } = this.app.result.shape;
    const { self } = this.app.shown;
    for (let i = node; i < tree.end[node]; i++) if (map[i] >= 0 && self[map[i]] > 0) return true;
    return false;
  }

  tell() {
    const { app } = this;
    if (!app.state.query || this.waiting) return;
    this.element.classList.toggle('bad', Boolean(this.missing) && this.missing !== SEARCHING);
    if (this.missing) {
      this.result.textContent = this.missing;
      return;
    }
    if (!app.hits || !app.hitList) return;
    const { tree } = app.result;
    const all = weighHits(tree, app.shown, app.hits, 0);
    const methods = countMethods(tree, app.shown, app.hits);
    const where = this.at >= 0 ? `${this.at + 1} of ` : '';
    const folded = this.foldedHits();
    let text = all.boxes ? `${where}${plural(all.boxes, 'place')}, ${formatShare(all.weight, app.shown.total[0])}` : 'nothing found';
    const zoomed = app.zoomedNode();
    if (all.boxes && zoomed > 0) {
      const inside = weighHits(tree, app.shown, app.hits, zoomed);
      text += `, ${formatShare(inside.weight, app.shown.total[zoomed])} of the zoomed part`;
    }
    if (folded) text = `${all.boxes ? text + ', ' : ''}${plural(folded, 'place')} in “thread start”${all.boxes ? '' : ': Enter opens it'}`;
    if (methods > 0) text += `, ${plural(methods, 'method')}`;
    this.result.textContent = text;
  }

  // The next hit in the order of weight; zoom stays.
  walk(step) {
    if (this.app.hitList && !this.app.hitList.length && this.foldedHits()) this.app.openStart();
    const list = this.app.hitList;
    if (!list || !list.length) return -1;
    this.at = this.at < 0 ? (step > 0 ? 0 : list.length - 1) : (this.at + step + list.length) % list.length;
    this.tell();
    return list[this.at];
  }
}

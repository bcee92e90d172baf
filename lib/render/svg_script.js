// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// The script of our pictures: zoom by click, search, state in the address. It gets names only as
// text of the picture's own nodes, and writes them only to text nodes.
addEventListener('DOMContentLoaded', () => {
  const svg = document.documentElement;
  const number = (element, name) => parseFloat(element.getAttribute(name));
  const pad = parseFloat(svg.dataset.pad);
  const letter = parseFloat(svg.dataset.letter);
  const wide = number(svg, 'width') - 2 * pad;
  const byId = (id) => document.getElementById(id);
  const boxes = [...document.querySelectorAll('.box')].map((group) => {
    const [title, rect, text] = group.children;
    const name = title.textContent.replace(/ \([^(]*\)$/, '');
    return { group, title, rect, text, name, left: number(rect, 'x'), width: number(rect, 'width'), top: number(rect, 'y'), fill: rect.getAttribute('fill') };
  });
  let exact = false;
  let query = '';

  function place(box, left, width) {
    box.rect.setAttribute('x', left);
    box.rect.setAttribute('width', width);
    box.text.setAttribute('x', left + 3);
    const room = Math.floor(width / letter);
    box.text.textContent = room < 3 || box === root ? '' : box.name.length <= room ? box.name : box.name.slice(0, room - 2) + '..';
  }

  const root = boxes.reduce((widest, box) => (box.width > widest.width || (box.width === widest.width && Math.sign(box.top - widest.top) === (svg.dataset.inverted ? -1 : 1)) ? box : widest), boxes[0]);

  function zoom(target) {
    const end = target.left + target.width;
    const above = (box) => (svg.dataset.inverted ? box.top < target.top : box.top > target.top);
    for (const box of boxes) {
      const covers = box.left <= target.left + 0.05 && box.left + box.width >= end - 0.05;
      const inside = box.left >= target.left - 0.05 && box.left + box.width <= end + 0.05;
      const parent = above(box) && covers;
      box.group.style.display = parent || (inside && !above(box)) ? '' : 'none';
      box.group.classList.toggle('away', parent && target !== root);
      if (parent) place(box, pad, wide);
      else if (inside) place(box, pad + ((box.left - target.left) * wide) / target.width, (box.width * wide) / target.width);
    }
    byId('reset').setAttribute('opacity', target === root ? 0 : 1);
    remember(target);
  }

  function matcher() {
    try {
      const pattern = new RegExp(query, exact ? '' : 'i');
      return (name) => pattern.test(name.slice(0, 2000));
    } catch {
      return (name) => name.toLowerCase().includes(query.toLowerCase());
    }
  }

  function search(text) {
    query = text || '';
    const matches = query ? matcher() : () => false;
    const spans = [];
    for (const box of boxes) {
      const hit = box !== root && matches(box.name);
      box.rect.setAttribute('fill', hit ? 'rgb(230,0,230)' : box.fill);
      if (hit) spans.push([box.left, box.left + box.width]);
    }
    // Boxes on top of each other count once.
    let covered = 0;
    let reached = -1;
    for (const [from, to] of spans.sort((a, b) => a[0] - b[0])) {
      covered += Math.max(0, to - Math.max(from, reached));
      reached = Math.max(reached, to);
    }
    byId('matched').textContent = query ? 'Matched: ' + ((100 * covered) / root.width).toFixed(1) + '%' : '';
    byId('search').textContent = query ? 'Reset search' : 'Search';
    remember();
  }

  let shown = null;
  function remember(target) {
    if (target) shown = target === root ? null : target;
    const state = new URLSearchParams();
    if (shown) state.set('x', shown.left), state.set('y', shown.top);
    if (query) state.set('s', query);
    try {
      history.replaceState(null, '', '#' + state);
    } catch {
      // Inside another document there is no address to change.
    }
  }

  function ask() {
    if (query) return search('');
    const text = prompt('Search (regular expression)', '');
    if (text) search(text);
  }

  for (const box of boxes) {
    box.group.addEventListener('click', () => zoom(box));
    box.group.addEventListener('mouseover', () => (byId('details').textContent = svg.dataset.type + ' ' + box.title.textContent));
    box.group.addEventListener('mouseout', () => (byId('details').textContent = ''));
  }
  byId('reset').addEventListener('click', () => zoom(root));
  byId('search').addEventListener('click', ask);
  addEventListener('keydown', (event) => {
    if ((event.ctrlKey && event.key === 'f') || event.key === 'F3') {
      event.preventDefault();
      ask();
    } else if (event.ctrlKey && event.key === 'i') {
      event.preventDefault();
      exact = !exact;
      search(query);
    } else if (event.key === 'Escape') zoom(root);
  });
  const given = new URLSearchParams(location.hash.slice(1));
  const wanted = boxes.find((box) => box.left === parseFloat(given.get('x')) && box.top === parseFloat(given.get('y')));
  if (wanted) zoom(wanted);
  // A regular expression from a link is not run: it might never end.
  const asked = given.get('s');
  if (asked && /^[\w.:$ ]{1,100}$/.test(asked)) search(asked);
});

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Elements, made without markup: text is only ever text.

// h('tag.class other', { attributes, onevent }, children...); without attributes the children follow at once. `alt` is
// what screen readers say.
export function h(tag, ...children) {
  const [name, classes] = tag.split('.');
  const element = document.createElement(name);
  if (classes) element.setAttribute('class', classes);
  const given = children[0] && children[0].constructor === Object ? children.shift() : {};
  for (const [key, value] of Object.entries(given)) {
    if (!value && value !== '') continue;
    if (key.startsWith('on')) listen(element, key.slice(2), value);
    else element.setAttribute(key === 'alt' ? 'aria-label' : key, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child || child === ''));
  return element;
}

export function refill(element, ...children) {
  element.replaceChildren(...children);
}

export function listen(target, type, work, options) {
  target.addEventListener(type, work, options);
}

export function button(label, onclick, attributes, ...children) {
  const all = { type: 'button', onclick, ...attributes };
  if (children.length) all.alt = label;
  if (!all.title && children.length) all.title = label;
  return h('button', all, ...(children.length ? children : [label]));
}

// One call per frame, however often it is asked for; none while the tab is hidden.
export function oncePerFrame(work) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}

// After what the user waits for: when the browser has nothing else to do.
export const later = (work) => (window.requestIdleCallback || setTimeout)(work);

// When what was asked to be drawn is on the screen.
export const afterPaint = (work) => requestAnimationFrame(() => requestAnimationFrame(() => later(work)));

export const reducedMotion = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

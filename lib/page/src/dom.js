// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Elements, made without markup: text is only ever text.

const SVG = 'http://www.w3.org/2000/svg';

export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function icon(path) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('aria-hidden', 'true');
  const shape = document.createElementNS(SVG, 'path');
  shape.setAttribute('d', path);
  svg.append(shape);
  return svg;
}

export function button(label, onclick, attributes, ...children) {
  const all = { type: 'button', onclick, ...attributes };
  if (children.length) all['aria-label'] = label;
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

export const reducedMotion = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Mouse, touch and wheel over a graph.
import { listen } from '../dom/dom.js';

const CLICK_SLOP = 3;
const DOUBLE_CLICK_MS = 600;

function local(view, event) {
  const box = view.surface.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

function bindWheel(view) {
  let timer = 0;
  // A wheel has no end: its last turn is the one after which none came.
  const settle = () => {
    clearTimeout(timer);
    timer = setTimeout(() => view.listener.settled(view), 150);
  };
  listen(view.element,
    'wheel',
    (event) => {
      const unit = event.deltaMode === 1 ? 24 : event.deltaMode === 2 ? 240 : 1;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const step = Math.max(-200, Math.min(200, event.deltaY * unit));
        view.zoomAt(local(view, event).x, Math.exp(step * (event.deltaMode === 0 && Math.abs(step) < 40 ? 0.01 : 0.004)));
        settle();
      } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        view.pan((event.shiftKey && !event.deltaX ? event.deltaY : event.deltaX) * unit);
        settle();
      }
    },
    { passive: false },
  );
}

// Two fingers: the weight under each stays under it.
function pinch(view, fingers, before) {
  const [a, b] = [...fingers.values()];
  const spread = Math.max(24, Math.hypot(a.x - b.x, a.y - b.y));
  const middle = (a.x + b.x) / 2;
  if (before) {
    view.zoomAt(middle, before.spread / spread);
    view.pan(before.middle - middle);
    view.element.scrollTop += before.y - (a.y + b.y) / 2;
  }
  return { spread, middle, y: (a.y + b.y) / 2 };
}

function click(view, event, at) {
  const hit = view.hitAt(at.x, at.y);
  if (!hit) return view.listener.select(view, -1);
  if (hit.run) hit.run.window = view.windowOf(hit);
  if (view.isLabelled(hit)) {
    view.opened = event.timeStamp;
    return view.listener.open(view, hit.run);
  }
  const again = event.pointerType !== 'mouse' && hit.node === view.cursor && !hit.run;
  view.listener.select(view, hit.node, hit.run, hit);
  view.tapped = again ? hit.node : -1;
}

// A second tap zooms. Not before the browser's own click of that tap: what the zoom moves under the finger would get it.
function bindTaps(view) {
  listen(view.surface, 'click', (event) => {
    if (!(view.tapped > 0)) return;
    view.listener.zoom(view, view.tapped);
    view.tapped = -1;
    view.opened = event.timeStamp;
  });
}

export function bindGestures(view) {
  const fingers = new Map();
  let start = null;
  let dragged = false;
  let spread = null;
  let brushing = false;
  const { surface } = view;
  bindWheel(view);
  bindTaps(view);
  listen(surface, 'pointerdown', (event) => {
    if (event.button > 0 || !view.model) return;
    const at = local(view, event);
    fingers.set(event.pointerId, at);
    if (fingers.size === 1) {
      start = at;
      dragged = false;
      brushing = Boolean(view.brush && event.shiftKey);
    }
    spread = null;
    try {
      surface.setPointerCapture(event.pointerId);
    } catch {
      // The pointer has gone already.
    }
  });
  listen(surface, 'pointermove', (event) => {
    const at = local(view, event);
    const before = fingers.get(event.pointerId);
    if (!before) {
      view.listener.hover(view, view.hitAt(at.x, at.y), event);
      return;
    }
    fingers.set(event.pointerId, at);
    if (fingers.size === 2) {
      dragged = true;
      spread = pinch(view, fingers, spread);
      return;
    }
    if (!dragged && Math.hypot(at.x - start.x, at.y - start.y) <= CLICK_SLOP) return;
    dragged = true;
    view.listener.hover(view, null, event);
    if (brushing) return view.brush(start.x, at.x, false);
    view.pan(before.x - at.x);
    view.element.scrollTop += before.y - at.y;
  });
  const release = (event) => {
    if (!fingers.delete(event.pointerId)) return;
    spread = null;
    if (fingers.size === 0 && !dragged && event.type === 'pointerup') click(view, event, local(view, event));
    if (fingers.size === 0 && dragged && brushing) view.brush(start.x, local(view, event).x, true);
    else if (fingers.size === 0 && dragged) view.listener.settled(view);
  };
  listen(surface, 'pointerup', release);
  listen(surface, 'pointercancel', release);
  listen(surface, 'pointerleave', (event) => view.listener.hover(view, null, event));
  listen(surface, 'dblclick', (event) => {
    const at = local(view, event);
    // The first click of the two opened what was under it.
    if (event.timeStamp - view.opened < DOUBLE_CLICK_MS) return;
    const hit = view.hitAt(at.x, at.y);
    if (hit && hit.run) view.listener.open(view, { ...hit.run, window: view.windowOf(hit) });
    else if (hit) view.listener.zoom(view, hit.node);
  });
}

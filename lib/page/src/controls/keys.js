// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// All keys, in one table: what they do, and what the help says. Single letters are off while typing.
import { listen } from '../dom/dom.js';
import { foldPackageOfSelected, nextColouring, toggleOnlyMine } from './packages.js';

// [keys, description, run(app, event)]
export const KEYS = [
  [['1'], 'Graph', (app) => app.go('graph')],
  [['2'], 'Merged callers', (app) => app.go('callers')],
  [['3'], 'Sandwich of the selected method', (app) => app.go('sandwich')],
  [['4'], 'Table of methods', (app) => app.go('table')],
  [['5'], 'Call tree', (app) => app.go('tree')],
  [['6'], 'Flame chart: threads in the order of time', (app) => app.go('chart')],
  [['/', 'Ctrl+F'], 'Search', (app) => app.searchBox.focus()],
  [['n'], 'Next hit, heaviest first', (app) => app.walkHits(1)],
  [['N'], 'Previous hit', (app) => app.walkHits(-1)],
  [['ArrowUp'], 'Up: parent (or row above)', (app) => app.arrow('ArrowUp')],
  [['ArrowDown'], 'Down: heaviest child (or row below)', (app) => app.arrow('ArrowDown')],
  [['ArrowLeft'], 'Previous sibling (tree: close)', (app) => app.arrow('ArrowLeft')],
  [['ArrowRight'], 'Next sibling (tree: open)', (app) => app.arrow('ArrowRight')],
  [['Home'], 'Heaviest root', (app) => app.arrow('Home')],
  [['End'], 'Leaf of the heaviest path', (app) => app.arrow('End')],
  [['Enter', 'z'], 'Zoom to the selected box', (app) => app.zoomSelected()],
  [['Backspace'], 'Zoom out one step', (app) => app.zoomOut()],
  [['0'], 'Show the whole', (app) => app.zoomReset()],
  [['+'], 'Zoom in', (app) => app.zoomBy(0.7)],
  [['-'], 'Zoom out', (app) => app.zoomBy(1 / 0.7)],
  [['w'], 'Scroll up', (app) => app.scroll(0, -1)],
  [['a'], 'Pan left', (app) => app.scroll(-1, 0)],
  [['s'], 'Scroll down', (app) => app.scroll(0, 1)],
  [['d'], 'Pan right', (app) => app.scroll(1, 0)],
  [['f'], 'Root above or below', (app) => app.update({ flame: !app.state.flame })],
  [['o'], 'Order by weight or by name', (app) => app.update({ byName: !app.state.byName })],
  [['r'], 'Fold recursion', (app) => app.update({ fold: !app.state.fold })],
  [['g'], 'Merge generated names', (app) => app.update({ merge: !app.state.merge })],
  [['j'], 'Start at Java, or show what starts threads', (app) => app.setRoots(app.state.roots === 'all' ? 'java' : 'all')],
  [['k'], 'Keep only stacks with the selected method', (app) => app.addChip('keep')],
  [['x'], 'Drop stacks with the selected method', (app) => app.addChip('drop')],
  [['h'], 'Hide the selected method, its callees move up', (app) => app.addChip('hide')],
  [['p'], 'Fold the package of the selected method', (app) => foldPackageOfSelected(app)],
  [['m'], 'Only my code, or all', (app) => toggleOnlyMine(app)],
  [['i'], 'Next way of colouring', (app) => nextColouring(app)],
  [['u'], 'Undo', (app) => app.undoStep()],
  [['U'], 'Redo', (app) => app.redoStep()],
  [['t'], 'Threads', (app) => app.togglePanel()],
  [['e'], 'Time as bars or as heat cells', (app) => app.update({ heat: !app.state.heat })],
  [['b'], 'Comparison: base or new shape', (app) => app.toggleBase()],
  [['y'], 'Comparison: colours by self or by total', (app) => app.toggleSelf()],
  [['c'], 'Copy the stack', (app) => app.copyStack()],
  [['Ctrl+C'], 'Copy the name', (app) => app.copyName()],
  [['l'], 'Light or dark', (app) => app.toggleTheme()],
  [['?'], 'This help', (app) => app.toggleHelp()],
  [['Esc'], 'Close one thing', (app) => app.escape()],
];

const byKey = new Map(KEYS.flatMap(([keys, , run]) => keys.map((key) => [key, run])));

const isTyping = (element) => element && (element.matches?.('input:not([type=checkbox]):not([type=radio]), textarea, select') || element.isContentEditable);
const isControl = (element) => element && element.matches?.('button, summary, a, input, select, option');

export function bindKeys(app) {
  listen(document, 'keydown', (event) => {
    const target = event.composedPath()[0];
    const control = event.ctrlKey || event.metaKey;
    if (event.altKey || event.isComposing) return;
    if (event.key === 'Escape') return app.escape();
    if (control) {
      if (event.key === 'f' || event.key === 'F') return take(event, () => app.searchBox.focus());
      if ((event.key === 'c' || event.key === 'C') && !isTyping(target) && String(getSelection()) === '') return take(event, () => app.copyName());
      return;
    }
    if (isTyping(target)) return;
    // A focused button keeps Enter and Space; a list keeps nothing.
    if (isControl(target) && (event.key === 'Enter' || event.key === ' ' || event.key.startsWith('Arrow'))) return;
    if (app.helpOpen && event.key !== '?') return;
    const run = byKey.get(event.key === '=' ? '+' : event.key);
    if (run) take(event, () => run(app, event));
  });
}

function take(event, work) {
  event.preventDefault();
  work();
}

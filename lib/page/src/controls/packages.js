// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// What the user can do with packages: fold them, see only the application's, and choose what colours tell.
import { splitName } from '../data/names.js';
import { prefixesOf } from '../data/ownership.js';
import { COLOURINGS } from '../data/state.js';

export const COLOUR_WORDS = {
  kind: 'by kind of frame',
  package: 'by package',
  module: 'by module',
  heat: 'by heat: self time',
  search: 'by search',
  mine: 'mine and the rest',
};

export const onlyMine = (app) => app.state.chips.some(({ verb }) => verb === 'only');

// Stacks of the application's methods alone: what libraries do counts as self of what called them.
export function toggleOnlyMine(app) {
  const others = app.state.chips.filter(({ verb }) => verb !== 'only');
  if (others.length < app.state.chips.length) return app.update({ chips: others });
  if (!app.mine) return app.outline.say('Say first what is mine: a prefix like com.acme.');
  return app.addChip('only', app.mine);
}

// Each prefix becomes a filter of its own.
export function foldPackages(app, text) {
  const chips = prefixesOf(text).map((prefix) => ({ verb: 'fold', text: prefix }));
  const added = chips.filter(({ text: prefix }) => !app.state.chips.some((chip) => chip.verb === 'fold' && chip.text === prefix));
  if (added.length) app.update({ chips: [...app.state.chips, ...added] });
}

export function foldPackageOfSelected(app) {
  const { name } = app.chosen;
  const { pkg } = splitName(name >= 0 && name < app.source.names.length ? app.source.names[name] : '');
  if (pkg) foldPackages(app, pkg + '.');
  else app.outline.say('Select a method of a package first');
}

export function nextColouring(app) {
  const next = COLOURINGS[(COLOURINGS.indexOf(app.colouring) + 1) % COLOURINGS.length];
  app.update({ colour: next });
  app.outline.say('Colours ' + COLOUR_WORDS[next]);
}

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Light or dark: the system's choice until the user makes one, kept if the browser keeps anything.
import { listen } from '../dom/dom.js';

const KEY = 'jprof-theme';

function stored() {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'light' || value === 'dark' ? value : '';
  } catch {
    return '';
  }
}

export class Theme {
  constructor(changed) {
    this.changed = changed;
    this.system = matchMedia('(prefers-color-scheme: dark)');
    this.choice = stored();
    listen(this.system, 'change', () => this.choice || changed());
  }

  get dark() {
    return this.choice ? this.choice === 'dark' : this.system.matches;
  }

  choose(choice) {
    this.choice = choice;
    try {
      localStorage.setItem(KEY, choice);
    } catch {
      // Storage is refused: the choice holds for this page only.
    }
    this.changed();
  }
}

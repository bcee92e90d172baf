// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// A comparison in one sentence, above the views.
import { afterPaint, h } from '../dom/dom.js';

export class Summary {
  constructor(app) {
    this.app = app;
    this.element = h('p.summary', { hidden: true });
  }

  show() {
    const { app } = this;
    const { result } = app;
    this.element.hidden = !result.comparing;
    if (!result.comparing || this.shown === result) return;
    this.shown = result;
    // After the graph: that is what people wait for.
    afterPaint(() => {
      if (this.shown === result && app.result === result) this.element.textContent = app.verdicts().summary();
    });
  }
}

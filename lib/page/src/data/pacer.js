// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Long work in short steps, so that the page answers while it decodes.

export class Pacer {
  constructor(report) {
    this.report = report || (() => {});
    this.since = performance.now();
  }

  due() {
    return performance.now() - this.since > 30;
  }

  // A message, not a timer: nested timers wait 4 ms each.
  breathe() {
    this.report();
    return new Promise((resolve) => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => {
        channel.port1.close();
        this.since = performance.now();
        resolve();
      };
      channel.port2.postMessage(0);
    });
  }
}

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Workers of text that the page itself holds: its policy (Content-Security-Policy) names who may make one, and allows no other.

const urls = new Map();

// name: of the Trusted Types policy; source(): the script.
export function workerOf(name, source) {
  if (!urls.has(name)) {
    const url = URL.createObjectURL(new Blob([source()], { type: 'text/javascript' }));
    const { trustedTypes } = window;
    urls.set(name, trustedTypes ? trustedTypes.createPolicy(name, { createScriptURL: () => url }).createScriptURL('') : url);
  }
  return new Worker(urls.get(name));
}

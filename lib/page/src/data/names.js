// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Method names: how they are shortened, shown safely, recognised as generated, hashed.

// Kinds of frames, in the numbers of docs/formats/page.md.
export const KINDS = [
  'not told',
  'interpreted',
  'compiled (C1)',
  'compiled (C2)',
  'inlined',
  'Java native',
  'native',
  'JVM',
  'stub',
  'kernel',
  'error',
  'thread',
  'not sampled',
  'library code',
  'thread start',
  'folded package',
];
export const KIND_KERNEL = 9;
export const KIND_THREAD = 11;
export const KIND_LIBRARY = 13;
export const KIND_START = 14;
export const KIND_FOLDED = 15;
export const KIND_REST = 12;

// A method by name and kind, as one number; kinds are below 16.
export const nameAndKind = (name, kind) => name * 16 + kind;

// Before the prefix in the name of a box that packages are folded into.
export const FOLDED_MARK = '… ';

// Kinds up to this one are of Java methods, or not told.
export const KIND_JAVA_LAST = 5;

// Of C++, with a symbol's version, at an offset in a library.
const NATIVE = /::|@|\+0x[0-9a-f]+$/;

// Frames of Java methods; imported text does not tell kinds, so there a class must do.
export function isJava(kind, name) {
  if (kind >= 1 && kind <= KIND_JAVA_LAST) return true;
  return kind === 0 && !NATIVE.test(name) && splitName(name).cls !== '';
}

// FNV-1a; the same in every page, since links hold it.
export function hashText(text) {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb]/;
const UNSAFE_ALL = /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

// What may be drawn: control and direction characters become visible escapes.
export function visible(text) {
  if (!UNSAFE.test(text)) return text;
  return text.replace(UNSAFE_ALL, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
}

export function clip(text, length) {
  return text.length > length ? text.slice(0, length - 1) + '…' : text;
}

const HIDDEN_ADDRESS = /[/+.]0x[0-9a-f]+/g;

// Splits `com.acme.Order.place(int)` into package, class, method; class is '' for names of no class.
export function splitName(name) {
  const base = name.includes('0x') ? name.replace(HIDDEN_ADDRESS, '') : name;
  const paren = base.indexOf('(');
  const head = paren > 0 ? base.slice(0, paren) : base;
  if (head.includes('::') || head.includes(' ') || head[0] === '[') return { pkg: '', cls: '', method: name };
  const dot = head.lastIndexOf('.');
  if (dot <= 0 || dot === head.length - 1) return { pkg: '', cls: '', method: name };
  let owner = head.slice(0, dot);
  if (owner.includes('/')) owner = owner.replaceAll('/', '.');
  const last = owner.lastIndexOf('.');
  return { pkg: last > 0 ? owner.slice(0, last) : '', cls: owner.slice(last + 1), method: base.slice(dot + 1) };
}

// From the full name to the shortest that still says something. Only Java's names have packages to leave out.
export function shortenings(name, java = true) {
  const shown = visible(clip(name, 256));
  if (!java) return [shown];
  const { pkg, cls, method } = splitName(shown);
  if (!cls) return [shown];
  const letters = pkg ? pkg.split('.').map((part) => part.slice(0, 1)).join('.') + '.' : '';
  const all = [shown];
  if (pkg) all.push(letters + cls + '.' + method);
  all.push(cls + '.' + method, method);
  return all;
}

const GENERATED = [
  [/\$\$Lambda(?:[$/.+](?:0x)?[0-9a-f]+)*/g, '$$$$Lambda'],
  [/\blambda\$([\w$]*?)\$\d+/g, 'lambda$$$1'],
  [/[/+.]0x[0-9a-f]{6,}/g, ''],
  [/(Generated(?:Serialization)?(?:Method|Constructor)Accessor)\d+/g, '$1'],
  [/(\$Proxy)\d+/g, '$1'],
  [/(\baccess\$)\d+/g, '$1'],
  [/(\$\$(?:FastClass|Enhancer)By\w+?\$\$)[0-9a-f]+/g, '$1'],
  [/(LambdaForm\$[A-Z]+)\d+/g, '$1'],
];

// The name without the parts that a JVM numbers anew in each run.
export function withoutGenerated(name) {
  if (!name.includes('$') && !name.includes('0x') && !name.includes('Accessor')) return name;
  let result = name;
  for (const [pattern, replacement] of GENERATED) result = result.replace(pattern, replacement);
  return result;
}

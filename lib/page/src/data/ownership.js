// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// Whose code a method is: the application's, or a library's. Guessed from the names, until the user says it.
import { KIND_JAVA_LAST, splitName } from './names.js';

const LIBRARIES = (
  'java javax jdk sun com.sun com.oracle oracle jakarta kotlin kotlinx scala akka groovy clojure cats zio android dalvik ' +
  'org.springframework org.apache org.eclipse org.hibernate org.jboss org.wildfly org.codehaus org.slf4j org.h2 org.hsqldb org.postgresql org.mariadb ' +
  'org.mongodb org.elasticsearch org.opensearch org.xerial org.objectweb org.ow2 org.aspectj org.javassist org.mockito org.junit org.testng org.jooq ' +
  'org.quartz org.glassfish org.jetbrains org.yaml org.thymeleaf org.reactivestreams org.xml org.w3c org.xnio org.rocksdb org.roaringbitmap org.json ' +
  'com.fasterxml com.google com.zaxxer com.mysql com.mongodb com.amazonaws com.datastax com.github.benmanes com.squareup com.lmax com.hazelcast com.netflix ' +
  'com.typesafe com.esotericsoftware com.jayway com.codahale com.ibm com.microsoft com.azure ch.qos io.netty io.micrometer io.opentelemetry io.prometheus ' +
  'io.grpc io.vertx io.quarkus io.smallrye io.undertow io.micronaut io.lettuce io.reactivex io.dropwizard io.projectreactor io.jsonwebtoken io.r2dbc ' +
  'io.github.resilience4j io.helidon io.confluent io.swagger redis.clients reactor rx net.bytebuddy net.sf net.jpountz net.openhft okhttp3 okio retrofit2 ' +
  'software.amazon antlr junit'
).split(' ');
// Of a framework's own domain, but applications.
const SAMPLES = ['org.springframework.samples.'];
// Package names that begin like these say only after two parts whose they are.
const DOMAINS = new Set('com org net io de fr uk co eu us cn jp nl at ch it es pl ru br in se no fi dk cz be dev app ai gov edu info biz me'.split(' '));
const HOSTS = new Set(['com.github', 'io.github', 'org.github', 'com.gitlab', 'io.gitlab', 'co.uk', 'com.au', 'co.jp', 'com.br']);
const MOST_CANDIDATES = 30;

export const prefixesOf = (text) => text.split(/[\s,]+/).filter(Boolean);
export const startsWithAny = (name, prefixes) => prefixes.some((prefix) => name.startsWith(prefix));

const libraries = new Set(LIBRARIES);

function isLibrary(pkg) {
  const parts = pkg.split('.');
  for (let n = 1; n <= Math.min(3, parts.length); n++) if (libraries.has(parts.slice(0, n).join('.'))) return true;
  return false;
}

function ownerOfPackage(pkg) {
  if (isLibrary(pkg) || pkg[0] === '$') return '';
  const parts = pkg.split('.');
  const first = parts.slice(0, 2).join('.');
  return parts.slice(0, HOSTS.has(first) ? 3 : DOMAINS.has(parts[0]) ? 2 : 1).join('.') + '.';
}

// There are far fewer packages than methods.
const owners = new Map();

// `com.acme.` of `com.acme.pay.OrderService.place`; '' for a library's methods and what is no Java method.
export function ownerOf(name) {
  const sample = SAMPLES.find((prefix) => name.startsWith(prefix));
  if (sample) return sample + name.slice(sample.length).split('.')[0] + '.';
  const { pkg, cls } = splitName(name);
  if (!cls) return '';
  if (!pkg) return /^[\w]+(\$|$)/.test(cls) && /^[A-Z]/.test(cls) ? cls.split('$')[0] : '';
  let owner = owners.get(pkg);
  if (owner === undefined) owners.set(pkg, (owner = ownerOfPackage(pkg)));
  return owner;
}

// The prefix (or prefixes, with commas between) of the widest packages that belong to no known library, '' if there is none.
// A stack counts once for a prefix, however many of its methods it holds. Those half as wide as the widest are named too.
// `self`: weights of the nodes themselves.
export function guessMine(names, tree, self) {
  const ids = new Map();
  const of = names.map((name) => ownerOf(name));
  const sizes = new Map();
  for (const owner of of) if (owner) sizes.set(owner, (sizes.get(owner) || 0) + 1);
  const candidates = [...sizes].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, MOST_CANDIDATES);
  if (!candidates.length) return '';
  candidates.forEach(([owner], i) => ids.set(owner, i));
  const bits = Int32Array.from(of, (owner) => (ids.has(owner) ? 1 << ids.get(owner) : 0));
  const above = new Int32Array(tree.size);
  const weights = new Float64Array(candidates.length);
  for (let i = 1; i < tree.size; i++) {
    above[i] = above[tree.parent[i]] | (tree.kind[i] <= KIND_JAVA_LAST ? bits[tree.name[i]] : 0);
    if (self[i] > 0) for (let rest = above[i]; rest; rest &= rest - 1) weights[31 - Math.clz32(rest & -rest)] += self[i];
  }
  const widest = Math.max(...weights);
  if (!(widest > 0)) return '';
  return candidates
    .map(([owner], i) => [owner, weights[i]])
    .filter(([, weight]) => weight * 2 >= widest)
    .sort((a, b) => b[1] - a[1])
    .slice(0, 3)
    .map(([owner]) => owner)
    .join(', ');
}

// Names of methods that more than one class has: without the class they say little.
export function repeatedMethods(names) {
  const first = new Map();
  const repeated = new Set();
  for (const name of names) {
    const { pkg, cls, method } = splitName(name);
    if (!cls) continue;
    const owner = pkg + '.' + cls;
    const known = first.get(method);
    if (known === undefined) first.set(method, owner);
    else if (known !== owner) repeated.add(method);
  }
  return repeated;
}

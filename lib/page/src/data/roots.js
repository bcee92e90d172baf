// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

// "Starts at Java": which frames at the roots only start threads, and the tree in which one node stands for all of them.
import { CallTree } from './calltree.js';
import { KIND_JAVA_LAST, KIND_START, isJava } from './names.js';
import { reshape } from './reshape.js';

// What the page folds at the roots, by the value of the state: nothing, up to Java, thread pools and executors as well.
export const ROOTS = ['all', 'java', 'pools'];
export const START_NAME = '… thread start';

// Functions of libc, the launcher and libjvm, of JDK 8 to 25, between the start of a thread and its first Java method.
const STARTERS = new Set(
  ('clone clone3 start start_thread c11_start libc_start_main libc_start_call_main libc_start_main_impl main ' +
    'JLI_Launch ContinueInNewThread ContinueInNewThread0 CallJavaMainInNewThread ThreadJavaMain JavaMain invokeStaticMainWithArgs invokeStaticMainWithoutArgs ' +
    'invokeInstanceMainWithArgs invokeInstanceMainWithoutArgs jni_CallStaticVoidMethod jni_CallVoidMethod jni_invoke_static jni_invoke_nonstatic ' +
    'thread_native_entry java_start Thread::call_run JavaThread::run JavaThread::thread_main_inner thread_entry os::os_exception_wrapper ' +
    'JavaCalls::call JavaCalls::call_helper JavaCalls::call_virtual JavaCalls::call_static JavaCalls::call_special call_stub ' +
    'StubRoutines::call_stub').split(' '),
);

// Java methods that only hand a task to the code that does it: the JDK's, and those of Tomcat, Jetty, Netty and Spring.
const POOLS = new RegExp(
  '^(?:' +
    [
      'java\\.lang\\.(?:Thread|VirtualThread)(?:\\$\\w+)?\\.run(?:With|Continuation)?',
      'java\\.lang\\.(?:Thread|VirtualThread)\\.runWith\\w*',
      'jdk\\.internal\\.vm\\.Continuation\\.(?:enter0?|run|enterSpecial)',
      'jdk\\.internal\\.(?:vm\\.)?(?:ScopedValueContainer|misc\\.InnocuousThread)\\.\\w+',
      'java\\.util\\.concurrent\\.ThreadPoolExecutor(?:\\$Worker\\.run|\\.runWorker)',
      'java\\.util\\.concurrent\\.FutureTask\\.run(?:AndReset)?',
      'java\\.util\\.concurrent\\.Executors\\$RunnableAdapter\\.call',
      'java\\.util\\.concurrent\\.ScheduledThreadPoolExecutor\\$ScheduledFutureTask\\.(?:access\\$\\d+|run(?:Periodic)?)',
      'java\\.util\\.concurrent\\.ForkJoin(?:WorkerThread\\.run|Pool(?:\\$WorkQueue)?\\.(?:runWorker|scan|topLevelExec)|Task\\.(?:doExec|exec))',
      'java\\.util\\.concurrent\\.ForkJoinTask\\$\\w+\\.(?:exec|compute)',
      'java\\.util\\.concurrent\\.CompletableFuture\\$Async(?:Run|Supply)\\.(?:run|exec)',
      'java\\.util\\.concurrent\\.ThreadPerTaskExecutor\\$\\w+\\.run',
      'java\\.util\\.(?:TimerThread\\.(?:run|mainLoop))',
      'org\\.apache\\.tomcat\\.util\\.threads\\.(?:TaskThread\\$WrappingRunnable\\.run|ThreadPoolExecutor(?:\\$Worker\\.run|\\.runWorker))',
      'org\\.eclipse\\.jetty\\.util\\.thread\\.QueuedThreadPool(?:\\$\\w+)?\\.(?:run|runJob|doRunJob)',
      'io\\.netty\\.util\\.(?:concurrent\\.FastThreadLocalRunnable|internal\\.ThreadExecutorMap\\$\\d+|concurrent\\.SingleThreadEventExecutor\\$\\d+)\\.run',
      'org\\.springframework\\.core\\.task\\.\\w+(?:\\$\\w+)?\\.run',
    ].join('|') +
    ')$',
);

// `__GI___clone3`, `JavaCalls::call_helper(JavaValue*)` and `start_thread.isra.0` are what they are without that.
const bare = (name) => name.replace(/[(.@+].*$/s, '').replace(/^_*(?:GI_+)?(?=[a-z])/, '');

// `main` at a root is a thread's name in imported text.
function isStarter(kind, name, atRoot) {
  return (kind < 1 || kind > KIND_JAVA_LAST) && STARTERS.has(bare(name)) && !(atRoot && name === 'main');
}

// Flags the nodes that fold, which all hang together from the root; null if none does. Only they and their children are
// looked at: a large tree costs no more than a small one.
export function rootsToFold(tree, names, step) {
  if (step === 'all') return null;
  const starters = [];
  const found = [];
  const look = (node) => {
    for (let c = tree.first(node); c >= 0; c = tree.next(c)) {
      if (isStarter(tree.kind[c], names[tree.name[c]], node === 0)) starters.push(c);
    }
  };
  look(0);
  for (let k = 0; k < starters.length; k++) look(starters[k]);
  // Where no Java method follows, the frames say what the thread is.
  const leads = new Set();
  for (let k = starters.length - 1; k >= 0; k--) {
    const node = starters[k];
    let java = leads.has(node);
    for (let c = tree.first(node); c >= 0 && !java; c = tree.next(c)) {
      const name = names[tree.name[c]];
      java = isJava(tree.kind[c], name) && !isStarter(tree.kind[c], name, false);
    }
    if (!java) continue;
    found.push(node);
    leads.add(node).add(tree.parent[node]);
  }
  if (step === 'pools') {
    const pools = [0, ...found];
    for (let k = 0; k < pools.length; k++) {
      for (let c = tree.first(pools[k]); c >= 0; c = tree.next(c)) {
        // One that calls nothing is what its stack ends in.
        if (tree.first(c) < 0 || !POOLS.test(names[tree.name[c]])) continue;
        pools.push(c);
        found.push(c);
      }
    }
  }
  if (!found.length) return null;
  const flags = new Uint8Array(tree.size);
  for (const node of found) flags[node] = 1;
  return { flags, nodes: found.sort((a, b) => a - b) };
}

// The source's tree with one node for all that fold, and the map from each recorded node to its node in it.
export function foldRoots(source, folded, name) {
  const { tree, weights } = source;
  const { flags, nodes } = folded;
  const tops = [];
  const roots = [];
  const childrenOf = (node, into) => {
    for (let c = tree.first(node); c >= 0; c = tree.next(c)) if (!flags[c]) into.push(c);
  };
  childrenOf(0, roots);
  for (const node of nodes) childrenOf(node, tops);
  // Where two ways lead to the same method, their nodes become one.
  if (new Set(tops.map((node) => tree.name[node])).size < tops.length) return reshape(source, { roots: flags, startName: name });
  const sum = (from, to) => {
    let total = 0;
    for (let i = from; i < to; i++) total += weights[i];
    return total;
  };
  const heaviestFirst = (all) => all.map((node) => [node, sum(node, tree.end[node])]).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
  const below = heaviestFirst(tops);
  const boxWeight = below.reduce((total, [, weight]) => total + weight, 0) + nodes.reduce((total, node) => total + weights[node], 0);
  const made = new CallTree(tree.size - nodes.length + 1);
  const map = new Int32Array(tree.size);
  let at = 1;
  const copy = (node, parent) => {
    const size = tree.end[node] - node;
    made.name.set(tree.name.subarray(node, tree.end[node]), at);
    made.kind.set(tree.kind.subarray(node, tree.end[node]), at);
    const shift = at - node;
    for (let i = node; i < tree.end[node]; i++) {
      map[i] = i + shift;
      made.parent[i + shift] = tree.parent[i] + shift;
      made.end[i + shift] = tree.end[i] + shift;
    }
    made.parent[at] = parent;
    at += size;
  };
  const addBox = () => {
    const box = at++;
    made.name[box] = name;
    made.kind[box] = KIND_START;
    for (const node of nodes) map[node] = box;
    for (const [node] of below) copy(node, box);
    made.end[box] = at;
  };
  let boxed = false;
  for (const [node, weight] of heaviestFirst(roots)) {
    if (!boxed && weight <= boxWeight) {
      addBox();
      boxed = true;
    }
    copy(node, 0);
  }
  if (!boxed) addBox();
  return { tree: made, map };
}

// A recorded node that stands behind a node of a shape, or -1.
export function recordedNode(shape, node) {
  if (node <= 0) return node;
  return shape.map ? shape.map.indexOf(node) : shape.bySample ? -1 : node;
}

// The nodes of `plain` (the same samples, nothing folded at the roots) that stand below `top` in `shape`: a byte for each.
export function unfoldedBelow(shape, plain, top, nodeOfSample) {
  const inside = new Uint8Array(plain.tree.size);
  const holds = (node) => node >= top && node < shape.tree.end[top];
  if (shape.bySample) {
    for (let s = 0; s < nodeOfSample.length; s++) if (holds(shape.bySample[s])) inside[plain.bySample[s]] = 1;
    return inside;
  }
  const { map } = shape.map ? shape : plain;
  for (let i = 0; map && i < map.length; i++) {
    const to = plain.map ? plain.map[i] : i;
    if (to >= 0 && holds(shape.map ? shape.map[i] : i)) inside[to] = 1;
  }
  if (!map) inside.fill(1, top, plain.tree.end[top]);
  return inside;
}

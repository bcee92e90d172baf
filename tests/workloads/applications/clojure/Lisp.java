// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
package applications;

import clojure.java.api.Clojure;
import clojure.lang.IFn;

/** Clojure: persistent collections, lazy sequences, transducers, multimethods, and a function compiled anew now and then. */
public final class Lisp {
  private static final String PROGRAM =
      "(defmulti area :shape)"
          + "(defmethod area :circle [{:keys [r]}] (* 3 r r))"
          + "(defmethod area :square [{:keys [a]}] (* a a))"
          + "(defn words [n] (for [i (range n)] (str \"w\" (mod (* i 7919) 211))))"
          + "(defn shapes [n] (for [i (range n)] (if (even? i) {:shape :circle :r i} {:shape :square :a i})))"
          + "(defn once [n]"
          + "  (+ (count (into (sorted-map) (frequencies (words n))))"
          + "     (transduce (comp (map area) (filter even?) (take 100)) + (shapes n))"
          + "     (reduce + (map count (vals (group-by #(subs % 0 2) (words n)))))"
          + "     (loop [m {} i 0] (if (< i n) (recur (assoc-in m [(mod i 13) i] i) (inc i)) (count m)))"
          + "     ((eval `(fn [x#] (* ~n x#))) 2)))"
          + "once";

  private Lisp() {}

  public static void main(String[] args) throws Exception {
    IFn once = (IFn) Clojure.var("clojure.core", "load-string").invoke(PROGRAM);
    Harness.repeat("clojure", 1, () -> ((Number) once.invoke(400)).longValue());
    Harness.serve();
  }
}

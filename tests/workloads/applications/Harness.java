// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
package applications;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.concurrent.atomic.LongAdder;

/** What each application here has in common: it says "ready", counts what it does, and ends when its standard input ends. */
final class Harness {
  /** Units of work done: requests, documents, compilations. */
  static final LongAdder DONE = new LongAdder();

  private Harness() {}

  interface Work {
    /** One unit of work; what comes back has to depend on all of it. */
    long once() throws Exception;
  }

  /** So many threads do the same without end; an application that fails ends its JVM, so that no test measures a ruin. */
  static void repeat(String name, int threads, Work work) {
    for (int i = 0; i < threads; ++i) {
      Thread thread =
          new Thread(
              () -> {
                long sum = 0;
                try {
                  while (true) {
                    sum += work.once();
                    DONE.increment();
                  }
                } catch (Throwable failure) {
                  System.err.println(name + " failed after " + DONE.sum() + " units, sum " + sum);
                  failure.printStackTrace();
                  Runtime.getRuntime().halt(1);
                }
              },
              name + "-" + i);
      thread.setDaemon(true);
      thread.start();
    }
  }

  /** Says "ready" and what else there is to say; answers each line with the units done so far; at the end of input, the end. */
  static void serve(String... more) throws IOException {
    System.out.println("ready");
    for (String line : more) {
      System.out.println(line);
    }
    System.out.flush();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    while (in.readLine() != null) {
      System.out.println(DONE.sum());
      System.out.flush();
    }
    Runtime.getRuntime().halt(0); // not exit: hooks that wait for clients would keep the JVM
  }
}

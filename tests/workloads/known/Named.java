// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

import java.io.PrintStream;

/**
 * Busy threads with names that a kernel cannot hold, each ending in "#" and the thread's id: long
 * ASCII, Latin-1, characters beyond 16 bits, one longer than a recording keeps, one that is renamed
 * by another thread every 50 ms ("renamed 1 #..." and so on). All of them allocate, so that the
 * collector moves names about. Prints "ready".
 */
public final class Named {
  static volatile Object sink;

  static void burn() {
    byte[][] kept = new byte[64][];
    for (int i = 0; ; i++) {
      kept[i % kept.length] = new byte[1024 + i % 4096];
      sink = kept;
    }
  }

  static Thread start(String name) {
    Thread thread = new Thread(Named::burn);
    thread.setName(name + " #" + thread.getId());
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  public static void main(String[] arguments) throws Exception {
    start("order-processing-worker-of-the-second-pool");
    start("Z\u00e4hler f\u00fcr Stra\u00dfen");
    start("\u8ba2\u5355\u5904\u7406 \ud83d\ude80");
    StringBuilder endless = new StringBuilder("endless ");
    for (int i = 0; i < 40; i++) {
      endless.append("\u00fc\u8ba2");
    }
    start(endless.toString());
    Thread renamed = start("renamed 0");
    new PrintStream(System.out, true).println("ready");
    for (int i = 1; ; i++) {
      Thread.sleep(50);
      renamed.setName("renamed " + i + " #" + renamed.getId());
    }
  }
}

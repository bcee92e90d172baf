// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/**
 * Threads that come and go beside others that wait: one after the other, each in work() until it has used
 * its share of CPU time.
 *
 * <p>Usage: Births IDLE LIFE_MS. Prints "ready" when the idle ones wait, and runs until it is killed.
 */
public final class Births {
  private static final ThreadMXBean CLOCKS = ManagementFactory.getThreadMXBean();
  static volatile double sink;

  static double work(double x, int rounds) {
    for (int i = 0; i < rounds; i++) {
      x = x * 1.0000001 + 0.5;
    }
    return x;
  }

  static void live(long lifeNanos) {
    double x = 1;
    while (CLOCKS.getCurrentThreadCpuTime() < lifeNanos) {
      x = work(x, 20_000);
    }
    sink = x;
  }

  static void idle() {
    Object never = new Object();
    synchronized (never) {
      while (true) {
        try {
          never.wait();
        } catch (InterruptedException interrupted) {
          return;
        }
      }
    }
  }

  public static void main(String[] arguments) throws InterruptedException {
    int idle = Integer.parseInt(arguments[0]);
    long lifeNanos = Long.parseLong(arguments[1]) * 1_000_000;
    for (int i = 0; i < idle; i++) {
      Thread waiting = new Thread(null, Births::idle, "idle " + i, 64 << 10);
      waiting.setDaemon(true);
      waiting.start();
    }
    live(200_000_000); // compiles work()
    System.out.println("ready");
    System.out.flush();
    for (int i = 0; ; i++) {
      Thread born = new Thread(() -> live(lifeNanos), "born " + i);
      born.start();
      born.join();
    }
  }
}

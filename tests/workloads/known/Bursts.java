// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Threads that work in bursts behind pauses: early() and then late(), for the same CPU time.
 *
 * <p>Usage: Bursts THREADS MICROSECONDS, of a whole burst. Prints "ready". A line on standard input is answered
 * with the CPU nanoseconds spent in early and late since the start, by the threads' own clocks. Java 8.
 */
public final class Bursts {
  private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
  private static final AtomicLong IN_EARLY = new AtomicLong();
  private static final AtomicLong IN_LATE = new AtomicLong();
  static volatile double sink;

  static double early(double x, int rounds) {
    for (int i = 0; i < rounds; i++) {
      x = x * 1.0000001 + 0.5;
    }
    return x;
  }

  static double late(double x, int rounds) {
    for (int i = 0; i < rounds; i++) {
      x = x * 1.0000001 + 0.5;
    }
    return x;
  }

  private static long cpu() {
    return CLOCK.getCurrentThreadCpuTime();
  }

  /** How many rounds take so long, when all is compiled: the best of many tries. */
  private static int roundsFor(long nanos) {
    int rounds = 100_000;
    long best = Long.MAX_VALUE;
    for (int i = 0; i < 300; i++) {
      long begin = cpu();
      sink = early(sink, rounds);
      long middle = cpu();
      sink = late(sink, rounds);
      best = Math.min(best, Math.max(cpu() - middle, middle - begin));
    }
    return (int) (rounds * nanos / best);
  }

  private static void work(int rounds, int seed) throws InterruptedException {
    int random = seed;
    double x = 1;
    while (true) {
      random = random * 1664525 + 1013904223;
      Thread.sleep(1 + (random >>> 29), random >>> 13 & 0x7ffff);
      long begin = cpu();
      x = early(x, rounds);
      long middle = cpu();
      x = late(x, rounds);
      IN_LATE.addAndGet(cpu() - middle);
      IN_EARLY.addAndGet(middle - begin);
      sink = x;
    }
  }

  public static void main(String[] arguments) throws Exception {
    int rounds = roundsFor(Long.parseLong(arguments[1]) * 1000 / 2);
    for (int i = 0; i < Integer.parseInt(arguments[0]); i++) {
      int seed = i;
      Thread thread = new Thread(() -> {
        try {
          work(rounds, seed);
        } catch (Throwable e) {
          e.printStackTrace();
          Runtime.getRuntime().halt(3);
        }
      }, "bursts-" + i);
      thread.setDaemon(true);
      thread.start();
    }
    System.out.println("ready");
    System.out.flush();
    while (System.in.read() >= 0) {
      System.out.println(IN_EARLY.get() + " " + IN_LATE.get());
      System.out.flush();
    }
  }
}

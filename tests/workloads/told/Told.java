// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Work that tells what it did: ten times a second a line "told HOT WARM THROWN SHORT AT" on standard
 * output, the CPU nanoseconds spent so far in hot, warm, throwing and shortLived, by the threads' own
 * clocks, and the wall clock in milliseconds. Hot gets three times as much as warm; each call of
 * shortLived is the whole life of a thread, some 50 ms of work. Some threads only wait.
 *
 * <p>Usage: Told. Prints "ready" first. A line on standard input, or its end, ends it: it prints "done"
 * and exits with 0; whatever goes wrong before exits with 3. Java 8.
 */
public final class Told {
  private static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
  private static final int IDLE_THREADS = 20;
  private static final int WORKERS = 3;

  /**
   * Hot and warm take turns far shorter than a tick of the kernel. In turns of about a tick, what comes late in a burst of work can
   * weigh too much (docs/design/agent.md).
   */
  private static final int TURNS = 20;

  private static volatile boolean ends;
  static volatile double sink;
  static volatile int[] nothing;

  /** Runs on a thread of its own. */
  interface Work {
    void run() throws Exception;
  }

  static double hot(double x, int rounds) {
    for (int i = 0; i < 3 * rounds; i++) {
      x = x * 1.0000001 + 0.5;
    }
    return x;
  }

  static double warm(double x, int rounds) {
    for (int i = 0; i < rounds; i++) {
      x = x * 1.0000001 + 0.5;
    }
    return x;
  }

  /** Implicit null checks: each one is a SIGSEGV that the JVM's own handler turns into an exception. */
  static int throwing(int times) {
    int caught = 0;
    for (int i = 0; i < times; i++) {
      try {
        caught += nothing.length;
      } catch (NullPointerException e) {
        caught++;
      }
    }
    return caught;
  }

  static void shortLived(int rounds) {
    sink = hot(1, rounds);
  }

  private static long cpu() {
    return CLOCK.getCurrentThreadCpuTime();
  }

  private static void work(AtomicLong inHot, AtomicLong inWarm) throws InterruptedException {
    double x = 1;
    int random = 1;
    while (!ends) {
      random = random * 1664525 + 1013904223;
      int rounds = 300_000 + (random >>> 14);
      for (int turn = 0; turn < TURNS; turn++) {
        long begin = cpu();
        x = hot(x, rounds / TURNS);
        long middle = cpu();
        x = warm(x, rounds / TURNS);
        inWarm.addAndGet(cpu() - middle);
        inHot.addAndGet(middle - begin);
      }
      sink = x;
      Thread.sleep(random >>> 26);
    }
  }

  private static void throwUp(AtomicLong thrown) throws InterruptedException {
    while (!ends) {
      long begin = cpu();
      throwing(200);
      thrown.addAndGet(cpu() - begin);
      Thread.sleep(3);
    }
  }

  private static void giveBirth(AtomicLong inShort) throws InterruptedException {
    while (!ends) {
      Thread child = begin("short", () -> {
        long begin = cpu();
        shortLived(10_000_000);
        inShort.addAndGet(cpu() - begin);
      });
      child.join();
      Thread.sleep(300);
    }
  }

  private static Thread begin(String name, Work work) {
    Thread thread = new Thread(() -> {
      try {
        work.run();
      } catch (Throwable e) {
        e.printStackTrace();
        Runtime.getRuntime().halt(3);
      }
    }, name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static void awaitEnd() throws IOException {
    System.in.read();
    ends = true;
  }

  public static void main(String[] arguments) throws Exception {
    AtomicLong inHot = new AtomicLong();
    AtomicLong inWarm = new AtomicLong();
    AtomicLong thrown = new AtomicLong();
    AtomicLong inShort = new AtomicLong();
    Thread[] workers = new Thread[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
      workers[i] = begin("worker-" + i, () -> work(inHot, inWarm));
    }
    Thread thrower = begin("thrower", () -> throwUp(thrown));
    Thread mother = begin("mother", () -> giveBirth(inShort));
    for (int i = 0; i < IDLE_THREADS; i++) {
      begin("idle-" + i, () -> Thread.sleep(Long.MAX_VALUE));
    }
    begin("end", Told::awaitEnd);
    System.out.println("ready");
    while (!ends) {
      long at = System.currentTimeMillis();
      System.out.println("told " + inHot + " " + inWarm + " " + thrown + " " + inShort + " " + at);
      Thread.sleep(100);
    }
    for (Thread worker : workers) {
      worker.join();
    }
    thrower.join();
    mother.join();
    System.out.println("done");
  }
}

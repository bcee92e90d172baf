// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Virtual threads (JDK 21 and later) that wait, each at its own depth, before they work: their outer frames stay in the heap
 * while work() runs. Below each waits() there are 11 of down10, 61 of down60 or 301 of down300. Makes garbage, so that the
 * collector moves those frames. Prints "ready", and runs until it is killed.
 */
public final class Frozen implements Runnable {
  static volatile double sink;
  static volatile Object kept;

  private final int depth;

  Frozen(int depth) {
    this.depth = depth;
  }

  @Override
  public void run() {
    while (true) {
      if (depth == 10) {
        down10(depth);
      } else if (depth == 60) {
        down60(depth);
      } else {
        down300(depth);
      }
    }
  }

  // What follows the calls keeps them from being the last thing that is done.
  static void down10(int left) {
    if (left == 0) {
      waits();
    } else {
      down10(left - 1);
    }
    sink += left;
  }

  static void down60(int left) {
    if (left == 0) {
      waits();
    } else {
      down60(left - 1);
    }
    sink += left;
  }

  static void down300(int left) {
    if (left == 0) {
      waits();
    } else {
      down300(left - 1);
    }
    sink += left;
  }

  static void waits() {
    try {
      Thread.sleep(1);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    work();
    sink += 1;
  }

  static void work() {
    double x = 1;
    for (int i = 0; i < 100; i++) {
      Object[] garbage = new Object[1000];
      for (int j = 0; j < garbage.length; j++) {
        x = x * 1.0000001 + 0.5;
        garbage[j] = new byte[64];
      }
      kept = garbage;
    }
    sink = x;
  }

  public static void main(String[] arguments) throws Exception {
    for (int depth : new int[] {10, 60, 300, 10, 60, 300}) {
      // By name: this is compiled for Java 8.
      Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, new Frozen(depth));
    }
    System.out.println("ready");
    Thread.sleep(Long.MAX_VALUE);
  }
}

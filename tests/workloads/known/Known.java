// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Work whose shares are known by construction.
 *
 * <p>Usage: Known MODE [SECONDS]. Modes: "shares" runs hot 3 : warm 1 on the main thread, by counted
 * floating-point loops of the same body; "inlined" the same, from the first byte of its input on, in
 * a caller that is compiled only then, with both of them in it; "threads" burns 1 : 2 : 3 : 4 on four
 * threads; "deep" works below 1000 activations of one method, "spread" below 1 to 500. Prints "ready"
 * when it has warmed up, and runs until it is killed or the seconds are over.
 */
public final class Known {
  static final int WORK_AT_THE_BOTTOM = 20;
  static volatile double sink;

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

  /**
   * Cycles of random length, 40 to 130 ms, so that no timer and no tick keeps step with them. Several
   * samples fall into each, even at 10 ms, which makes their shares less random than single draws
   * would be, and the caller is never compiled with both loops in it.
   */
  static void shares(long endNanos) {
    double x = 1;
    int random = 1;
    while (System.nanoTime() < endNanos) {
      random = random * 1664525 + 1013904223;
      int rounds = 4_000_000 + (random >>> 9);
      x = hot(x, rounds);
      x = warm(x, rounds);
      sink = x;
    }
  }

  /** A hundred thousand cycles a second: soon compiled, and small enough to take in what it calls. */
  static void inlined(long endNanos) {
    double x = 1;
    int random = 1;
    while (System.nanoTime() < endNanos) {
      random = random * 1664525 + 1013904223;
      int rounds = 500 + (random >>> 23);
      x = hot(x, rounds);
      x = warm(x, rounds);
      sink = x;
    }
  }

  static void burn(int share, long endNanos) {
    double x = share;
    while (System.nanoTime() < endNanos) {
      for (int i = 0; i < share; i++) {
        x = hot(x, 20000);
      }
      sink = x;
      try {
        Thread.sleep(2);
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  static int recurse(int depth) {
    if (depth == 0) {
      double x = 1;
      for (int i = 0; i < WORK_AT_THE_BOTTOM; i++) {
        x = hot(x, 20000);
      }
      sink = x;
      return 0;
    }
    return recurse(depth - 1) + 1;
  }

  public static void main(String[] arguments) throws Exception {
    String mode = arguments.length > 0 ? arguments[0] : "shares";
    long seconds = arguments.length > 1 ? Long.parseLong(arguments[1]) : 3600;
    final long end = System.nanoTime() + seconds * 1_000_000_000L;
    shares(System.nanoTime() + 500_000_000L);
    System.out.println("ready");
    System.out.flush();
    if (mode.equals("inlined")) {
      System.in.read();
      inlined(end);
    } else if (mode.equals("shares")) {
      shares(end);
    } else if (mode.equals("deep")) {
      while (System.nanoTime() < end) {
        recurse(1000);
      }
    } else if (mode.equals("spread")) {
      for (int depth = 1; System.nanoTime() < end; depth = depth % 500 + 1) {
        recurse(depth);
      }
    } else if (mode.equals("threads")) {
      for (int share = 1; share <= 4; share++) {
        final int mine = share;
        new Thread(() -> burn(mine, end), "burner-" + share).start();
      }
    } else {
      System.err.println("unknown mode " + mode);
      System.exit(2);
    }
  }
}

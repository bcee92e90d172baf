// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Work whose shares are known by construction.
 *
 * <p>Usage: Known MODE [SECONDS]. Modes: "shares" runs hot 3 : warm 1 on the main thread, by counted
 * floating-point loops of the same body; "threads" burns 1 : 2 : 3 : 4 on four threads. Prints
 * "ready" when it has warmed up, and runs until it is killed or the seconds are over.
 */
public final class Known {
  static volatile double sink;

  static double hot(double x) {
    for (int i = 0; i < 60000; i++) {
      x = x * 1.0000001 + 0.5;
    }
    return x;
  }

  static double warm(double x) {
    for (int i = 0; i < 20000; i++) {
      x = x * 1.0000001 + 0.5;
    }
    return x;
  }

  static void shares(long endNanos) {
    double x = 1;
    while (System.nanoTime() < endNanos) {
      x = hot(x);
      x = warm(x);
      sink = x;
    }
  }

  static void burn(int share, long endNanos) {
    double x = share;
    while (System.nanoTime() < endNanos) {
      for (int i = 0; i < share; i++) {
        x = hot(x);
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
      for (int i = 0; i < 2000; i++) {
        x = hot(x);
      }
      sink = x;
      return 0;
    }
    return recurse(depth - 1) + 1;
  }

  public static void main(String[] arguments) throws InterruptedException {
    String mode = arguments.length > 0 ? arguments[0] : "shares";
    long seconds = arguments.length > 1 ? Long.parseLong(arguments[1]) : 3600;
    final long end = System.nanoTime() + seconds * 1_000_000_000L;
    shares(System.nanoTime() + 500_000_000L);
    System.out.println("ready");
    System.out.flush();
    if (mode.equals("shares")) {
      shares(end);
    } else if (mode.equals("deep")) {
      while (System.nanoTime() < end) {
        recurse(1000);
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

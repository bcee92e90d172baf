// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Exceptions that are thrown and caught without end, out of frames of their own: the JVM finds each handler in code of
 * its own, to which compiled methods jump. Prints "ready".
 */
public final class Thrown {
  static final RuntimeException EXCEPTION = new RuntimeException("thrown again and again", null, false, false) {};
  static volatile int sink;

  static int fail(int i) {
    if ((i & 3) != 3) {
      throw EXCEPTION;
    }
    return i;
  }

  static int pass(int i) {
    int before = sink;
    return fail(i) + before;
  }

  static int guard(int i) {
    try {
      return pass(i);
    } finally {
      sink = i;
    }
  }

  static int work(int rounds) {
    int caught = 0;
    for (int i = 0; i < rounds; i++) {
      try {
        caught -= guard(i);
      } catch (RuntimeException e) {
        caught++;
      }
    }
    return caught;
  }

  public static void main(String[] arguments) {
    System.out.println("ready");
    System.out.flush();
    while (true) {
      sink = work(1000);
    }
  }
}

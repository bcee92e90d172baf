// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

/** Says "ready" and waits: a JVM to attach to. Compiled for Java 8. */
public final class Idle {
  public static void main(String[] arguments) throws Exception {
    System.out.println("ready");
    System.out.flush();
    while (System.in.read() >= 0) {
      // The one who started it closes standard input to end it.
    }
  }
}

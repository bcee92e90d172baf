// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

/** Loads the library FILE, prints "ready" and waits. Usage: Native FILE. */
public final class Native {
  public static void main(String[] arguments) throws Exception {
    System.load(arguments[0]);
    System.out.println("ready");
    Thread.sleep(Long.MAX_VALUE);
  }
}

// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedReader;
import java.io.InputStreamReader;

/** Loads the library FILE, prints "ready", and starts Idle in a process of its own at each line of input. Usage: Native FILE. */
public final class Native {
  public static void main(String[] arguments) throws Exception {
    System.load(arguments[0]);
    System.out.println("ready");
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
    while (lines.readLine() != null) {
      new ProcessBuilder(System.getProperty("java.home") + "/bin/java", "-cp", System.getProperty("java.class.path"), "Idle").start();
    }
    Thread.sleep(Long.MAX_VALUE);
  }
}

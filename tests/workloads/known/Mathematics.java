// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

/**
 * Functions of java.lang.Math, of arguments that need the slow way, with other values alive meanwhile: JVMs compute
 * them in code of their own, which calls leaves from frames that are larger than their nmethod says. Prints "ready".
 */
public final class Mathematics {
  static volatile double sink;

  static double trigonometry(double x) {
    return Math.sin(x) * x + Math.cos(x) * x + Math.tan(x) * x;
  }

  static double powers(double x) {
    return Math.pow(x, 1.5) * x + Math.pow(-x, 3) + Math.exp(x / 1e6) + Math.log(x) * x + Math.log10(x);
  }

  static double alive(double x, double a, double b, double c, double d) {
    return a * Math.sin(x) + b * Math.sin(x + a) + c * Math.cos(x - b) + d * Math.tan(x) + a * b * c * d;
  }

  static double all(double x) {
    return trigonometry(x) + powers(x) + alive(x, x, x + 1, x + 2, x + 3);
  }

  public static void main(String[] arguments) {
    System.out.println("ready");
    System.out.flush();
    for (double x = 1; ; x += 1) {
      sink = all(x);
    }
  }
}

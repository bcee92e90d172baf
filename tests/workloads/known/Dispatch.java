// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0

/** Calls that meet too many classes for an inline cache, by a class and by an interface in turn. Prints "ready". */
public final class Dispatch {
  interface Sized {
    int size();
  }

  interface Named {
    int name();
  }

  abstract static class Shape implements Named, Sized {
    abstract int edges();
  }

  static final class Point extends Shape {
    int edges() {
      return 0;
    }

    public int size() {
      return 1;
    }

    public int name() {
      return 2;
    }
  }

  static final class Line extends Shape {
    int edges() {
      return 1;
    }

    public int size() {
      return 2;
    }

    public int name() {
      return 3;
    }
  }

  static final class Triangle extends Shape {
    int edges() {
      return 3;
    }

    public int size() {
      return 4;
    }

    public int name() {
      return 5;
    }
  }

  static final class Square extends Shape {
    int edges() {
      return 4;
    }

    public int size() {
      return 5;
    }

    public int name() {
      return 6;
    }
  }

  static final Shape[] SHAPES = {new Point(), new Line(), new Triangle(), new Square()};
  static volatile int sink;

  static int byClass() {
    int sum = 0;
    for (int i = 0; i < 2_000_000; i++) {
      sum += SHAPES[i & 3].edges();
    }
    return sum;
  }

  static int byInterface() {
    Sized[] all = SHAPES;
    int sum = 0;
    for (int i = 0; i < 2_000_000; i++) {
      sum += all[i & 3].size();
    }
    return sum;
  }

  public static void main(String[] args) {
    System.out.println("ready");
    while (true) {
      sink = byClass() + byInterface();
    }
  }
}

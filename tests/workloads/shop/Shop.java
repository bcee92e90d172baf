// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
package shop;

import java.io.FileInputStream;
import java.util.zip.CRC32;

/**
 * The sample application of the demos and of the end-to-end tests. One thread serves orders and burns CPU time in known
 * shares: three quarters of the counted steps are priced, one quarter is packed; a second thread mostly sleeps. Knows
 * nothing of any profiler. Java 8.
 *
 * <pre>Shop [SECONDS]   runs that long, or until it is killed</pre>
 */
public final class Shop {
    static volatile double sink;

    static double step(double value) {
        return value * 1.0000001 + 1.0 / (value + 3.0);
    }

    static double priceBasket(double seed) {
        double total = seed;
        for (int i = 0; i < 60_000; i++) {
            total = step(total);
        }
        return total;
    }

    static double packParcel(double seed) {
        double total = seed;
        for (int i = 0; i < 20_000; i++) {
            total = step(total);
        }
        return total;
    }

    static void serveOrder(int number) {
        sink = priceBasket(number) + packParcel(number);
    }

    static void audit() {
        CRC32 sum = new CRC32();
        byte[] line = new byte[4096];
        while (true) {
            for (int i = 0; i < 256; i++) {
                sum.update(line);
            }
            try {
                Thread.sleep(50);
            } catch (InterruptedException stop) {
                return;
            }
        }
    }

    /** The process id as the kernel of this namespace knows it; ProcessHandle came with Java 9. */
    static String pid() {
        byte[] text = new byte[32];
        try (FileInputStream in = new FileInputStream("/proc/self/stat")) {
            int length = in.read(text);
            return new String(text, 0, Math.max(length, 0), "US-ASCII").split(" ")[0];
        } catch (java.io.IOException none) {
            return "?";
        }
    }

    public static void main(String[] args) {
        long end = args.length > 0 ? System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L : Long.MAX_VALUE;
        Thread auditor = new Thread(Shop::audit, "auditor");
        auditor.setDaemon(true);
        auditor.start();
        System.out.println("shop is open: pid " + pid() + ", java " + System.getProperty("java.version"));
        for (int number = 0; System.nanoTime() < end; number++) {
            serveOrder(number);
        }
        System.out.println("shop is closed");
    }
}

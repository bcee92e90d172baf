// SPDX-FileCopyrightText: The jprof authors
// SPDX-License-Identifier: Apache-2.0
package applications;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A bounded load of HTTP requests to this machine, in a JVM of its own.
 *
 * <pre>Load PORT CLIENTS RATE PATH...</pre>
 *
 * Each client has a connection that stays open and one request on its way at most. RATE requests a second are shared by all of them; 0 is as fast as
 * the answers come. An asterisk in a path becomes the number of the request, of at most 1000.
 */
public final class Load {
  private static final AtomicLong NUMBER = new AtomicLong();
  private static final int DIFFERENT = 1000;

  private Load() {}

  public static void main(String[] args) throws Exception {
    int port = Integer.parseInt(args[0]);
    int clients = Integer.parseInt(args[1]);
    double rate = Double.parseDouble(args[2]);
    for (int i = 0; i < clients; ++i) {
      Client client = new Client(port, rate == 0 ? 0 : (long) (1e9 * clients / rate), args);
      Harness.repeat("load", 1, client::request);
    }
    Harness.serve();
  }

  private static final class Client {
    private final String[] args;
    private final Socket socket;
    private final InputStream in;
    private final long apart;
    private long next = System.nanoTime();

    Client(int port, long apart, String[] args) throws IOException {
      this.args = args;
      this.apart = apart;
      socket = new Socket(InetAddress.getLoopbackAddress(), port);
      socket.setTcpNoDelay(true);
      in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
    }

    long request() throws Exception {
      if (apart > 0) {
        next += apart;
        TimeUnit.NANOSECONDS.sleep(next - System.nanoTime());
      }
      long number = NUMBER.getAndIncrement();
      String path = args[3 + (int) (number % (args.length - 3))].replace("*", Long.toString(number % DIFFERENT));
      socket
          .getOutputStream()
          .write(("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
      String status = line();
      if (!status.contains(" 200")) {
        throw new IOException(path + " answers " + status);
      }
      long length = -1;
      for (String header = line(); !header.isEmpty(); header = line()) {
        if (header.regionMatches(true, 0, "content-length:", 0, 15)) {
          length = Long.parseLong(header.substring(15).trim());
        }
      }
      return length >= 0 ? skip(length) : chunks();
    }

    private long chunks() throws IOException {
      long sum = 0;
      while (true) {
        long length = Long.parseLong(line(), 16);
        sum += skip(length);
        line();
        if (length == 0) {
          return sum;
        }
      }
    }

    private long skip(long length) throws IOException {
      for (long i = 0; i < length; ++i) {
        if (in.read() < 0) {
          throw new IOException("the answer ends early");
        }
      }
      return length;
    }

    private String line() throws IOException {
      StringBuilder text = new StringBuilder();
      for (int octet = in.read(); octet != '\n'; octet = in.read()) {
        if (octet < 0) {
          throw new IOException("the connection ended");
        }
        if (octet != '\r') {
          text.append((char) octet);
        }
      }
      return text.toString();
    }
  }
}

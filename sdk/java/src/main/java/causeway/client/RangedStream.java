package causeway.client;

import java.io.IOException;
import java.io.InputStream;
import java.util.function.BiFunction;

/** Reads a file in ranges, each by a call of its own. A broken read resumes at the byte where it broke. */
final class RangedStream extends InputStream {
  /** Number of bytes per call. Large files need few calls, and a call ends within the time limit on a slow connection. */
  static final int RANGE = 4 << 20;

  private final long size;
  private final BiFunction<Long, Long, byte[]> read;
  private long at;
  private byte[] range = {};
  private int used;

  /** @param read reads the bytes from the first to the last one, both inclusive */
  RangedStream(long from, long size, BiFunction<Long, Long, byte[]> read) {
    this.at = from;
    this.size = size;
    this.read = read;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    if (used == range.length && !next()) {
      return -1;
    }
    int count = Math.min(length, range.length - used);
    System.arraycopy(range, used, into, offset, count);
    used += count;
    return count;
  }

  private boolean next() throws IOException {
    if (at >= size) {
      return false;
    }
    long last = Math.min(at + RANGE, size) - 1;
    try {
      range = read.apply(at, last);
    } catch (CausewayException failure) {
      throw new IOException(failure.getMessage(), failure);
    }
    if (range.length != last - at + 1) {
      throw new IOException("The response to the range " + at + "-" + last + " has " + range.length + " bytes.");
    }
    at += range.length;
    used = 0;
    return true;
  }
}

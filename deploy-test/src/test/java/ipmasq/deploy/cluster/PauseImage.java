package ipmasq.deploy.cluster;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.LinkedHashMap;

/**
 * An image with one program that waits for ever, for the pods' sandboxes and for pods that do
 * nothing but have an address. Made here, so that no registry is needed.
 */
final class PauseImage {
  static final String NAME = "docker.io/library/pause:test";

  private PauseImage() {}

  /** Writes it as an OCI archive. */
  static Path write(Path file) throws IOException {
    var layer = new Tar().file("pause", program(), 0755).bytes();
    var config =
        """
        {"architecture":"amd64","os":"linux","config":{"Entrypoint":["/pause"]},\
        "rootfs":{"type":"layers","diff_ids":["%s"]}}"""
            .formatted(digest(layer))
            .getBytes(StandardCharsets.UTF_8);
    var manifest =
        """
        {"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json",\
        "config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"%s","size":%d},\
        "layers":[{"mediaType":"application/vnd.oci.image.layer.v1.tar","digest":"%s","size":%d}]}"""
            .formatted(digest(config), config.length, digest(layer), layer.length)
            .getBytes(StandardCharsets.UTF_8);
    var index =
        """
        {"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json",\
        "digest":"%s","size":%d,"annotations":{"io.containerd.image.name":"%s"}}]}"""
            .formatted(digest(manifest), manifest.length, NAME)
            .getBytes(StandardCharsets.UTF_8);
    var tar =
        new Tar()
            .file("oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}".getBytes(), 0644)
            .file("index.json", index, 0644);
    for (var blob : new byte[][] {config, manifest, layer}) {
      tar.file("blobs/" + digest(blob).replace(':', '/'), blob, 0644);
    }
    return Files.write(file, tar.bytes());
  }

  /** {@code for (;;) pause();} as an ELF file for x86-64: a header, one segment, nine bytes. */
  private static byte[] program() {
    byte[] code = {
      (byte) 0xb8,
      34,
      0,
      0,
      0, // mov eax, SYS_pause
      0x0f,
      0x05, // syscall
      (byte) 0xeb,
      (byte) 0xf7 // jmp to the beginning
    };
    long base = 0x400000;
    int headers = 64 + 56;
    var elf = ByteBuffer.allocate(headers + code.length).order(ByteOrder.LITTLE_ENDIAN);
    elf.put(new byte[] {0x7f, 'E', 'L', 'F', 2, 1, 1}).position(16);
    elf.putShort((short) 2).putShort((short) 62).putInt(1); // an executable for x86-64
    elf.putLong(base + headers).putLong(64).putLong(0).putInt(0);
    elf.putShort((short) 64).putShort((short) 56).putShort((short) 1);
    elf.position(64);
    elf.putInt(1).putInt(5).putLong(0).putLong(base).putLong(base); // loaded, readable, executable
    elf.putLong(elf.capacity()).putLong(elf.capacity()).putLong(0x1000);
    return elf.put(code).array();
  }

  private static String digest(byte[] bytes) {
    try {
      var hash = MessageDigest.getInstance("SHA-256").digest(bytes);
      return "sha256:" + HexFormat.of().formatHex(hash);
    } catch (NoSuchAlgorithmException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /** As much of a ustar archive as this needs. */
  private static final class Tar {
    private static final int BLOCK = 512;
    private final LinkedHashMap<String, byte[]> entries = new LinkedHashMap<>();

    Tar file(String name, byte[] content, int mode) {
      var header = ByteBuffer.allocate(BLOCK);
      put(header, 0, name);
      put(header, 100, "%07o".formatted(mode));
      put(header, 108, "0000000");
      put(header, 116, "0000000");
      put(header, 124, "%011o".formatted(content.length));
      put(header, 136, "00000000000");
      put(header, 148, "        ");
      put(header, 156, "0");
      put(header, 257, "ustar");
      put(header, 263, "00");
      int sum = 0;
      for (byte b : header.array()) {
        sum += b & 0xff;
      }
      put(header, 148, "%06o\0".formatted(sum));
      var padded = ByteBuffer.allocate(BLOCK + (content.length + BLOCK - 1) / BLOCK * BLOCK);
      entries.put(name, padded.put(header.array()).put(content).array());
      return this;
    }

    private static void put(ByteBuffer header, int at, String text) {
      header.put(at, text.getBytes(StandardCharsets.US_ASCII));
    }

    byte[] bytes() {
      var out = new ByteArrayOutputStream();
      try {
        for (var entry : entries.values()) {
          out.write(entry);
        }
        out.write(new byte[2 * BLOCK]);
      } catch (IOException impossible) {
        throw new UncheckedIOException(impossible);
      }
      return out.toByteArray();
    }
  }
}

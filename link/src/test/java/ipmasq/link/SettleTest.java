package ipmasq.link;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.CodeModel;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** The specimen says the same of itself before and after. */
class SettleTest {
  @Test
  void saysTheSame() throws Exception {
    var loader = new Settled();
    var settled =
        (Supplier<?>) loader.loadClass(Specimen.class.getName()).getConstructor().newInstance();
    assertNotSame(Specimen.class, settled.getClass());
    assertEquals(new Specimen().get(), settled.get());
  }

  @Test
  void nothingIsLeftToLink() throws Exception {
    for (var type : Specimen.class.getDeclaredClasses()) {
      var odd = type == Specimen.Odd.class;
      assertEquals(odd, links(new Settled().settled(type.getName())), type.getName());
    }
    assertTrue(links(bytes(Specimen.class.getName())));
    assertFalse(links(new Settled().settled(Specimen.class.getName())));
  }

  @Test
  void aClassWithoutSuchCallsIsLeftAlone() throws IOException {
    var before = bytes(SettleTest.class.getName());
    assertSame(before, new Settle(ClassHierarchyResolver.defaultResolver()).settle(before));
  }

  private static boolean links(byte[] bytes) {
    for (var method : ClassFile.of().parse(bytes).methods()) {
      if (method.code().isPresent() && links(method.code().get())) {
        return true;
      }
    }
    return false;
  }

  private static boolean links(CodeModel code) {
    for (var element : code) {
      if (element instanceof InvokeDynamicInstruction call
          && call.bootstrapMethod().owner().packageName().equals("java.lang.runtime")) {
        return true;
      }
    }
    return false;
  }

  private static byte[] bytes(String name) throws IOException {
    try (var in =
        SettleTest.class.getClassLoader().getResourceAsStream(name.replace('.', '/') + ".class")) {
      return in.readAllBytes();
    }
  }

  /** Loads the specimen anew, settled. */
  private static final class Settled extends ClassLoader {
    private final Settle settle =
        new Settle(ClassHierarchyResolver.ofResourceParsing(Settled.class.getClassLoader()));

    byte[] settled(String name) throws IOException {
      return settle.settle(bytes(name));
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith(Specimen.class.getName())) {
        return super.loadClass(name, resolve);
      }
      var loaded = findLoadedClass(name);
      try {
        var bytes = settled(name);
        return loaded != null ? loaded : defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }
}

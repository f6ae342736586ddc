package ipmasq.link;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFile.ClassHierarchyResolverOption;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Settles at build time what the compiler leaves to be linked at the first call: a {@code switch}
 * over types, and the {@code equals}, {@code hashCode} and {@code toString} of records.
 *
 * <p>Each of these is an {@code invokedynamic} whose bootstrap builds method handles and spins
 * hidden classes. The AOT cache keeps such results for lambdas and for joined strings, but not for
 * these two, so every start would pay again: half of the CPU time until the first rules stand. The
 * meaning does not change; a test holds both forms against each other.
 */
public final class Settle {
  private static final ClassDesc SWITCHES = ClassDesc.of("java.lang.runtime.SwitchBootstraps");
  private static final ClassDesc RECORDS = ClassDesc.of("java.lang.runtime.ObjectMethods");

  /** A method that takes the place of a call site: the same arguments, the same result. */
  record Substitute(String name, MethodTypeDesc type, Consumer<CodeBuilder> body) {}

  private final ClassFile classes;

  Settle(ClassHierarchyResolver hierarchy) {
    this.classes = ClassFile.of(ClassHierarchyResolverOption.of(hierarchy));
  }

  /**
   * Rewrites the class files of each folder in place. The folders together must hold all that they
   * mention outside of Java.
   */
  public static void main(String[] folders) throws IOException {
    List<Path> roots = new ArrayList<>();
    for (String folder : folders) {
      roots.add(Path.of(folder));
    }
    Settle settle = new Settle(hierarchy(roots));
    for (Path root : roots) {
      List<Path> files;
      try (var all = Files.walk(root)) {
        files = all.filter(f -> f.toString().endsWith(".class")).toList();
      }
      for (Path file : files) {
        byte[] before = Files.readAllBytes(file);
        byte[] after = settle.settle(before);
        if (after != before) {
          Files.write(file, after);
        }
      }
    }
  }

  /** The class without such call sites, or the same array where there was none. */
  byte[] settle(byte[] bytes) {
    ClassModel model = classes.parse(bytes);
    List<Substitute> substitutes = new ArrayList<>();
    ClassTransform calls =
        ClassTransform.transformingMethodBodies(
            (code, element) -> replace(model, code, element, substitutes));
    ClassTransform methods =
        ClassTransform.endHandler(
            type -> {
              int flags = ClassFile.ACC_PRIVATE | ClassFile.ACC_STATIC | ClassFile.ACC_SYNTHETIC;
              for (Substitute s : substitutes) {
                type.withMethodBody(s.name(), s.type(), flags, s.body());
              }
            });
    byte[] settled = classes.transformClass(model, calls.andThen(methods));
    return substitutes.isEmpty() ? bytes : settled;
  }

  private static void replace(
      ClassModel model, CodeBuilder code, CodeElement element, List<Substitute> substitutes) {
    if (element instanceof InvokeDynamicInstruction call) {
      Optional<Substitute> found = substitute(model, call, substitutes.size());
      if (found.isPresent()) {
        substitutes.add(found.get());
        code.invokestatic(
            model.thisClass().asSymbol(),
            found.get().name(),
            found.get().type(),
            model.flags().has(AccessFlag.INTERFACE));
        return;
      }
    }
    code.with(element);
  }

  private static Optional<Substitute> substitute(
      ClassModel model, InvokeDynamicInstruction call, int number) {
    ClassDesc bootstrap = call.bootstrapMethod().owner();
    String name = call.name().stringValue();
    Consumer<CodeBuilder> body;
    if (bootstrap.equals(SWITCHES) && TypeSwitch.knows(call)) {
      body = new TypeSwitch(call.bootstrapArgs());
    } else if (bootstrap.equals(RECORDS)) {
      body = RecordMethod.of(name, model.thisClass().asSymbol(), call.bootstrapArgs());
    } else {
      return Optional.empty();
    }
    return Optional.of(new Substitute("settled$" + name + "$" + number, call.typeSymbol(), body));
  }

  private static ClassHierarchyResolver hierarchy(List<Path> roots) {
    return ClassHierarchyResolver.ofResourceParsing(
            type -> {
              String descriptor = type.descriptorString();
              String file = descriptor.substring(1, descriptor.length() - 1) + ".class";
              for (Path root : roots) {
                Path path = root.resolve(file);
                if (Files.exists(path)) {
                  try {
                    return Files.newInputStream(path);
                  } catch (IOException e) {
                    throw new UncheckedIOException(e);
                  }
                }
              }
              return null;
            })
        .orElse(ClassHierarchyResolver.defaultResolver());
  }
}

package ipmasq.link;

import static java.lang.constant.ConstantDescs.CD_Object;
import static java.lang.constant.ConstantDescs.CD_String;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_void;

import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.MethodTypeDesc;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * What a record's {@code equals}, {@code hashCode} or {@code toString} does, field by field in the
 * order of the header.
 */
final class RecordMethod {
  private static final ClassDesc OBJECTS = ClassDesc.of("java.util.Objects");
  private static final ClassDesc BUILDER = ClassDesc.of("java.lang.StringBuilder");

  /** One component of the record. */
  private record Field(String name, ClassDesc type) {}

  private final ClassDesc self;
  private final List<Field> fields = new ArrayList<>();

  private RecordMethod(ClassDesc self, List<ConstantDesc> arguments) {
    this.self = self;
    // The record's class, its names in one string, then a getter a component.
    for (ConstantDesc getter : arguments.subList(2, arguments.size())) {
      DirectMethodHandleDesc handle = (DirectMethodHandleDesc) getter;
      fields.add(new Field(handle.methodName(), handle.invocationType().returnType()));
    }
  }

  static Consumer<CodeBuilder> of(String method, ClassDesc self, List<ConstantDesc> arguments) {
    RecordMethod of = new RecordMethod(self, arguments);
    return switch (method) {
      case "equals" -> of::equals;
      case "hashCode" -> of::hashCode;
      case "toString" -> of::toString;
      default -> throw new IllegalArgumentException("a record's " + method);
    };
  }

  private void equals(CodeBuilder code) {
    Label differs = code.newLabel();
    code.aload(1).instanceOf(self).ifeq(differs);
    code.aload(1).checkcast(self).astore(2);
    for (Field field : fields) {
      load(code, 0, field);
      load(code, 2, field);
      if (field.type().isPrimitive()) {
        // By the wrapper's compare: NaN equals NaN, and 0.0 differs from -0.0.
        var compare = MethodTypeDesc.of(CD_int, field.type(), field.type());
        code.invokestatic(wrapper(field.type()), "compare", compare).ifne(differs);
      } else {
        var equals = MethodTypeDesc.of(CD_boolean, CD_Object, CD_Object);
        code.invokestatic(OBJECTS, "equals", equals).ifeq(differs);
      }
    }
    code.iconst_1().ireturn().labelBinding(differs).iconst_0().ireturn();
  }

  private void hashCode(CodeBuilder code) {
    code.iconst_0();
    for (Field field : fields) {
      code.loadConstant(31).imul();
      load(code, 0, field);
      if (field.type().isPrimitive()) {
        var hash = MethodTypeDesc.of(CD_int, field.type());
        code.invokestatic(wrapper(field.type()), "hashCode", hash);
      } else {
        code.invokestatic(OBJECTS, "hashCode", MethodTypeDesc.of(CD_int, CD_Object));
      }
      code.iadd();
    }
    code.ireturn();
  }

  private void toString(CodeBuilder code) {
    code.new_(BUILDER).dup().invokespecial(BUILDER, "<init>", MethodTypeDesc.of(CD_void));
    String name = self.displayName();
    append(code.loadConstant(name.substring(name.lastIndexOf('$') + 1) + "["));
    String between = "";
    for (Field field : fields) {
      append(code.loadConstant(between + field.name() + "="));
      load(code, 0, field);
      var valueOf = MethodTypeDesc.of(CD_String, printed(field.type()));
      append(code.invokestatic(CD_String, "valueOf", valueOf));
      between = ", ";
    }
    append(code.loadConstant("]"));
    code.invokevirtual(BUILDER, "toString", MethodTypeDesc.of(CD_String)).areturn();
  }

  private void load(CodeBuilder code, int variable, Field field) {
    code.aload(variable).getfield(self, field.name(), field.type());
  }

  private static void append(CodeBuilder code) {
    code.invokevirtual(BUILDER, "append", MethodTypeDesc.of(BUILDER, CD_String));
  }

  /** The parameter of the {@code String.valueOf} that prints it. */
  private static ClassDesc printed(ClassDesc type) {
    return switch (type.descriptorString()) {
      case "B", "S" -> CD_int;
      default -> type.isPrimitive() ? type : CD_Object;
    };
  }

  private static ClassDesc wrapper(ClassDesc primitive) {
    return switch (primitive.descriptorString()) {
      case "Z" -> ConstantDescs.CD_Boolean;
      case "B" -> ConstantDescs.CD_Byte;
      case "S" -> ConstantDescs.CD_Short;
      case "C" -> ConstantDescs.CD_Character;
      case "I" -> ConstantDescs.CD_Integer;
      case "J" -> ConstantDescs.CD_Long;
      case "F" -> ConstantDescs.CD_Float;
      case "D" -> ConstantDescs.CD_Double;
      default -> throw new IllegalArgumentException(primitive.displayName());
    };
  }
}

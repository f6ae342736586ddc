package ipmasq.link;

import java.lang.classfile.CodeBuilder;
import java.lang.classfile.Label;
import java.lang.classfile.instruction.InvokeDynamicInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDesc;
import java.util.List;
import java.util.function.Consumer;

/**
 * A {@code switch} over types as a chain of {@code instanceof}:
 *
 * <pre>
 * static int settled(Object value, int from) {
 *   if (value == null) return -1;
 *   if (from <= 0 && value instanceof A) return 0;
 *   if (from <= 1 && value instanceof B) return 1;
 *   return 2;
 * }
 * </pre>
 *
 * {@code from} is where to go on after a guard ({@code when}) said no.
 */
record TypeSwitch(List<ConstantDesc> labels) implements Consumer<CodeBuilder> {
  /**
   * Only objects, and labels that are types: switches over numbers or with constants are rare, and
   * left as they are.
   */
  static boolean knows(InvokeDynamicInstruction call) {
    return !call.typeSymbol().parameterType(0).isPrimitive()
        && call.bootstrapMethod().methodName().equals("typeSwitch")
        && call.bootstrapArgs().stream().allMatch(label -> label instanceof ClassDesc);
  }

  @Override
  public void accept(CodeBuilder code) {
    Label present = code.newLabel();
    code.aload(0).ifnonnull(present).loadConstant(-1).ireturn().labelBinding(present);
    for (int i = 0; i < labels.size(); i++) {
      Label next = code.newLabel();
      code.iload(1).loadConstant(i).if_icmpgt(next);
      code.aload(0).instanceOf((ClassDesc) labels.get(i)).ifeq(next);
      code.loadConstant(i).ireturn().labelBinding(next);
    }
    code.loadConstant(labels.size()).ireturn();
  }
}

package ipmasq.netlink;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Marks tests that need a real kernel and root. The test kit's own needs this module. */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Tag("kernel")
@ExtendWith(KernelTest.NeedsRoot.class)
public @interface KernelTest {
  /** Skips where the tests do not run as root. */
  final class NeedsRoot implements ExecutionCondition {
    /** For JUnit. */
    public NeedsRoot() {}

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      return "root".equals(System.getProperty("user.name"))
          ? ConditionEvaluationResult.enabled("runs as root")
          : ConditionEvaluationResult.disabled("needs root: it makes network namespaces");
    }
  }
}

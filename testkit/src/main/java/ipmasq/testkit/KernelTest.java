package ipmasq.testkit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Marks tests that need a real kernel: network namespaces, nat tables, packets. They run as root
 * and are reported as skipped, with the reason, otherwise.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Tag("kernel")
@ExtendWith(KernelTest.NeedsRoot.class)
public @interface KernelTest {
  /** Skips if the tests do not run as root. */
  final class NeedsRoot implements ExecutionCondition {
    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
      return "root".equals(System.getProperty("user.name"))
          ? ConditionEvaluationResult.enabled("runs as root")
          : ConditionEvaluationResult.disabled("needs root: it makes network namespaces");
    }
  }
}

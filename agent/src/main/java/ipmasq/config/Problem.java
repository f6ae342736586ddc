package ipmasq.config;

public record Problem(
    Severity severity, String file, int line, int column, String message, String hint) {
  public enum Severity {
    ERROR,
    WARNING
  }
}

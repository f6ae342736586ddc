package ipmasq.hook.nftables;

import ipmasq.hook.SetKey;
import ipmasq.net.Family;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What the registers of nf_tables hold while a rule is followed. */
final class Registers {
  private static final int SLOTS = 20; // of four bytes each

  private final @Nullable RegisterContent[] slots = new RegisterContent[SLOTS];

  /** Registers 1 to 4 are four slots each, 8 to 23 are the slots themselves. */
  private static int slot(int register) {
    return register >= 1 && register <= 4
        ? (register - 1) * 4
        : register >= 8 && register < 8 + SLOTS ? register - 8 : -1;
  }

  void load(int register, RegisterContent content) {
    int slot = slot(register);
    if (slot < 0) {
      forget();
      return;
    }
    int end = content.length() == 0 ? slot + 4 : slot + (content.length() + 3) / 4;
    for (int i = slot; i < Math.min(end, SLOTS); i++) {
      slots[i] = null;
    }
    slots[slot] = content;
  }

  RegisterContent held(int register) {
    int slot = slot(register);
    RegisterContent content = slot < 0 ? null : slots[slot];
    return content == null ? RegisterContent.unknown("a register") : content;
  }

  /** The fields that form a key, starting at a register. */
  List<RegisterContent> fields(int register, int length) {
    List<RegisterContent> fields = new ArrayList<>();
    int slot = slot(register);
    int left = length;
    while (left > 0) {
      RegisterContent content = slot < 0 || slot >= SLOTS ? null : slots[slot];
      if (content == null || content.length() == 0 || content.length() > left) {
        return List.of();
      }
      fields.add(content);
      int words = (content.length() + 3) / 4;
      slot += words;
      left -= left == content.length() ? left : words * 4;
    }
    return fields.size() == 1 && fields.getFirst().length() != length ? List.of() : fields;
  }

  /** The parts of a key as packet properties; none if one is not a packet property. */
  List<SetKey> keys(int register, int length, Family family) {
    List<SetKey> keys = new ArrayList<>();
    for (RegisterContent field : fields(register, length)) {
      Optional<SetKey> key = field.key(family);
      if (key.isEmpty()) {
        return List.of();
      }
      keys.add(key.get());
    }
    return keys;
  }

  /** Anything may be in them. */
  void forget() {
    Arrays.fill(slots, null);
  }
}

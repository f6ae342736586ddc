package ipmasq.status;

import ipmasq.hook.Flow;
import ipmasq.hook.Hook;
import ipmasq.net.Ip;
import ipmasq.policy.Policy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What happens to a packet to …?
 *
 * @param protocol {@code tcp} and so on, where it was said
 */
record Question(Ip to, Optional<Ip> from, Optional<String> protocol, OptionalInt port) {

  Map<String, Object> answer(View view) {
    Optional<Policy> policy =
        view.status().families().containsKey(to.family())
            ? Optional.of(view.policy(to.family()))
            : Optional.empty();
    Explanation explanation = Explanation.of(policy, to, from, Optional.empty());
    Optional<KernelView> kernel =
        view.hook(to.family())
            .filter(hook -> policy.isEmpty() || hook.holdsOurs())
            .map(hook -> KernelView.of(hook.fate(flow(hook))));
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("to", to);
    fields.put("from", from.orElse(null));
    fields.put("verdict", explanation.verdict());
    fields.put("translated", explanation.translated());
    fields.put("range", explanation.range().orElse(null));
    fields.put("pinned", explanation.pinned());
    fields.put("sentence", explanation.sentence());
    fields.put("because", explanation.because());
    fields.put("kernel", kernel.map(KernelView::fields).orElse(null));
    List<String> notes = new ArrayList<>();
    kernel
        .flatMap(k -> k.objection(explanation))
        .ifPresent(objection -> notes.add("But in the kernel: " + objection + "."));
    fields.put("notes", notes);
    return fields;
  }

  private Flow flow(Hook hook) {
    Flow flow = Routes.flow(to, from, protocol, port);
    // What is not told is taken for ours to translate, as in the explanation.
    return from.isEmpty() && hook.ours().filter(p -> !p.sources().isEmpty()).isPresent()
        ? flow.from(hook.ours().get().sources().subList(0, 1))
        : flow;
  }
}

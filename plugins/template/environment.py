"""my_environment: a policy chooses how a product of matrices is blocked; hone builds, judges and times it."""

import json

KNOBS = {"tile": [16, 64, 256], "unroll": [1, 4, 8], "order": ["rows", "depth"]}
SOURCE = """
#include <algorithm>
#include <cstdint>

extern "C" void ENTRY(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
  std::fill(c, c + m * n, 0.0f);
  for (int64_t p0 = 0; p0 < k; p0 += TILE) {
    const int64_t end = std::min<int64_t>(p0 + TILE, k);
    OUTER {
      INNER {
        const float x = a[i * k + p];
        const float* row = b + p * n;
        float* out = c + i * n;
#pragma GCC unroll UNROLL
        for (int64_t j = 0; j < n; ++j) out[j] += x * row[j];
      }
    }
  }
}
"""
ROWS, DEPTH = "for (int64_t i = 0; i < m; ++i)", "for (int64_t p = p0; p < end; ++p)"


class Environment:
    """Choose the blocks of a matrix product."""

    version = "1.0.0"
    tags = ["autotune"]  # tasks must have all of these; empty: every task
    actions = [{"choice": "map: a value for every knob"}, {"response": "str: its last {…} is the choice, as JSON"}]
    about = {"space": KNOBS}  # added to what `describe` returns

    def start(self, episode):
        """The first observation: a text for the model, or a dict with messages and members of your own."""
        knobs = "".join(f"\n- `{name}`: one of {json.dumps(values)}" for name, values in KNOBS.items())
        return f"{episode['task']['description']}\n\nAnswer with one JSON object that chooses how it is computed:{knobs}"

    def prepare(self, episode, action):
        """The source to judge, or an outcome for a mistake of the model. A ValueError is a mistake of the caller: the
        client gets the error, and the turn stays open."""
        if not isinstance(action.get("choice", action.get("response", action.get("code"))), dict | str):
            raise ValueError("expected 'choice', a map, or 'response', a text")
        choice, wrong = self.choice_of(action)
        if wrong:
            return {"outcome": "no_code" if choice is None else "rejected", "reason": wrong}
        outer, inner = (ROWS, DEPTH) if choice["order"] == "rows" else (DEPTH, ROWS)
        source = SOURCE.replace("ENTRY", episode["task"]["entry"])
        for mark, text in (("TILE", choice["tile"]), ("UNROLL", choice["unroll"]), ("OUTER", outer), ("INNER", inner)):
            source = source.replace(mark, str(text))
        return {"source": source, "language": "c++"}

    def observe(self, episode, action, result):
        """The observation after a turn, as start(). `result` has verdict, reward and fault; after a fault of the machine
        verdict is None and fault says why."""
        choice, wrong = self.choice_of(action)
        verdict = result["verdict"]
        if verdict is None:
            words = f"Not measured, through no fault of the choice: {result['fault']}"
        elif wrong:
            words = f"No choice was taken: {wrong}."
        else:
            speedup = verdict.get("speedup")
            words = f"{verdict['outcome']}: " + (f"{speedup['value']:.2f} times as fast" if speedup else verdict["reason"])
        return {"feedback": words, "choice": None if wrong else choice}

    def choice_of(self, action):
        """The choice (None: there is none), and what is wrong with it."""
        choice = action.get("choice")
        if choice is None:
            text = action.get("response", action.get("code", ""))
            start = text.rfind("{")
            try:
                choice = json.loads(text[start : text.rfind("}") + 1]) if start >= 0 else None
            except (ValueError, RecursionError):
                return {}, "the last {…} is no JSON"
            if choice is None:
                return None, "found no {…} in the response"
        if not isinstance(choice, dict) or set(choice) != set(KNOBS):
            return choice, f"expected {', '.join(KNOBS)}, found {choice!r:.200}"
        for name, value in choice.items():
            if value not in KNOBS[name]:
                return choice, f"{name}: found {value!r}, expected one of {KNOBS[name]}"
        return choice, ""

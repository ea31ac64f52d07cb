"""my_dataset: tasks from a table in this file; docs/tasks.md explains every member of a task."""

# Reference: right rather than fast, with the answer once more in double. Baseline: honest and timed.
REFERENCE = """#include <cstdint>
template <typename T>
static void scale(const float* x, T* out, std::int64_t n, double factor) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(x[i] * factor);
}
extern "C" void reference(const float* x, float* out, std::int64_t n) { scale(x, out, n, FACTOR); }
extern "C" void exact(const float* x, double* out, std::int64_t n) { scale(x, out, n, FACTOR); }
"""
BASELINE = """#include <cstdint>
extern "C" void scale(const float* x, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = x[i] * static_cast<float>(FACTOR);
}
"""
FACTORS = (3, 5, 7)


class Dataset:
    """Arrays to scale, by a factor each."""

    version = "1.0.0"
    parameters = {
        "elements": {"default": 1 << 20, "range": [1024, 1 << 28], "doc": "length of the array that is timed"},
    }

    def __init__(self, config):
        self.elements = config["elements"]
        self.factors = {f"scale_by_{factor}": factor for factor in FACTORS}

    def list_tasks(self):
        return [
            {"id": task_id, "title": f"Scale by {factor}", "split": "train", "tags": ["elementwise"]}
            for task_id, factor in self.factors.items()
        ]

    def get_task(self, task_id):
        factor = self.factors[task_id]  # a KeyError says that there is no such task
        return {
            "id": task_id,
            "title": f"Scale by {factor}",
            "description": f"Write out[i] = {factor} * x[i] for every i below n.",
            "tags": ["elementwise"],
            "entry": "scale",
            "dims": ["n"],
            "tensors": [
                {"name": "x", "role": "in", "dtype": "f32", "shape": ["n"]},
                {"name": "out", "role": "out", "dtype": "f32", "shape": ["n"]},
            ],
            "scalars": [{"name": "n", "value": "n"}],
            "shapes": {"shown": [{"n": 1000}], "hidden": [{"n": [1, 5000]}], "timed": {"n": self.elements}},
            "tolerance": {"rtol": 1e-6, "reason": "one multiplication, rounded once"},
            "backends": {
                "cpu": {
                    "languages": ["c++", "c"],
                    "reference": {"name": "reference.cpp", "text": REFERENCE.replace("FACTOR", str(factor))},
                    "baseline": {"name": "baseline.cpp", "text": BASELINE.replace("FACTOR", str(factor))},
                }
            },
        }

// my_dataset: tasks from a table in this file; docs/tasks.md explains every member of a task.
#include <string>
#include <vector>

#include "hone/plugin.hpp"

namespace {

using namespace hone::plugin;

// Reference: right rather than fast, with the answer once more in double. Baseline: honest and
// timed.
constexpr const char* kReference = R"(#include <cstdint>
template <typename T>
static void scale(const float* x, T* out, std::int64_t n, double factor) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(x[i] * factor);
}
extern "C" void reference(const float* x, float* out, std::int64_t n) { scale(x, out, n, FACTOR); }
extern "C" void exact(const float* x, double* out, std::int64_t n) { scale(x, out, n, FACTOR); }
)";
constexpr const char* kBaseline = R"(#include <cstdint>
extern "C" void scale(const float* x, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = x[i] * static_cast<float>(FACTOR);
}
)";

class MyDataset {
 public:
  static DatasetDescription describe() {
    return {"arrays to scale, by a factor each",
            {integer_parameter("elements", 1 << 20, 1024, 1 << 28,
                               "length of the array that is timed")}};
  }

  MyDataset(const Config& config, const Host& host) : elements_(config.integer("elements")) {
    host.info("my_dataset has " + std::to_string(factors_.size()) + " tasks");
  }

  std::vector<TaskSummary> list() const {
    std::vector<TaskSummary> tasks;
    for (const int factor : factors_) {
      tasks.push_back(
          {.id = id(factor), .title = title(factor), .tags = {"elementwise"}, .backends = {"cpu"}});
    }
    return tasks;
  }

  std::optional<Value> get(std::string_view wanted) const {
    for (const int factor : factors_) {
      if (id(factor) == wanted) return task(factor);
    }
    return std::nullopt;
  }

 private:
  static std::string id(int factor) { return "scale_by_" + std::to_string(factor); }
  static std::string title(int factor) { return "Scale by " + std::to_string(factor); }

  static Value source(std::string name, std::string text, int factor) {
    text.replace(text.find("FACTOR"), 6, std::to_string(factor));
    if (const auto at = text.find("FACTOR"); at != std::string::npos) {
      text.replace(at, 6, std::to_string(factor));
    }
    return Value::map({{"name", std::move(name)}, {"text", std::move(text)}});
  }

  Value task(int factor) const {
    const auto tensor = [](const char* name, const char* role) {
      return Value::map(
          {{"name", name}, {"role", role}, {"dtype", "f32"}, {"shape", Value::array({"n"})}});
    };
    const auto n = [](Value extent) { return Value::map({{"n", std::move(extent)}}); };
    return Value::map(
        {{"id", id(factor)},
         {"title", title(factor)},
         {"description",
          "Write out[i] = " + std::to_string(factor) + " * x[i] for every i below n."},
         {"tags", Value::array({"elementwise"})},
         {"entry", "scale"},
         {"dims", Value::array({"n"})},
         {"tensors", Value::array({tensor("x", "in"), tensor("out", "out")})},
         {"scalars", Value::array({Value::map({{"name", "n"}, {"value", "n"}})})},
         {"shapes", Value::map({{"shown", Value::array({n(1000)})},
                                {"hidden", Value::array({n(Value::array({1, 5000}))})},
                                {"timed", n(elements_)}})},
         {"tolerance",
          Value::map({{"rtol", 1e-6}, {"reason", "one multiplication, rounded once"}})},
         {"backends",
          Value::map(
              {{"cpu", Value::map({{"languages", Value::array({"c++", "c"})},
                                   {"reference", source("reference.cpp", kReference, factor)},
                                   {"baseline", source("baseline.cpp", kBaseline, factor)}})}})}});
  }

  std::int64_t elements_;
  std::vector<int> factors_{3, 5, 7};
};

}  // namespace

HONE_EXPORT_DATASET(MyDataset, "my_dataset", "1.0.0");

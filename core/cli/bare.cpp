// Does what judge/session.cpp and judge/measure.cpp do, by plain calls in one process.
#include "cli/bare.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "judge/compare.hpp"
#include "judge/fill.hpp"
#include "judge/layout.hpp"
#include "judge/session.hpp"
#include "judge/statistics.hpp"
#include "plugin/call.hpp"

namespace hone {
namespace {

std::uint32_t kind_of(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return HONE_ARGUMENT_F32;
    case DType::kF64:
      return HONE_ARGUMENT_F64;
    case DType::kI64:
      return HONE_ARGUMENT_I64;
    default:
      return HONE_ARGUMENT_I32;
  }
}

std::uint64_t scalar_bits(const Scalar& scalar, const Dims& dims, std::uint64_t seed) {
  std::uint64_t bits = 0;
  if (!scalar.value.empty()) {
    const auto value = evaluate_expression(scalar.value, dims);
    const std::int64_t number = value ? *value : 0;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
  }
  const double number = draw(seed, scalar.low, scalar.high);
  if (scalar.dtype == DType::kF32) {
    const auto single = static_cast<float>(number);
    std::memcpy(&bits, &single, sizeof single);
  } else {
    std::memcpy(&bits, &number, sizeof number);
  }
  return bits;
}

/// One arena with a loaded artifact, in this process.
class Plain {
 public:
  Plain(const Backend& backend, hone_device* device)
      : backend_(backend.factory()), who_(backend.name()), device_(device) {}

  Status load(const Task& task, const std::string& artifact, const std::string& entry,
              std::uint64_t arena_bytes) {
    HONE_TRY(call_plugin(who_, [&](hone_error* e) {
      return backend_->create_buffer(device_, arena_bytes, &buffer_, e);
    }));
    base_ = static_cast<char*>(backend_->map_buffer(buffer_));
    HONE_ASSIGN(const UniqueFd file, memory_file("artifact", artifact));
    HONE_TRY(call_plugin(
        who_, [&](hone_error* e) { return backend_->load(device_, file.get(), &artifact_, e); }));
    return find(task, entry, &kernel_);
  }
  Status find(const Task& task, const std::string& entry, hone_kernel** kernel) {
    std::vector<std::uint32_t> kinds;
    for (const std::string& name : task.arguments) {
      std::uint32_t kind = HONE_ARGUMENT_BUFFER;
      for (const Scalar& scalar : task.scalars) {
        if (scalar.name == name) kind = kind_of(scalar.dtype);
      }
      kinds.push_back(kind);
    }
    return call_plugin(who_, [&](hone_error* e) {
      return backend_->get_kernel(artifact_, entry.c_str(), kinds.data(),
                                  static_cast<std::uint32_t>(kinds.size()), kernel, e);
    });
  }
  Status find_exact(const Task& task) { return find(task, "exact", &exact_); }
  Status run(const std::array<std::uint64_t, HONE_ARGUMENTS_MAX>& values, std::size_t count,
             bool exact = false) {
    hone_launch launch{};
    launch.struct_size = sizeof launch;
    launch.count = static_cast<std::uint32_t>(count);
    launch.values = values.data();
    return call_plugin(who_, [&](hone_error* e) {
      return backend_->launch(exact ? exact_ : kernel_, buffer_, &launch, e);
    });
  }
  char* base() const { return base_; }

 private:
  const hone_backend_factory* backend_;
  const std::string who_;
  hone_device* device_;
  hone_buffer* buffer_ = nullptr;
  hone_artifact* artifact_ = nullptr;
  hone_kernel *kernel_ = nullptr, *exact_ = nullptr;
  char* base_ = nullptr;
};

/// The judge's InputSet, without the hiding.
class PlainSet {
 public:
  PlainSet(const Task& task, Dims dims, std::size_t family, std::size_t calls, std::uint64_t seed,
           Plain& reference)
      : task_(task),
        dims_(std::move(dims)),
        family_(family),
        calls_(calls),
        seed_(seed),
        reference_(reference) {}

  Status make() {
    HONE_ASSIGN(exact_, lay_out(task_, dims_, calls_, Placement::kCanaries, true));
    HONE_ASSIGN(layout_, lay_out(task_, dims_, calls_, Placement::kCanaries, false));
    for (std::size_t call = 0; call < calls_; ++call) {
      for (std::size_t t = 0; t < task_.tensors.size(); ++t) {
        const Tensor& tensor = task_.tensors[t];
        const auto named = task_.families[family_].tensors.find(tensor.name);
        const Generator& generator = named == task_.families[family_].tensors.end()
                                         ? task_.families[family_].fallback
                                         : named->second;
        const Region& r = exact_.calls[call][t];
        if (tensor.role != Role::kOut) {
          fill_tensor(reference_.base() + r.payload, tensor.dtype, r.elements, generator,
                      derive_seed(seed_, tensor.name, call));
        }
      }
    }
    return {};
  }
  void load_into(Plain& plain) const {
    for (std::size_t call = 0; call < calls_; ++call) {
      for (std::size_t t = 0; t < task_.tensors.size(); ++t) {
        const Region& r = layout_.calls[call][t];
        write_pattern(plain.base(), r.begin, r.payload, seed_);
        write_pattern(plain.base(), r.payload + r.bytes, r.end, seed_);
        if (task_.tensors[t].role == Role::kOut) {
          write_pattern(plain.base(), r.payload, r.payload + r.bytes, seed_ + call);
        } else {
          std::memcpy(plain.base() + r.payload, reference_.base() + exact_.calls[call][t].payload,
                      r.bytes);
        }
      }
    }
  }
  Result<double> run(Plain& plain) const {
    std::vector<std::array<std::uint64_t, HONE_ARGUMENTS_MAX>> values;
    for (std::size_t call = 0; call < calls_; ++call)
      values.push_back(values_of(layout_.calls[call], call));
    const double start = monotonic_s();
    for (const auto& one : values) HONE_TRY(plain.run(one, task_.arguments.size()));
    return monotonic_s() - start;
  }
  Result<bool> right(const Plain& plain) const {
    for (std::size_t call = 0; call < calls_; ++call) {
      for (std::size_t t = 0; t < task_.tensors.size(); ++t) {
        const Region& r = layout_.calls[call][t];
        if (!pattern_stands(plain.base(), r.begin, r.payload, seed_)) return false;
        if (!pattern_stands(plain.base(), r.payload + r.bytes, r.end, seed_)) return false;
        const char* master = reference_.base() + exact_.calls[call][t].payload;
        if (task_.tensors[t].role == Role::kIn &&
            std::memcmp(plain.base() + r.payload, master, r.bytes) != 0)
          return false;
      }
      HONE_TRY(reference_.run(values_of(exact_.calls[call], call), task_.arguments.size(), true));
      for (std::size_t t = 0; t < task_.tensors.size(); ++t) {
        const Tensor& tensor = task_.tensors[t];
        if (tensor.role == Role::kIn) continue;
        const Region& r = layout_.calls[call][t];
        HONE_ASSIGN(const auto axes, extents(tensor, dims_));
        const auto row = static_cast<std::uint64_t>(axes.empty() ? 1 : axes.back());
        if (compare_output(plain.base() + r.payload,
                           reference_.base() + exact_.calls[call][t].payload, tensor.dtype,
                           r.elements, row, task_.tolerance)) {
          return false;
        }
      }
    }
    return true;
  }

 private:
  std::array<std::uint64_t, HONE_ARGUMENTS_MAX> values_of(const std::vector<Region>& regions,
                                                          std::size_t call) const {
    std::array<std::uint64_t, HONE_ARGUMENTS_MAX> values{};
    for (std::size_t i = 0; i < task_.arguments.size(); ++i) {
      for (std::size_t t = 0; t < task_.tensors.size(); ++t) {
        if (task_.tensors[t].name == task_.arguments[i]) values[i] = regions[t].payload;
      }
      for (const Scalar& scalar : task_.scalars) {
        if (scalar.name == task_.arguments[i]) {
          values[i] = scalar_bits(scalar, dims_, derive_seed(seed_, "scalar/" + scalar.name, call));
        }
      }
    }
    return values;
  }

  const Task& task_;
  const Dims dims_;
  const std::size_t family_, calls_;
  const std::uint64_t seed_;
  Plain& reference_;
  Layout exact_, layout_;
};

struct Three {
  Plain submission, reference, baseline;
};

Result<bool> check(const Task& task, std::uint64_t seed, Three& three) {
  const std::vector<Trial> trials = plan_trials(task, seed);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    PlainSet set(task, trials[i].dims, trials[i].family, 1, derive_seed(seed, "check", i),
                 three.reference);
    HONE_TRY(set.make());
    set.load_into(three.submission);
    HONE_TRY(set.run(three.submission));
    HONE_ASSIGN(const bool right, set.right(three.submission));
    if (!right) return false;
  }
  return true;
}

/// One pair as the judge's: B, its answers, then A.
Result<bool> pair(const Task& task, std::uint64_t seed, std::size_t calls, Three& three, double* a,
                  double* b) {
  PlainSet set(task, task.timed, 0, calls, seed, three.reference);
  HONE_TRY(set.make());
  set.load_into(three.submission);
  HONE_ASSIGN(*b, set.run(three.submission));
  HONE_ASSIGN(const bool right, set.right(three.submission));
  set.load_into(three.baseline);
  HONE_ASSIGN(*a, set.run(three.baseline));
  return right;
}

Result<bool> measure(const Task& task, std::uint64_t seed, const MeasureSettings& settings,
                     double call_seconds, Three& three, double* speedup) {
  const std::size_t calls = round_calls(task, settings, call_seconds);
  std::vector<double> a(1), b;
  double warm = 0, pair_a = 0, pair_b = 0;
  std::uint64_t number = 0;
  HONE_ASSIGN(bool right,
              pair(task, derive_seed(seed, "pair", number++), calls, three, &a[0], &warm));
  for (int i = 0; right && i < settings.pairs_max; ++i) {
    HONE_ASSIGN(right,
                pair(task, derive_seed(seed, "pair", number++), calls, three, &pair_a, &pair_b));
    a.push_back(pair_a);
    b.push_back(pair_b);
    if (!right || calls == 1 || i >= settings.singles) continue;
    HONE_ASSIGN(right, pair(task, derive_seed(seed, "pair", number++), 1, three, &pair_a, &pair_b));
  }
  if (right) *speedup = speedup_of_rounds(a, b, seed).value;
  return right;
}

}  // namespace

Result<BareRun> run_bare(const Backend& backend, const Task& task, const BareArtifacts& artifacts,
                         std::uint64_t seed, const MeasureSettings& settings, double call_seconds) {
  BareRun run;
  const double start = monotonic_s();
  hone_device* device = nullptr;
  HONE_TRY(call_plugin(backend.name(), [&](hone_error* e) {
    return backend.factory()->open_device(backend.host(), 0, &device, e);
  }));
  Three three{{backend, device}, {backend, device}, {backend, device}};
  HONE_ASSIGN(const std::uint64_t bytes, arena_bytes(task, settings, false));
  HONE_ASSIGN(const std::uint64_t exact_bytes, arena_bytes(task, settings, true));
  HONE_TRY(three.submission.load(task, artifacts.submission, task.entry, bytes));
  HONE_TRY(three.baseline.load(task, artifacts.baseline, task.entry, bytes));
  HONE_TRY(three.reference.load(task, artifacts.reference, "reference", exact_bytes));
  HONE_TRY(three.reference.find_exact(task));
  const double loaded = monotonic_s();
  HONE_ASSIGN(run.correct, check(task, seed, three));
  const double checked = monotonic_s();
  if (run.correct) {
    HONE_ASSIGN(run.correct, measure(task, seed, settings, call_seconds, three, &run.speedup));
  }
  run.load_ms = (loaded - start) * 1e3;
  run.check_ms = (checked - loaded) * 1e3;
  run.measure_ms = (monotonic_s() - checked) * 1e3;
  return run;
}

}  // namespace hone

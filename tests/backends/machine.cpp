// Lays out tensors like the judge, with canaries between them, and runs plans.
#include "backends/machine.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "judge/fill.hpp"

namespace hone::test {
namespace {

constexpr std::uint64_t kPage = 4096;

std::uint64_t whole_pages(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

template <typename Call>
Status checked(const char* what, Call&& call) {
  const Said got = said(std::forward<Call>(call));
  if (got.code == HONE_OK) return {};
  return Error{static_cast<Code>(got.code), std::string(what) + ": " + got.words};
}

const Generator& generator_of(const Family& family, const std::string& tensor) {
  const auto own = family.tensors.find(tensor);
  return own == family.tensors.end() ? family.fallback : own->second;
}

/// The bits of a scalar argument, the same for the same seed.
std::uint64_t scalar_of(const Scalar& scalar, const Dims& dims, std::uint64_t seed) {
  if (!scalar.value.empty()) return bits_of(evaluate_expression(scalar.value, dims).value());
  const double number = draw(derive_seed(seed, scalar.name), scalar.low, scalar.high);
  if (scalar.dtype == DType::kF32) return bits_of(static_cast<float>(number));
  return scalar.dtype == DType::kF64 ? bits_of(number) : bits_of(static_cast<std::int64_t>(number));
}

/// What the device can start, as plans are held against; a limit of 0 is none that it knows of.
PlanLimits limits_of(const Value& facts) {
  PlanLimits limits;
  const Value& given = *facts.find("limits");
  const auto take = [](const Value* from, std::int64_t& to) {
    if (from->as_int() > 0) to = from->as_int();
  };
  for (std::size_t i = 0; i < 3; ++i) {
    take(&given.find("grid")->as_array()[i], limits.grid[i]);
    take(&given.find("block")->as_array()[i], limits.block[i]);
  }
  take(given.find("block_threads"), limits.block_threads);
  take(given.find("shared_bytes"), limits.shared_bytes);
  limits.cluster = given.find("cluster")->as_int();
  return limits;
}

/// The memory of one run.
struct Arena {
  Layout layout;
  std::vector<std::uint64_t> scratch;  ///< offsets
  std::vector<char> content;           ///< poison, canaries and inputs
};

Result<Arena> fill(const Task& task, const Dims& dims, const Family& family, std::uint64_t seed,
                   bool exact, const std::vector<std::uint64_t>& scratch_bytes) {
  Arena arena;
  HONE_ASSIGN(arena.layout, lay_out(task, dims, 1, Placement::kDevice, exact));
  arena.content.resize(arena.layout.total);
  write_pattern(arena.content.data(), 0, arena.layout.total, seed);
  for (std::size_t t = 0; t < task.tensors.size(); ++t) {
    const Tensor& tensor = task.tensors[t];
    const Region& region = arena.layout.calls[0][t];
    if (tensor.role == Role::kOut) continue;
    fill_tensor(arena.content.data() + region.payload, tensor.dtype, region.elements,
                generator_of(family, tensor.name), derive_seed(seed, tensor.name));
  }
  std::uint64_t at = arena.layout.total;
  for (const std::uint64_t bytes : scratch_bytes) {
    arena.scratch.push_back(at);
    at += whole_pages(std::max<std::uint64_t>(bytes, 1));
  }
  return arena;
}

/// Takes the outputs; all else must be as it was.
Result<std::map<std::size_t, std::vector<char>>> outputs_of(const Task& task, const Arena& arena,
                                                            const std::vector<char>& now) {
  std::map<std::size_t, std::vector<char>> outputs;
  std::vector<char> expected = arena.content;
  for (std::size_t t = 0; t < task.tensors.size(); ++t) {
    if (task.tensors[t].role == Role::kIn) continue;
    const Region& region = arena.layout.calls[0][t];
    const auto begin = now.begin() + static_cast<std::ptrdiff_t>(region.payload);
    outputs[t].assign(begin, begin + static_cast<std::ptrdiff_t>(region.bytes));
    std::copy(outputs[t].begin(), outputs[t].end(),
              expected.begin() + static_cast<std::ptrdiff_t>(region.payload));
  }
  const auto [mine, its] = std::mismatch(expected.begin(), expected.end(), now.begin());
  if (its != now.end()) {
    return internal_error("byte " + std::to_string(its - now.begin()) +
                          " was written, and is no output's");
  }
  return outputs;
}

}  // namespace

Machine::Machine(const Tested& which, Task task) : which_(which), task_(std::move(task)) {
  const Status started = start();
  if (!started.ok()) trouble_ = started.error().message;
}

Machine::~Machine() {
  for (const Loaded* one : {&reference_, &baseline_}) table().unload(one->artifact);
  table().close_device(device_);
}

Status Machine::start() {
  const Backend& backend = backend_of(which_);
  HONE_TRY(checked("open device", [&](hone_error* error) {
    return table().open_device(backend.host(), 0, &device_, error);
  }));
  HONE_ASSIGN(const Value facts, backend.facts(device_));
  limits_ = limits_of(facts);
  host_ = facts.find("limits")->find("block_threads")->as_int() == 0;
  const BackendSources& sources = task_.backends.at(which_.name);
  HONE_ASSIGN(reference_plan_, plan(sources.reference, "reference", true));
  HONE_ASSIGN(exact_plan_, plan(sources.reference, "exact", false));
  HONE_ASSIGN(baseline_plan_, plan(sources.baseline, "", true));
  HONE_TRY(load(sources.reference, {&reference_plan_, &exact_plan_}, reference_));
  return load(sources.baseline, {&baseline_plan_}, baseline_);
}

Result<Plan> Machine::plan(const Source& source, const std::string& form, bool first_form) const {
  if (host_) return host_plan(task_, form.empty() ? task_.entry : form);
  return parse_plan(source.text, task_, task_.entry, form, first_form);
}

Status Machine::load(const Source& source, const std::vector<const Plan*>& plans, Loaded& loaded) {
  HONE_ASSIGN(loaded.names, plan_kernels(task_, plans));
  std::vector<std::string> entries;
  for (const PlanKernel& kernel : loaded.names) entries.push_back(kernel.name);
  HONE_ASSIGN(const Value built,
              try_build(backend_of(which_), request_of(which_, source.text, entries)));
  if (!flag_of(built, "ok"))
    return invalid_argument(source.name + ": " + text_of(built, "diagnostics"));
  const int fd = file_of(built.find("artifact")->as_bytes());
  const Status got = checked("load", [&](hone_error* error) {
    return table().load(device_, fd, &loaded.artifact, error);
  });
  close(fd);
  HONE_TRY(got);
  for (const PlanKernel& one : loaded.names) {
    hone_kernel* kernel = nullptr;
    HONE_TRY(checked(one.name.c_str(), [&](hone_error* error) {
      return table().get_kernel(loaded.artifact, one.name.c_str(), one.kinds.data(),
                                static_cast<std::uint32_t>(one.kinds.size()), &kernel, error);
    }));
    loaded.kernels.push_back(kernel);
  }
  return {};
}

std::uint64_t Machine::argument(const std::string& name, const std::vector<Region>& regions,
                                const Dims& dims, std::uint64_t seed) const {
  for (std::size_t t = 0; t < task_.tensors.size(); ++t) {
    if (task_.tensors[t].name == name) return regions[t].payload;
  }
  for (const Scalar& scalar : task_.scalars) {
    if (scalar.name == name) return scalar_of(scalar, dims, seed);
  }
  return 0;
}

Status Machine::launch(const ReadyLaunch& one, hone_kernel* kernel, hone_buffer* arena,
                       const std::vector<Region>& regions,
                       const std::vector<std::uint64_t>& scratch, const Dims& dims,
                       std::uint64_t seed) const {
  std::vector<std::uint64_t> values;
  for (const ReadyArgument& given : one.arguments) {
    if (given.slot >= 0) {
      const std::string& name = task_.arguments[static_cast<std::size_t>(given.slot)];
      values.push_back(argument(name, regions, dims, seed));
    } else {
      values.push_back(given.scratch < 0 ? given.value
                                         : scratch[static_cast<std::size_t>(given.scratch)]);
    }
  }
  hone_launch launch{};
  launch.struct_size = sizeof launch;
  launch.count = static_cast<std::uint32_t>(values.size());
  launch.values = values.data();
  for (std::size_t i = 0; i < 3; ++i) {
    launch.grid[i] = std::max(one.grid[i], 1u);
    launch.block[i] = std::max(one.block[i], 1u);
    launch.cluster[i] = one.cluster[i];
  }
  launch.shared_bytes = one.shared_bytes;
  launch.flags = one.cooperative ? HONE_LAUNCH_COOPERATIVE : 0;
  return checked("launch",
                 [&](hone_error* error) { return table().launch(kernel, arena, &launch, error); });
}

Result<std::map<std::size_t, std::vector<char>>> Machine::run(Form form, const Dims& dims,
                                                              const Family& family,
                                                              std::uint64_t seed) {
  const Loaded& loaded = form == Form::kBaseline ? baseline_ : reference_;
  const Plan& plan = form == Form::kBaseline    ? baseline_plan_
                     : form == Form::kReference ? reference_plan_
                                                : exact_plan_;
  HONE_ASSIGN(const ReadyPlan ready, ready_plan(task_, plan, loaded.names, dims, limits_));
  HONE_ASSIGN(Arena arena,
              fill(task_, dims, family, seed, form == Form::kExact, ready.scratch_bytes));
  std::uint64_t bytes = whole_pages(arena.layout.total);
  for (const std::uint64_t one : ready.scratch_bytes) bytes += whole_pages(one) + kPage;
  hone_buffer* made = nullptr;
  HONE_TRY(checked("make a buffer", [&](hone_error* error) {
    return table().create_buffer(device_, bytes, &made, error);
  }));
  const auto release = [this](hone_buffer* buffer) { table().release_buffer(buffer); };
  const std::unique_ptr<hone_buffer, decltype(release)> buffer(made, release);
  const std::vector<Region>& regions = arena.layout.calls[0];
  std::vector<char> now(arena.content.size());
  HONE_TRY(checked("write", [&](hone_error* error) {
    return table().write_buffer(made, 0, arena.content.data(), arena.content.size(), error);
  }));
  for (const ReadyLaunch& one : ready.launches) {
    HONE_TRY(launch(one, loaded.kernels[one.kernel], made, regions, arena.scratch, dims, seed));
  }
  HONE_TRY(checked("wait", [&](hone_error* error) { return table().wait(device_, error); }));
  HONE_TRY(checked("read", [&](hone_error* error) {
    return table().read_buffer(made, 0, now.data(), now.size(), error);
  }));
  return outputs_of(task_, arena, now);
}

}  // namespace hone::test

// Each source is compiled with a function that converts an array of pointers to the entry's signature.
#include "datasets/workbench.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/assert.hpp"
#include "base/files.hpp"
#include "judge/compare.hpp"
#include "judge/fill.hpp"

namespace hone::workbench {
namespace {

const Tensor* find_tensor(const Task& task, const std::string& name) {
  for (const Tensor& t : task.tensors) {
    if (t.name == name) return &t;
  }
  return nullptr;
}

/// extern "C" void call_F(void* const* a) { F(static_cast<const float*>(a[0]),
/// *static_cast<int64_t*>(a[1])); }
std::string caller(const Task& task, const std::string& function) {
  std::string call;
  for (std::size_t i = 0; i < task.arguments.size(); ++i) {
    const std::string at = "a[" + std::to_string(i) + "]";
    if (i > 0) call += ", ";
    if (const Tensor* t = find_tensor(task, task.arguments[i])) {
      const bool widened = function == "exact" && t->role != Role::kIn && dtype_is_float(t->dtype);
      const std::string type = widened ? "double" : std::string(dtype_c_name(t->dtype));
      call += "static_cast<" + type + "*>(" + at + ")";
      continue;
    }
    for (const Scalar& s : task.scalars) {
      if (s.name != task.arguments[i]) continue;
      call += "*static_cast<" + std::string(dtype_c_name(s.dtype)) + "*>(" + at + ")";
    }
  }
  return "extern \"C\" void call_" + function + "(void* const* a) { " + function + "(" + call +
         "); }\n";
}

/// Runs a command line and gives back what it printed.
std::pair<int, std::string> shell(const std::string& command) {
  std::string output;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  HONE_ASSERT(pipe != nullptr);
  char part[4096];
  while (std::fgets(part, sizeof part, pipe) != nullptr) output += part;
  return {pclose(pipe), output};
}

}  // namespace

Result<std::filesystem::path> build(const Task& task, const Source& source,
                                    const std::vector<std::string>& functions,
                                    const std::filesystem::path& folder) {
  const std::filesystem::path at = folder / source.name;
  std::string text = source.text + "\n";
  for (const std::string& function : functions) text += caller(task, function);
  HONE_TRY(write_file(at, text));
  const std::filesystem::path library = at.string() + ".so";
  const auto [status, output] = shell("g++ -std=c++17 -O3 -march=native -shared -fPIC -w '" +
                                      at.string() + "' -o '" + library.string() + "'");
  if (status != 0) return invalid_argument(output);
  return library;
}

Function load(const std::filesystem::path& library, const std::string& function) {
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) std::fprintf(stderr, "%s\n", dlerror());
  HONE_ASSERT(handle != nullptr);
  void* symbol = dlsym(handle, ("call_" + function).c_str());
  HONE_ASSERT(symbol != nullptr);
  return reinterpret_cast<Function>(symbol);
}

std::string Case::name() const {
  std::string text;
  for (const auto& [dim, extent] : dims) text += dim + "=" + std::to_string(extent) + " ";
  return text + family.name;
}

std::vector<Case> cases(const Task& task, bool timed_with_all, std::uint64_t seed) {
  std::vector<Dims> shapes = task.shown;
  for (std::size_t i = 0; i < task.hidden.size(); ++i) {
    Dims dims;
    for (const auto& [dim, range] : task.hidden[i].ranges) {
      dims[dim] = draw_integer(derive_seed(seed, dim, i), range.first, range.second);
    }
    shapes.push_back(dims);
  }
  std::vector<Case> all;
  const auto add = [&](const Dims& dims, const Family& family) {
    all.push_back({dims, family, derive_seed(seed, "case", all.size())});
  };
  for (const Dims& dims : shapes) {
    for (const Family& family : task.families) add(dims, family);
  }
  for (const Family& family : task.families) {
    add(task.timed, family);
    if (!timed_with_all) break;
  }
  return all;
}

Call::Call(const Task& task, const Case& which, bool doubles) : task_(task) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t i = 0; i < task.tensors.size(); ++i) {
    const Tensor& t = task.tensors[i];
    const bool widened = doubles && t.role != Role::kIn && dtype_is_float(t.dtype);
    Part part;
    const auto axes = extents(t, which.dims);
    HONE_ASSERT(axes.ok());
    part.count = 1;
    for (const std::int64_t axis : axes.value()) part.count *= static_cast<std::uint64_t>(axis);
    part.row = static_cast<std::uint64_t>(axes.value().back());
    part.bytes = part.count * (widened ? sizeof(double) : dtype_size(t.dtype));
    const std::uint64_t room = (part.bytes + page - 1) / page * page;
    part.mapped = room + page;
    void* mapping =
        mmap(nullptr, part.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    HONE_ASSERT(mapping != MAP_FAILED);
    part.mapping = static_cast<char*>(mapping);
    HONE_ASSERT(mprotect(part.mapping + room, page, PROT_NONE) == 0);
    part.data = part.mapping + room - part.bytes;
    if (t.role == Role::kOut) {
      std::memset(part.data, 0x5B, part.bytes);
    } else {
      const auto named = which.family.tensors.find(t.name);
      const Generator& g =
          named == which.family.tensors.end() ? which.family.fallback : named->second;
      fill_tensor(part.data, t.dtype, part.count, g, derive_seed(which.seed, t.name));
    }
    parts_.push_back(part);
  }
  for (const Scalar& s : task.scalars) {
    std::uint64_t bits = 0;
    const double drawn = draw(derive_seed(which.seed, s.name), s.low, s.high);
    const auto single = static_cast<float>(drawn);
    if (s.value.empty() && s.dtype == DType::kF32) {
      std::memcpy(&bits, &single, sizeof single);
    } else if (s.value.empty() && s.dtype == DType::kF64) {
      std::memcpy(&bits, &drawn, sizeof drawn);
    } else {
      const std::int64_t value =
          s.value.empty() ? std::llround(drawn) : evaluate_expression(s.value, which.dims).value();
      std::memcpy(&bits, &value, sizeof value);
    }
    scalars_.push_back(bits);
  }
}

Call::~Call() {
  for (const Part& part : parts_) munmap(part.mapping, part.mapped);
}

void Call::run(Function function) const {
  std::vector<void*> arguments;
  for (const std::string& name : task_.arguments) {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (task_.tensors[i].name == name) arguments.push_back(parts_[i].data);
    }
    for (std::size_t i = 0; i < scalars_.size(); ++i) {
      if (task_.scalars[i].name == name) {
        arguments.push_back(const_cast<std::uint64_t*>(&scalars_[i]));
      }
    }
  }
  function(arguments.data());
}

std::uint64_t Call::bytes() const {
  std::uint64_t sum = 0;
  for (const Part& part : parts_) sum += part.bytes;
  return sum;
}

double worst_share(const Task& task, const Call& got, const Call& exact) {
  double worst = 0;
  for (std::size_t i = 0; i < task.tensors.size(); ++i) {
    const Tensor& t = task.tensors[i];
    if (t.role == Role::kIn) continue;
    worst = std::max(worst, error_share(got.data(i), exact.data(i), t.dtype, got.count(i),
                                        got.row(i), task.tolerance));
  }
  return worst;
}

}  // namespace hone::workbench

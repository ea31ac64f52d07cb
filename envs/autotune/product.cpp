// A blocked product with the choice as constants: tiles for the caches, vectors and rows for the registers.
#include "autotune/product.hpp"

#include <algorithm>

namespace hone::autotune {
namespace {

constexpr std::string_view kProduct = R"(
#include <algorithm>
#include <cstdint>
#include <cstring>

namespace {

CONSTANTS
typedef float Vec __attribute__((vector_size(kVector * sizeof(float))));

// Adds depth products to kRows × kVector elements of c. If `first`, the elements start at zero.
template <int64_t kRows>
inline void block(const float* a, int64_t a_row, const float* b, int64_t b_row, float* c, int64_t c_row,
                  int64_t depth, bool first) {
  Vec sum[kRows] = {};
  if (!first) {
    for (int64_t r = 0; r < kRows; ++r) std::memcpy(&sum[r], c + r * c_row, sizeof(Vec));
  }
  for (int64_t p = 0; p < depth; ++p) {
    Vec line;
    std::memcpy(&line, b + p * b_row, sizeof(Vec));
    for (int64_t r = 0; r < kRows; ++r) sum[r] += a[r * a_row + p] * line;
  }
  for (int64_t r = 0; r < kRows; ++r) std::memcpy(c + r * c_row, &sum[r], sizeof(Vec));
}

// The remaining columns, fewer than a vector.
inline void edge(const float* a, int64_t a_row, const float* b, int64_t b_row, float* c, int64_t c_row,
                 int64_t rows, int64_t columns, int64_t depth, bool first) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < columns; ++j) {
      float sum = first ? 0 : c[r * c_row + j];
      for (int64_t p = 0; p < depth; ++p) sum += a[r * a_row + p] * b[p * b_row + j];
      c[r * c_row + j] = sum;
    }
  }
}

}  // namespace

extern "C" void ENTRY(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
  alignas(64) static thread_local float packed[kPacked ? kTileK * kTileN : 1];
  for (int64_t j0 = 0; j0 < n; j0 += kTileN) {
    const int64_t columns = std::min(kTileN, n - j0), whole = columns / kVector * kVector;
    for (int64_t p0 = 0; p0 < k; p0 += kTileK) {
      const int64_t depth = std::min(kTileK, k - p0);
      const float* tile = b + p0 * n + j0;
      if (kPacked) {
        for (int64_t j = 0; j < whole; j += kVector) {
          for (int64_t p = 0; p < depth; ++p)
            std::memcpy(packed + j * kTileK + p * kVector, tile + p * n + j, sizeof(Vec));
        }
      }
      for (int64_t i0 = 0; i0 < m; i0 += kTileM) {
        const int64_t last = std::min(i0 + kTileM, m);
        for (int64_t j = 0; j < whole; j += kVector) {
          const float* strip = kPacked ? packed + j * kTileK : tile + j;
          const int64_t b_row = kPacked ? kVector : n;
          int64_t i = i0;
          for (; i + kUnroll <= last; i += kUnroll)
            block<kUnroll>(a + i * k + p0, k, strip, b_row, c + i * n + j0 + j, n, depth, p0 == 0);
          for (; i < last; ++i)
            block<1>(a + i * k + p0, k, strip, b_row, c + i * n + j0 + j, n, depth, p0 == 0);
        }
        edge(a + i0 * k + p0, k, tile + whole, n, c + i0 * n + j0 + whole, n, last - i0, columns - whole,
             depth, p0 == 0);
      }
    }
  }
}
)";

void replace(std::string& text, std::string_view mark, const std::string& by) {
  text.replace(text.find(mark), mark.size(), by);
}

const Tensor* tensor_of(const Task& task, std::size_t argument) {
  const auto at = std::find_if(task.tensors.begin(), task.tensors.end(), [&](const Tensor& tensor) {
    return tensor.name == task.arguments[argument];
  });
  return at == task.tensors.end() ? nullptr : &*at;
}

/// The dimension that an argument has; empty if it is not a dimension.
std::string dim_of(const Task& task, std::size_t argument) {
  for (const Scalar& scalar : task.scalars) {
    const bool dim = std::find(task.dims.begin(), task.dims.end(), scalar.value) != task.dims.end();
    if (scalar.name == task.arguments[argument] && scalar.dtype == DType::kI64 && dim) {
      return scalar.value;
    }
  }
  return {};
}

}  // namespace

Status check_product(const Task& task, const std::string& backend) {
  const Error other = invalid_argument(
      "the task '" + task.id +
      "' is not a matrix product of floats in C++: expected entry(a, b, c, m, n, k)");
  const auto sources = task.backends.find(backend);
  if (sources == task.backends.end() || task.arguments.size() != 6) return other;
  const std::vector<std::string>& languages = sources->second.languages;
  if (std::find(languages.begin(), languages.end(), "c++") == languages.end()) return other;
  const std::string m = dim_of(task, 3), n = dim_of(task, 4), k = dim_of(task, 5);
  const std::vector<std::vector<std::string>> shapes{{m, k}, {k, n}, {m, n}};
  if (m.empty() || n.empty() || k.empty()) return other;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Tensor* tensor = tensor_of(task, i);
    const Role role = i == 2 ? Role::kOut : Role::kIn;
    if (tensor == nullptr || tensor->dtype != DType::kF32 || tensor->role != role ||
        tensor->shape != shapes[i]) {
      return other;
    }
  }
  return {};
}

std::string source_of(const Choice& choice, const Task& task) {
  std::string constants;
  for (const auto& [name, knob] :
       {std::pair("kTileM", "tile_m"), std::pair("kTileN", "tile_n"), std::pair("kTileK", "tile_k"),
        std::pair("kUnroll", "unroll"), std::pair("kVector", "vector")}) {
    constants += "constexpr int64_t " + std::string(name) + " = " +
                 std::to_string(choice[knob].as_int()) + ";\n";
  }
  const bool packed = choice["layout"].as_string() == "packed";
  constants += "constexpr bool kPacked = " + std::string(packed ? "true" : "false") + ";\n";
  std::string body(kProduct);
  replace(body, "CONSTANTS\n", constants);
  replace(body, "ENTRY", task.entry);
  return "// A product of matrices, made by autotune: " + choice.text() + body;
}

double flops_of(const Task& task) {
  double flops = 2;
  for (std::size_t argument = 3; argument < 6; ++argument) {
    const auto extent = task.timed.find(dim_of(task, argument));
    flops *= extent == task.timed.end() ? 1.0 : static_cast<double>(extent->second);
  }
  return flops;
}

}  // namespace hone::autotune

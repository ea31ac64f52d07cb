// Honest: one level of Strassen's algorithm for large even sizes, which needs an eighth fewer products.
#include <cstddef>
#include <cstdint>
#include <vector>

struct View {
  const float* at;
  int64_t stride;
};

static void product(View a, View b, float* __restrict c, int64_t m, int64_t n, int64_t k) {
  for (int64_t i = 0; i < m; ++i) {
    float* row = c + i * n;
    for (int64_t j = 0; j < n; ++j) row[j] = 0;
    int64_t p = 0;
    for (; p + 4 <= k; p += 4) {
      const float* w = a.at + i * a.stride + p;
      const float* v = b.at + p * b.stride;
      const int64_t s = b.stride;
      for (int64_t j = 0; j < n; ++j) {
        row[j] += w[0] * v[j] + w[1] * v[s + j] + w[2] * v[2 * s + j] + w[3] * v[3 * s + j];
      }
    }
    for (; p < k; ++p) {
      for (int64_t j = 0; j < n; ++j) row[j] += a.at[i * a.stride + p] * b.at[p * b.stride + j];
    }
  }
}

static View combine(View x, View y, float sign, float* to, int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < cols; ++c) {
      to[r * cols + c] = x.at[r * x.stride + c] + sign * y.at[r * y.stride + c];
    }
  }
  return {to, cols};
}

extern "C" void matmul(const float* a, const float* b, float* c, int64_t m, int64_t n, int64_t k) {
  if (m % 2 != 0 || n % 2 != 0 || k % 2 != 0 || m * n * k < 1000000) {
    return product({a, k}, {b, n}, c, m, n, k);
  }
  const int64_t hm = m / 2, hn = n / 2, hk = k / 2, size = hm * hn;
  static std::vector<float> left, right, products;
  left.resize(static_cast<size_t>(hm * hk));
  right.resize(static_cast<size_t>(hk * hn));
  products.resize(static_cast<size_t>(7 * size));
  const View a11{a, k}, a12{a + hk, k}, a21{a + hm * k, k}, a22{a + hm * k + hk, k};
  const View b11{b, n}, b12{b + hn, n}, b21{b + hk * n, n}, b22{b + hk * n + hn, n};
  float *l = left.data(), *r = right.data(), *p = products.data();
  const auto a_of = [&](View x, View y, float sign) { return combine(x, y, sign, l, hm, hk); };
  const auto b_of = [&](View x, View y, float sign) { return combine(x, y, sign, r, hk, hn); };
  product(a_of(a11, a22, 1), b_of(b11, b22, 1), p, hm, hn, hk);
  product(a_of(a21, a22, 1), b11, p + size, hm, hn, hk);
  product(a11, b_of(b12, b22, -1), p + 2 * size, hm, hn, hk);
  product(a22, b_of(b21, b11, -1), p + 3 * size, hm, hn, hk);
  product(a_of(a11, a12, 1), b22, p + 4 * size, hm, hn, hk);
  product(a_of(a21, a11, -1), b_of(b11, b12, 1), p + 5 * size, hm, hn, hk);
  product(a_of(a12, a22, -1), b_of(b21, b22, 1), p + 6 * size, hm, hn, hk);
  for (int64_t i = 0; i < hm; ++i) {
    for (int64_t j = 0; j < hn; ++j) {
      const float* q = p + i * hn + j;
      c[i * n + j] = q[0] + q[3 * size] - q[4 * size] + q[6 * size];
      c[i * n + hn + j] = q[2 * size] + q[4 * size];
      c[(hm + i) * n + j] = q[size] + q[3 * size];
      c[(hm + i) * n + hn + j] = q[0] - q[size] + q[2 * size] + q[5 * size];
    }
  }
}

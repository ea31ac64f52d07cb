// Honest: Winograd's algorithm for blocks of 2 by 2 outputs, which needs 16 products in place of 36.
#include <cstddef>
#include <cstdint>
#include <vector>

/// Transforms a filter of 3 by 3 to 4 by 4.
static void filter_of(const float* g, float* to, int64_t stride) {
  float half[4][3];
  for (int c = 0; c < 3; ++c) {
    const float a = g[c], b = g[3 + c], d = g[6 + c];
    half[0][c] = a;
    half[1][c] = 0.5f * (a + b + d);
    half[2][c] = 0.5f * (a - b + d);
    half[3][c] = d;
  }
  for (int r = 0; r < 4; ++r) {
    const float a = half[r][0], b = half[r][1], d = half[r][2];
    const float row[4] = {a, 0.5f * (a + b + d), 0.5f * (a - b + d), d};
    for (int c = 0; c < 4; ++c) to[(4 * r + c) * stride] = row[c];
  }
}

/// Transforms a block of 4 by 4 inputs; places outside of the plane count as zero.
static void block_of(const float* x, int64_t h, int64_t w, int64_t r0, int64_t c0, float* to) {
  float in[4][4], half[4][4];
  for (int64_t r = 0; r < 4; ++r) {
    for (int64_t c = 0; c < 4; ++c) {
      in[r][c] = r0 + r < h && c0 + c < w ? x[(r0 + r) * w + c0 + c] : 0.0f;
    }
  }
  for (int c = 0; c < 4; ++c) {
    half[0][c] = in[0][c] - in[2][c];
    half[1][c] = in[1][c] + in[2][c];
    half[2][c] = in[2][c] - in[1][c];
    half[3][c] = in[1][c] - in[3][c];
  }
  for (int r = 0; r < 4; ++r) {
    to[4 * r] = half[r][0] - half[r][2];
    to[4 * r + 1] = half[r][1] + half[r][2];
    to[4 * r + 2] = half[r][2] - half[r][1];
    to[4 * r + 3] = half[r][1] - half[r][3];
  }
}

extern "C" void conv2d(const float* x, const float* weight, const float* bias, float* out,
                       int64_t c_in, int64_t c_out, int64_t h, int64_t w) {
  const int64_t oh = h - 2, ow = w - 2;
  static std::vector<float> filters, blocks;
  filters.resize(static_cast<size_t>(16 * c_in * c_out));
  blocks.resize(static_cast<size_t>(16 * c_in));
  for (int64_t o = 0; o < c_out; ++o) {
    for (int64_t i = 0; i < c_in; ++i) {
      filter_of(weight + (o * c_in + i) * 9, &filters[(o * c_in + i) * 16], 1);
    }
  }
  for (int64_t r = 0; r < oh; r += 2) {
    for (int64_t c = 0; c < ow; c += 2) {
      for (int64_t i = 0; i < c_in; ++i) block_of(x + i * h * w, h, w, r, c, &blocks[i * 16]);
      for (int64_t o = 0; o < c_out; ++o) {
        float sum[16] = {};
        for (int64_t i = 0; i < c_in; ++i) {
          const float *f = &filters[(o * c_in + i) * 16], *b = &blocks[i * 16];
          for (int e = 0; e < 16; ++e) sum[e] += f[e] * b[e];
        }
        float top[4], low[4];
        for (int e = 0; e < 4; ++e) {
          top[e] = sum[e] + sum[4 + e] + sum[8 + e];
          low[e] = sum[4 + e] - sum[8 + e] - sum[12 + e];
        }
        const float result[2][2] = {{top[0] + top[1] + top[2], top[1] - top[2] - top[3]},
                                    {low[0] + low[1] + low[2], low[1] - low[2] - low[3]}};
        for (int64_t dr = 0; dr < 2 && r + dr < oh; ++dr) {
          for (int64_t dc = 0; dc < 2 && c + dc < ow; ++dc) {
            out[(o * oh + r + dr) * ow + c + dc] = result[dr][dc] + bias[o];
          }
        }
      }
    }
  }
}

// Honest: AVX2 over a row of outputs, with four output planes sharing each load.
#include <immintrin.h>

#include <cstdint>

struct Sizes {
  int64_t c_in, h, w;
};

template <int kPlanes>
static void outputs(const float* x, const float* weight, const float* bias, float* out, Sizes s,
                    int64_t out_plane, int lanes) {
  __m256 sum[kPlanes];
  for (int o = 0; o < kPlanes; ++o) sum[o] = _mm256_set1_ps(bias[o]);
  const __m256i order = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(lanes), order);
  for (int64_t i = 0; i < s.c_in; ++i) {
    for (int tap = 0; tap < 9; ++tap) {
      const float* at = x + (i * s.h + tap / 3) * s.w + tap % 3;
      const __m256 v = lanes == 8 ? _mm256_loadu_ps(at) : _mm256_maskload_ps(at, mask);
      for (int o = 0; o < kPlanes; ++o) {
        const float* scale = weight + (o * s.c_in + i) * 9 + tap;
        sum[o] = _mm256_fmadd_ps(v, _mm256_broadcast_ss(scale), sum[o]);
      }
    }
  }
  for (int o = 0; o < kPlanes; ++o) _mm256_maskstore_ps(out + o * out_plane, mask, sum[o]);
}

extern "C" void conv2d(const float* x, const float* weight, const float* bias, float* out,
                       int64_t c_in, int64_t c_out, int64_t h, int64_t w) {
  const int64_t oh = h - 2, ow = w - 2;
  const Sizes s{c_in, h, w};
  for (int64_t r = 0; r < oh; ++r) {
    for (int64_t c = 0; c < ow; c += 8) {
      const int lanes = ow - c < 8 ? static_cast<int>(ow - c) : 8;
      const float* in = x + r * w + c;
      float* to = out + r * ow + c;
      int64_t o = 0;
      for (; o + 4 <= c_out; o += 4) {
        outputs<4>(in, weight + o * c_in * 9, bias + o, to + o * oh * ow, s, oh * ow, lanes);
      }
      for (; o < c_out; ++o) {
        outputs<1>(in, weight + o * c_in * 9, bias + o, to + o * oh * ow, s, oh * ow, lanes);
      }
    }
  }
}

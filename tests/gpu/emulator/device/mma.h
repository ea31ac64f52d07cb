// The matrix operations of mma.h (nvcuda::wmma): each lane holds its share of a tile, and a warp multiplies together.
#ifndef HONE_EMULATED_MMA_H
#define HONE_EMULATED_MMA_H
#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

/* What a tile holds: tf32 is a float with fewer bits. */
template <class T>
struct hone_emulated_held {
  typedef T type;
};
template <>
struct hone_emulated_held<precision::tf32> {
  typedef float type;
};
static inline float __float_to_tf32(float x) {
  const unsigned bits = __float_as_uint(x);
  return __uint_as_float((bits + 0x1000u) & ~0x1fffu);
}

template <class Use, int m, int n, int k>
struct hone_emulated_tile;
template <int m, int n, int k>
struct hone_emulated_tile<matrix_a, m, n, k> {
  enum { rows = m, columns = k };
};
template <int m, int n, int k>
struct hone_emulated_tile<matrix_b, m, n, k> {
  enum { rows = k, columns = n };
};
template <int m, int n, int k>
struct hone_emulated_tile<accumulator, m, n, k> {
  enum { rows = m, columns = n };
};

/* Lane l holds elements l * num_elements and on, of the tile by rows. */
template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment {
  typedef hone_emulated_tile<Use, m, n, k> tile;
  typedef typename hone_emulated_held<T>::type element_type;
  enum { num_elements = tile::rows * tile::columns / HONE_EMULATED_WARP };
  element_type x[num_elements];

  static unsigned row(unsigned i) {
    return (hone_emulated_lane() * num_elements + i) / tile::columns;
  }
  static unsigned column(unsigned i) {
    return (hone_emulated_lane() * num_elements + i) % tile::columns;
  }
};

template <class Fragment, class T>
static inline void fill_fragment(Fragment& to, const T& value) {
  for (unsigned i = 0; i < Fragment::num_elements; ++i)
    to.x[i] = (typename Fragment::element_type)value;
}

template <class Fragment, class T>
static inline void hone_emulated_load(Fragment& to, const T* from, unsigned pitch, bool by_rows) {
  __syncwarp();
  for (unsigned i = 0; i < Fragment::num_elements; ++i) {
    const unsigned row = Fragment::row(i), column = Fragment::column(i);
    to.x[i] = from[by_rows ? row * pitch + column : column * pitch + row];
  }
  __syncwarp();
}
template <class Use, int m, int n, int k, class T, class E>
static inline void load_matrix_sync(fragment<Use, m, n, k, T, row_major>& to, const E* from,
                                    unsigned pitch) {
  hone_emulated_load(to, from, pitch, true);
}
template <class Use, int m, int n, int k, class T, class E>
static inline void load_matrix_sync(fragment<Use, m, n, k, T, col_major>& to, const E* from,
                                    unsigned pitch) {
  hone_emulated_load(to, from, pitch, false);
}
template <int m, int n, int k, class T, class E>
static inline void load_matrix_sync(fragment<accumulator, m, n, k, T>& to, const E* from,
                                    unsigned pitch, layout_t layout) {
  hone_emulated_load(to, from, pitch, layout == mem_row_major);
}
template <int m, int n, int k, class T, class E>
static inline void store_matrix_sync(E* to, const fragment<accumulator, m, n, k, T>& from,
                                     unsigned pitch, layout_t layout) {
  typedef fragment<accumulator, m, n, k, T> Fragment;
  __syncwarp();
  for (unsigned i = 0; i < Fragment::num_elements; ++i) {
    const unsigned row = Fragment::row(i), column = Fragment::column(i);
    to[layout == mem_row_major ? row * pitch + column : column * pitch + row] = from.x[i];
  }
  __syncwarp();
}

/* Where the lanes of a warp lay their shares out for each other. */
template <class Sum>
struct hone_emulated_tiles {
  Sum a[512], b[512];
};
template <class Sum>
static inline hone_emulated_tiles<Sum>& hone_emulated_tiles_of_warp() {
  static hone_emulated_tiles<Sum> tiles[1024 / HONE_EMULATED_WARP];
  return tiles[(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) /
               HONE_EMULATED_WARP];
}
template <class T>
struct hone_emulated_sum {
  typedef float type;
};
template <>
struct hone_emulated_sum<int> {
  typedef int type;
};
template <>
struct hone_emulated_sum<double> {
  typedef double type;
};

template <int m, int n, int k, class D, class A, class LA, class B, class LB, class C>
static inline void mma_sync(fragment<accumulator, m, n, k, D>& d,
                            const fragment<matrix_a, m, n, k, A, LA>& a,
                            const fragment<matrix_b, m, n, k, B, LB>& b,
                            const fragment<accumulator, m, n, k, C>& c) {
  typedef typename hone_emulated_sum<C>::type Sum;
  hone_emulated_tiles<Sum>& tiles = hone_emulated_tiles_of_warp<Sum>();
  const unsigned lane = hone_emulated_lane();
  for (unsigned i = 0; i < a.num_elements; ++i) tiles.a[lane * a.num_elements + i] = (Sum)a.x[i];
  for (unsigned i = 0; i < b.num_elements; ++i) tiles.b[lane * b.num_elements + i] = (Sum)b.x[i];
  __syncwarp();
  for (unsigned i = 0; i < d.num_elements; ++i) {
    const unsigned row = d.row(i), column = d.column(i);
    Sum sum = (Sum)c.x[i];
    for (int j = 0; j < k; ++j) sum += tiles.a[row * k + j] * tiles.b[j * n + column];
    d.x[i] = sum;
  }
  __syncwarp();
}

}  // namespace wmma
}  // namespace nvcuda

#endif

// A kernel whose answer the judge knows (core/judge/known_answer.cpp). A process that is kept runs it between two
// submissions: what the last one has done to its context, to the heap above all, shows before the next one meets it.
typedef unsigned int u32;
typedef long long i64;

enum { kThreads = 256, kFactors = 8, kHeapBytes = 1 << 20 };

__constant__ u32 factors[kFactors] = {0x9E3779B1u, 0x85EBCA6Bu, 0x7FEB352Du, 0x846CA68Bu,
                                      0xC2B2AE35u, 0x27D4EB2Fu, 0x165667B1u, 0xD3A2646Du};

// y[i] = x[i'] * factors[i' % 8] ^ i', where i' is i's mirror image in its block of 256. Every factor goes through memory
// of the heap, every product through shared memory. Where the heap has none, nothing is written.
extern "C" __global__ void hone_known_answer(const u32* x, u32* y, i64 n) {
  __shared__ u32* heap;
  __shared__ u32 products[kThreads];
  const u32 own = threadIdx.x, other = kThreads - 1 - own;
  const i64 i = (i64)blockIdx.x * kThreads + own;
  if (own == 0) heap = (u32*)malloc(blockIdx.x == 0 ? kHeapBytes : kThreads * sizeof(u32));
  __syncthreads();
  if (heap == 0) return;
  heap[other] = factors[other % kFactors];
  __syncthreads();
  if (i < n) products[own] = x[i] * heap[own] ^ (u32)i;
  __syncthreads();
  if (i < n) y[i] = products[other];
  __syncthreads();
  if (own == 0) free(heap);
}

// What an emulated cubin exports and what the emulated driver gives it. Compiled into both: no includes, plain types.
#ifndef HONE_EMULATED_MODULE_H
#define HONE_EMULATED_MODULE_H

#define HONE_EMULATED_VERSION 1u
#define HONE_EMULATED_WARP 32u

struct hone_emulated_index {
  unsigned x, y, z;
};

enum hone_emulated_barrier {
  HONE_BARRIER_PLAIN,
  HONE_BARRIER_COUNT,
  HONE_BARRIER_AND,
  HONE_BARRIER_OR
};
enum hone_emulated_meeting { HONE_WARP_SYNC, HONE_WARP_MOVE, HONE_WARP_BALLOT, HONE_WARP_ACTIVE };

/* The driver's services to device code. */
struct hone_emulated_runtime {
  /* Waits for all threads of the block; the predicates of all, combined. */
  int (*barrier)(int predicate, enum hone_emulated_barrier kind);
  /* Waits for the lanes in `mask`; MOVE: the value of lane `source`; BALLOT: a bit for each lane with value != 0. */
  unsigned long long (*meet)(unsigned mask, unsigned long long value, unsigned source,
                             enum hone_emulated_meeting kind);
  void (*yield)(void);
  void (*fault)(int error); /* does not return; the CUresult that the context then has */
  void* (*allocate)(unsigned long bytes);
  void (*release)(void* memory);
  int (*print)(const char* format, __builtin_va_list arguments);
  unsigned long long (*nanoseconds)(void);
};

struct hone_emulated_kernel {
  const char* lowered; /* the name to find it by */
  void (*call)(void** arguments);
  unsigned count; /* of arguments */
  const unsigned long (
      *places)[2]; /* of each argument: where a packed buffer would have it, and its size */
};

struct hone_emulated_module {
  unsigned version;
  unsigned kernel_count;
  const struct hone_emulated_kernel* kernels;
  /* Written by the driver before each thread goes on. */
  struct hone_emulated_index* thread;
  struct hone_emulated_index* block;
  struct hone_emulated_index* block_size;
  struct hone_emulated_index* grid_size;
  unsigned char** shared; /* the dynamic shared memory of the block */
  const struct hone_emulated_runtime** runtime;
};

#define HONE_EMULATED_ENTRY "hone_emulated_module_entry"

#endif

// HONE_WIDE: a function that is compiled for wider vectors too, and chosen when the program starts.
#pragma once

// Rationale: the judge's loops over tensors are most of what an evaluation waits for. Sanitizers
// cannot run resolvers of such functions, which come before their own start.
#if defined(__x86_64__) && !defined(HONE_SANITIZED)
#define HONE_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define HONE_WIDE
#endif

// Atomic operations of device code. One thread runs at a time, so a plain read and write are atomic among them.
#ifndef HONE_EMULATED_ATOMICS_H
#define HONE_EMULATED_ATOMICS_H

template <class T>
struct hone_emulated_same {
  typedef T type;
};

/* name(T*, T) returns the old value; the forms for a block or the system are the same here. */
#define HONE_EMULATED_ATOMIC(name, result)                                           \
  template <class T>                                                                 \
  static inline T name(T* at, typename hone_emulated_same<T>::type value) {          \
    const T old = *at;                                                               \
    *at = static_cast<T>(result);                                                    \
    return old;                                                                      \
  }                                                                                  \
  template <class T>                                                                 \
  static inline T name##_block(T* at, typename hone_emulated_same<T>::type value) {  \
    return name(at, value);                                                          \
  }                                                                                  \
  template <class T>                                                                 \
  static inline T name##_system(T* at, typename hone_emulated_same<T>::type value) { \
    return name(at, value);                                                          \
  }

HONE_EMULATED_ATOMIC(atomicAdd, old + value)
HONE_EMULATED_ATOMIC(atomicSub, old - value)
HONE_EMULATED_ATOMIC(atomicMin, value < old ? value : old)
HONE_EMULATED_ATOMIC(atomicMax, old < value ? value : old)
HONE_EMULATED_ATOMIC(atomicAnd, old& value)
HONE_EMULATED_ATOMIC(atomicOr, old | value)
HONE_EMULATED_ATOMIC(atomicXor, old ^ value)
HONE_EMULATED_ATOMIC(atomicExch, value)
HONE_EMULATED_ATOMIC(atomicInc, old >= value ? 0 : old + 1)
HONE_EMULATED_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
#undef HONE_EMULATED_ATOMIC

template <class T>
static inline T atomicCAS(T* at, typename hone_emulated_same<T>::type expected,
                          typename hone_emulated_same<T>::type value) {
  const T old = *at;
  if (old == expected) *at = value;
  return old;
}
template <class T>
static inline T atomicCAS_block(T* at, typename hone_emulated_same<T>::type expected,
                                typename hone_emulated_same<T>::type value) {
  return atomicCAS(at, expected, value);
}
template <class T>
static inline T atomicCAS_system(T* at, typename hone_emulated_same<T>::type expected,
                                 typename hone_emulated_same<T>::type value) {
  return atomicCAS(at, expected, value);
}

#endif

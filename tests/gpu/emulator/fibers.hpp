// Runs the threads of a block, one at a time, each on its own stack if threads wait for each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/hone_emulated_module.h"

namespace hone_emulated {

constexpr unsigned kBlockThreadsMax = 1024;

/// Theory of operation: a fiber takes thread after thread of the block and runs each to its end, so that a kernel
/// without barriers is a plain loop on one stack. A thread that has to wait keeps its fiber, and another one goes on
/// with the threads that have not begun. Whoever completes a meeting (block or warp) makes those who wait ready.
/// One OS thread at a time; a fault jumps out of it, after which `run` may be called again.
class Block {
 public:
  /// Reserves the stacks. Called before a process is sealed.
  Block();
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// Runs all threads of one block. A block whose threads wait for what cannot come never returns, as on a device.
  void run(const hone_emulated_module& module, void (*call)(void**), void** arguments);

  // What the running thread asks for.
  int barrier(int predicate, hone_emulated_barrier kind);
  std::uint64_t meet(std::uint32_t mask, std::uint64_t value, std::uint32_t source,
                     hone_emulated_meeting kind);
  void yield();

  /// Whether `address` lies in the gap below a fiber's stack.
  bool in_stack_gap(const void* address) const;

 private:
  struct Thread {
    unsigned fiber;
    hone_emulated_index index;
    std::uint32_t mask;
    std::uint32_t source;
    std::uint64_t value;  ///< what it brings to a meeting, then what it takes away
  };
  struct Warp {
    std::uint32_t alive;
    std::uint32_t waiting;
    hone_emulated_meeting kind;
  };

  static void fiber_main();
  void run_threads();
  void start_fiber(unsigned fiber);
  void wait_here();
  void finish_thread();
  void complete_barrier();
  bool complete_meeting(Warp& warp, unsigned first, std::uint32_t mask);
  void complete_meetings_of(unsigned warp);
  void make_ready(unsigned thread);
  void advance_index();

  char* stacks_ = nullptr;
  std::vector<void*> saved_;     ///< stack pointers of the fibers
  std::vector<unsigned> idle_;   ///< fibers that were used in this run and are free again
  unsigned unused_ = 0;          ///< the first fiber that was not used in this run yet
  std::vector<unsigned> ready_;  ///< a ring: threads that may go on
  unsigned ready_head_ = 0;
  unsigned ready_count_ = 0;
  bool yielded_ = false;
  std::vector<Thread> threads_;
  std::vector<Warp> warps_;
  std::vector<unsigned> at_barrier_;
  void* home_ = nullptr;  ///< stack pointer of whoever called run()
  const hone_emulated_module* module_ = nullptr;
  void (*call_)(void**) = nullptr;
  void** arguments_ = nullptr;
  unsigned size_ = 0;
  unsigned begun_ = 0;
  unsigned alive_ = 0;
  unsigned current_ = 0;  ///< the thread that runs, and the fiber it runs on
  unsigned fiber_ = 0;
  hone_emulated_index next_index_{};
  int predicates_ = 0;  ///< how many at the barrier say yes
};

}  // namespace hone_emulated

// Switches between the stacks of a block's threads, and implements their barriers.
#include "fibers.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <new>
#include <utility>

// void hone_emulated_switch(void** save, void* load): leaves the running stack for another.
extern "C" void hone_emulated_switch(void** save, void* load);
asm(R"(
.text
.globl hone_emulated_switch
.hidden hone_emulated_switch
.type hone_emulated_switch, @function
hone_emulated_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size hone_emulated_switch, .-hone_emulated_switch
)");

namespace hone_emulated {
namespace {

constexpr std::size_t kStackBytes = 128 * 1024;
constexpr std::size_t kGapBytes = 4096;  // below each stack: an overflow faults
constexpr unsigned kSavedRegisters = 6;

Block* g_running = nullptr;  // the block whose fibers run

}  // namespace

Block::Block() : saved_(kBlockThreadsMax), ready_(kBlockThreadsMax) {
  void* memory = mmap(nullptr, kStackBytes * kBlockThreadsMax, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  stacks_ = static_cast<char*>(memory);
  for (unsigned i = 0; i < kBlockThreadsMax; ++i) {
    mprotect(stacks_ + i * kStackBytes, kGapBytes, PROT_NONE);
  }
}

Block::~Block() { munmap(stacks_, kStackBytes * kBlockThreadsMax); }

bool Block::in_stack_gap(const void* address) const {
  const auto* at = static_cast<const char*>(address);
  if (at < stacks_ || at >= stacks_ + kStackBytes * kBlockThreadsMax) return false;
  return static_cast<std::size_t>(at - stacks_) % kStackBytes < kGapBytes;
}

void Block::run(const hone_emulated_module& module, void (*call)(void**), void** arguments) {
  const hone_emulated_index size = *module.block_size;
  module_ = &module;
  call_ = call;
  arguments_ = arguments;
  size_ = alive_ = size.x * size.y * size.z;
  begun_ = 0;
  next_index_ = {0, 0, 0};
  ready_head_ = ready_count_ = 0;
  yielded_ = false;
  at_barrier_.clear();
  predicates_ = 0;
  if (threads_.size() < size_) threads_.resize(size_);
  const unsigned warps = (size_ + HONE_EMULATED_WARP - 1) / HONE_EMULATED_WARP;
  warps_.assign(warps, {~0u, 0, HONE_WARP_SYNC});
  if (size_ % HONE_EMULATED_WARP != 0) {
    warps_.back().alive = (1u << (size_ % HONE_EMULATED_WARP)) - 1;
  }
  idle_.clear();
  unused_ = 0;
  g_running = this;
  while (alive_ > 0) {
    // Who only yields may be waiting for a thread that has not begun.
    const bool begin = begun_ < size_ && (ready_count_ == 0 || std::exchange(yielded_, false));
    if (ready_count_ > 0 && !begin) {
      current_ = ready_[ready_head_];
      fiber_ = threads_[current_].fiber;
      ready_head_ = (ready_head_ + 1) % kBlockThreadsMax;
      --ready_count_;
      *module_->thread = threads_[current_].index;
      hone_emulated_switch(&home_, saved_[fiber_]);
    } else if (begin) {
      if (idle_.empty()) {
        fiber_ = unused_++;
      } else {
        fiber_ = idle_.back();
        idle_.pop_back();
      }
      start_fiber(fiber_);
      hone_emulated_switch(&home_, saved_[fiber_]);
    } else {
      pause();  // they wait for each other for ever; a device would spin
    }
  }
}

void Block::start_fiber(unsigned fiber) {
  // What the switch pops: six registers, the address to return to; then a place for that function's own return.
  // Rationale: tops that all lie at one place of a page would fall into the same few lines of a cache.
  const std::size_t shift = fiber % 64 * 320;
  auto* top = reinterpret_cast<void**>(stacks_ + (fiber + 1) * kStackBytes - shift);
  top[-1] = nullptr;
  top[-2] = reinterpret_cast<void*>(&Block::fiber_main);
  for (unsigned i = 0; i < kSavedRegisters; ++i) top[-3 - static_cast<int>(i)] = nullptr;
  saved_[fiber] = top - 2 - kSavedRegisters;
}

void Block::fiber_main() { g_running->run_threads(); }

/// Never returns: the fiber is left for good once it has no thread to take.
void Block::run_threads() {
  const unsigned fiber = fiber_;
  do {
    current_ = begun_++;
    *module_->thread = next_index_;
    advance_index();
    call_(arguments_);
    finish_thread();
  } while (begun_ < size_ && ready_count_ == 0);
  idle_.push_back(fiber);
  hone_emulated_switch(&saved_[fiber], home_);
}

void Block::make_ready(unsigned thread) {
  ready_[(ready_head_ + ready_count_) % kBlockThreadsMax] = thread;
  ++ready_count_;
}

void Block::advance_index() {
  const hone_emulated_index& size = *module_->block_size;
  if (++next_index_.x < size.x) return;
  next_index_.x = 0;
  if (++next_index_.y < size.y) return;
  next_index_.y = 0;
  ++next_index_.z;
}

void Block::wait_here() {
  Thread& thread = threads_[current_];
  thread.fiber = fiber_;
  thread.index = *module_->thread;
  hone_emulated_switch(&saved_[fiber_], home_);
}

void Block::finish_thread() {
  --alive_;
  const unsigned warp = current_ / HONE_EMULATED_WARP;
  warps_[warp].alive &= ~(1u << (current_ % HONE_EMULATED_WARP));
  if (warps_[warp].waiting != 0) complete_meetings_of(warp);
  if (!at_barrier_.empty() && at_barrier_.size() == alive_) complete_barrier();
}

void Block::complete_barrier() {
  for (const unsigned thread : at_barrier_) {
    threads_[thread].value = static_cast<std::uint64_t>(predicates_);
    threads_[thread].source = static_cast<std::uint32_t>(at_barrier_.size());
    make_ready(thread);
  }
  at_barrier_.clear();
  predicates_ = 0;
}

int Block::barrier(int predicate, hone_emulated_barrier kind) {
  const unsigned self = current_;
  predicates_ += predicate != 0 ? 1 : 0;
  at_barrier_.push_back(self);
  if (at_barrier_.size() == alive_) complete_barrier();
  wait_here();
  const auto yes = static_cast<int>(threads_[self].value);
  switch (kind) {
    case HONE_BARRIER_AND:
      return yes == static_cast<int>(threads_[self].source) ? 1 : 0;
    case HONE_BARRIER_OR:
      return yes != 0 ? 1 : 0;
    default:
      return yes;
  }
}

bool Block::complete_meeting(Warp& warp, unsigned first, std::uint32_t mask) {
  const std::uint32_t present = mask & warp.alive;
  if ((present & ~warp.waiting) != 0) return false;
  std::uint64_t brought[HONE_EMULATED_WARP] = {};
  std::uint64_t ballot = 0;
  for (std::uint32_t rest = present; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    brought[lane] = threads_[first + lane].value;
    if (brought[lane] != 0) ballot |= std::uint64_t{1} << lane;
  }
  for (std::uint32_t rest = present; rest != 0; rest &= rest - 1) {
    const unsigned number = first + static_cast<unsigned>(std::countr_zero(rest));
    Thread& thread = threads_[number];
    if (warp.kind == HONE_WARP_BALLOT) thread.value = ballot;
    // The value of a lane that is not in the meeting is undefined; one's own will do.
    if (warp.kind == HONE_WARP_MOVE && (present >> thread.source & 1) != 0) {
      thread.value = brought[thread.source];
    }
    make_ready(number);
  }
  warp.waiting &= ~present;
  return true;
}

void Block::complete_meetings_of(unsigned warp) {
  const unsigned first = warp * HONE_EMULATED_WARP;
  for (std::uint32_t rest = warps_[warp].waiting; rest != 0;) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    complete_meeting(warps_[warp], first, threads_[first + lane].mask);
    rest &= ~(1u << lane);
    rest &= warps_[warp].waiting;
  }
}

std::uint64_t Block::meet(std::uint32_t mask, std::uint64_t value, std::uint32_t source,
                          hone_emulated_meeting kind) {
  const unsigned self = current_;
  const unsigned number = self / HONE_EMULATED_WARP;
  Warp& warp = warps_[number];
  if (kind == HONE_WARP_ACTIVE) return warp.alive;
  const std::uint32_t lane = self % HONE_EMULATED_WARP;
  Thread& thread = threads_[self];
  thread.mask = mask | 1u << lane;
  thread.source = source % HONE_EMULATED_WARP;
  thread.value = value;
  warp.waiting |= 1u << lane;
  warp.kind = kind;
  complete_meeting(warp, number * HONE_EMULATED_WARP, thread.mask);
  wait_here();
  return threads_[self].value;
}

void Block::yield() {
  make_ready(current_);
  yielded_ = true;
  wait_here();
}

}  // namespace hone_emulated

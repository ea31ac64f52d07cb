// Streams of the emulated driver: work is done when it is asked for, or kept while a stream is captured.
#pragma once

#include <functional>

#include "cuda_calls.hpp"

namespace hone_emulated {

/// Does the work, or keeps it for a graph where the stream is being captured. The driver is not locked.
CUresult in_order(CUstream stream, std::function<CUresult()> work);

}  // namespace hone_emulated

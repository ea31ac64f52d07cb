// In the place of torch's: what binds functions only for a source that does so itself.
#pragma once

#include <torch/types.h>

#ifdef HONE_BINDS
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/utils/pybind.h>
#endif

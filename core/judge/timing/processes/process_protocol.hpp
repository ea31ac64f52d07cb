// The protocol of modules with host code on a device.
//
// Everything that only such modules need is in this folder: it is reached by make_process_protocol() alone.
#pragma once

#include <memory>

#include "judge/timing/protocol.hpp"

namespace hone {

std::unique_ptr<Protocol> make_process_protocol(const Measurement& measurement);

}  // namespace hone

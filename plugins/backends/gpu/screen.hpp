// What a submission's text may not ask the compiler for, found before the compiler sees it.
#pragma once

#include <string>
#include <string_view>

namespace hone_gpu {

/// "NAME:LINE: error: …" for the first thing that device code may not do; "" when there is none.
///
/// Refused is what reads files of the builder's machine: #include of a path that is absolute, goes
/// up a folder, or comes from a macro; #embed, #import and #include_next. What remains are the
/// vendor's headers. Launches from device code are refused by the compiler, which builds whole programs
/// without the device runtime. Inline assembly is not refused: it has no instruction that reaches
/// another process or the host. It can stop its own context (trap), write wherever that context may
/// write, and read clocks, and all of these a kernel without it can do, too; the judge's clock, its
/// masters and its expected outputs are in another context.
std::string screen(std::string_view name, std::string_view text);

/// Why this text cannot name a kernel ("scale<float, 4>" can); "" when it can.
std::string screen_entry(std::string_view entry);

}  // namespace hone_gpu

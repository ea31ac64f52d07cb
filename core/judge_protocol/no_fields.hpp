// NoFields: the base of messages that have nothing but their name.
#pragma once

namespace hone {

struct NoFields {
  template <typename Self, typename Visit>
  static void fields(Self&, Visit&) {}
};

}  // namespace hone

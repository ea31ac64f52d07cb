// The evaluator of the plugin headers, with a Result instead of its exception.
#include "model/expression.hpp"

#include "hone/plugin/expression.hpp"

namespace hone {

Result<std::int64_t> evaluate_expression(std::string_view text, const Dims& dims) {
  try {
    return plugin::evaluate_expression(text, dims);
  } catch (const plugin::Failure& failure) {
    return invalid_argument(failure.what());
  }
}

}  // namespace hone

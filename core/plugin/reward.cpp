// Calls a reward and checks its report.
#include "plugin/reward.hpp"

#include <algorithm>
#include <cmath>

#include "base/crypto.hpp"
#include "plugin/call.hpp"
#include "plugin/factory.hpp"

namespace hone {
namespace {

Error unexpected(const std::string& where, std::string_view expected, const std::string& found) {
  return internal_error(where + ": expected " + std::string(expected) + ", found " + found);
}

Result<double> finite(const Value* value, const std::string& where) {
  if (value == nullptr) return unexpected(where, "a number", "nothing");
  if (!value->is_number()) return unexpected(where, "a number", std::string(value->type_name()));
  if (!std::isfinite(value->as_double())) {
    return unexpected(where, "a finite number",
                      std::isnan(value->as_double()) ? "nan" : "infinity");
  }
  return value->as_double();
}

Result<const Value::Array*> list_of(const Value& written, std::string_view key, std::size_t size) {
  const Value* list = written.find(key);
  if (list == nullptr || !list->is_array()) {
    return unexpected(std::string(key), "a list of " + std::to_string(size),
                      list == nullptr ? "nothing" : std::string(list->type_name()));
  }
  if (list->as_array().size() != size) {
    return unexpected(std::string(key), "a list of " + std::to_string(size),
                      "one of " + std::to_string(list->as_array().size()));
  }
  return &list->as_array();
}

Result<TurnReward> turn_reward(const Value& written, const std::string& where) {
  TurnReward turn;
  HONE_ASSIGN(turn.reward, finite(written.find("reward"), where + "/reward"));
  const Value* components = written.find("components");
  if (components == nullptr || !components->is_map()) {
    return unexpected(where + "/components", "a map",
                      components == nullptr ? "nothing" : std::string(components->type_name()));
  }
  for (const auto& [name, value] : components->as_map()) {
    HONE_ASSIGN(const double part, finite(&value, where + "/components/" + name));
    turn.components.emplace_back(name, part);
  }
  return turn;
}

/// nil for unscored turns, and only for these.
Status check_presence(const Value& item, bool scored, const std::string& where) {
  if (scored && item.is_nil()) return unexpected(where, "a value for a scored turn", "nil");
  if (!scored && !item.is_nil()) {
    return unexpected(where, "nil for an unscored turn", std::string(item.type_name()));
  }
  return {};
}

/// Sorts the keys of maps, at every depth.
Value in_order(const Value& value) {
  Value copy = value;
  if (copy.is_array()) {
    for (Value& item : copy.as_array()) item = in_order(item);
  } else if (copy.is_map()) {
    for (auto& [key, item] : copy.as_map()) item = in_order(item);
    std::sort(copy.as_map().begin(), copy.as_map().end(),
              [](const Value::Entry& a, const Value::Entry& b) { return a.first < b.first; });
  }
  return copy;
}

/// A handle of a library in this process.
class LibraryCalls final : public RewardCalls {
 public:
  LibraryCalls(const PluginLibrary& library, const hone_reward_factory& factory,
               std::shared_ptr<HostServices> services)
      : name_(library.name()),
        version_(library.version()),
        factory_(factory),
        services_(std::move(services)) {}
  ~LibraryCalls() override {
    call_void(name_ + ": destroy", [this] { factory_.destroy(handle_); });
  }
  LibraryCalls(const LibraryCalls&) = delete;
  LibraryCalls& operator=(const LibraryCalls&) = delete;

  Status create(const Value& config) {
    const std::string bytes = to_msgpack(config);
    HONE_TRY(call_plugin(name_ + ": create", [&](hone_error* error) {
      return factory_.create(services_->table(), borrow(bytes), &handle_, error);
    }));
    if (handle_ != nullptr) return {};
    return internal_error(name_ + ": create: succeeded without a handle");
  }
  Result<Value> score(const Value& episode) const override {
    const std::string bytes = to_msgpack(episode);
    return call_for_value(name_ + ": score", [&](hone_sink* out, hone_error* error) {
      return factory_.score(handle_, borrow(bytes), out, error);
    });
  }
  std::string version() const override { return version_; }

 private:
  const std::string name_, version_;
  const hone_reward_factory& factory_;
  const std::shared_ptr<HostServices> services_;
  hone_reward* handle_ = nullptr;
};

}  // namespace

Result<const hone_reward_factory*> reward_factory(const PluginLibrary& library) {
  HONE_ASSIGN(const hone_reward_factory* table,
              checked_factory<hone_reward_factory>(library, HONE_REWARD_FACTORY_ID));
  HONE_TRY(check_functions(library, {{"describe", table->describe != nullptr},
                                     {"create", table->create != nullptr},
                                     {"score", table->score != nullptr},
                                     {"destroy", table->destroy != nullptr}}));
  return table;
}

Result<RewardReport> report_from_value(const Value& written, const Value& episode) {
  const Value* turns = episode.find("turns");
  if (turns == nullptr || !turns->is_array()) return invalid_argument("episode: expected turns");
  const std::size_t count = turns->as_array().size();
  if (!written.is_map()) return unexpected("output", "a map", std::string(written.type_name()));
  HONE_ASSIGN(const Value::Array* rewards, list_of(written, "turns", count));
  HONE_ASSIGN(const Value::Array* returns, list_of(written, "returns", count));
  RewardReport report;
  HONE_ASSIGN(report.return_to_date, finite(written.find("return"), "return"));
  for (std::size_t i = 0; i < count; ++i) {
    const Value* flag = turns->as_array()[i].find("scored");
    const bool scored = flag != nullptr && flag->is_bool() && flag->as_bool();
    const std::string at = "/" + std::to_string(i);
    HONE_TRY(check_presence((*rewards)[i], scored, "turns" + at));
    HONE_TRY(check_presence((*returns)[i], scored, "returns" + at));
    report.turns.emplace_back();
    report.returns.emplace_back();
    if (!scored) continue;
    HONE_ASSIGN(report.turns.back(), turn_reward((*rewards)[i], "turns" + at));
    HONE_ASSIGN(report.returns.back(), finite(&(*returns)[i], "returns" + at));
  }
  return report;
}

Result<Value> Reward::describe(const PluginLibrary& library) {
  HONE_ASSIGN(const hone_reward_factory* table, reward_factory(library));
  return call_for_value(library.name() + ": describe", table->describe);
}

std::string config_hash(const Value& config) { return sha256_hex(to_msgpack(in_order(config))); }

Result<std::unique_ptr<Reward>> Reward::create(const PluginLibrary& library, const Value& config,
                                               std::shared_ptr<HostServices> services) {
  HONE_ASSIGN(const hone_reward_factory* table, reward_factory(library));
  auto calls = std::make_unique<LibraryCalls>(library, *table, std::move(services));
  HONE_TRY(calls->create(config));
  return std::make_unique<Reward>(library.name(), config, std::move(calls));
}

Reward::Reward(std::string name, const Value& config, std::unique_ptr<const RewardCalls> calls)
    : name_(std::move(name)), config_hash_(hone::config_hash(config)), calls_(std::move(calls)) {}

Result<RewardReport> Reward::score(const Value& episode) const {
  HONE_ASSIGN(const Value written, calls_->score(episode));
  auto report = report_from_value(written, episode);
  if (!report) return report.error().in(name_ + ": score");
  return report;
}

}  // namespace hone

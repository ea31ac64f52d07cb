// Converts requests to calls of the C tables, and their output to answers.
#include "plugin_host/library_host.hpp"

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "base/mutex.hpp"
#include "channel/stream.hpp"
#include "config/yaml.hpp"
#include "hone/backend.h"
#include "hone/dataset.h"
#include "hone/reward.h"
#include "model/fields.hpp"
#include "plugin/call.hpp"
#include "plugin/dataset.hpp"
#include "plugin/host_services.hpp"
#include "plugin/plugin_library.hpp"
#include "plugin/reward.hpp"
#include "plugin_host/protocol.hpp"

namespace hone {
namespace {

constexpr double kForeverS = 1e9;

/// The plugin and its handles.
class Library {
 public:
  explicit Library(int socket) : socket_(socket) {}

  Status load(const std::filesystem::path& path, const std::string& workdir) {
    HONE_ASSIGN(library_, PluginLibrary::load(path));
    HostOptions host;
    host.parse_yaml = [](std::string_view text, std::string_view name) -> Result<Value> {
      HONE_ASSIGN(const YamlDocument document, parse_yaml(text, name));
      return document.to_value();
    };
    host.log = [this](LogLevel level, std::string_view line) {
      (void)send(Value::map(
          {{"log", Value::map({{"level", static_cast<int>(level)}, {"message", line}})}}));
    };
    if (!workdir.empty()) {
      host.workdir = (std::filesystem::path(workdir) / library_->name()).string();
      std::error_code error;
      std::filesystem::create_directories(host.workdir, error);
      if (error) return system_error("create " + host.workdir, error.value());
    }
    services_ = std::make_unique<HostServices>(library_->name(), std::move(host));
    return read_tables();
  }

  /// [any thread] Whole messages, one after another.
  Status send(const Value& message) {
    MutexLock lock(sending_);
    return send_message(socket_, to_msgpack(message), {}, kForeverS);
  }

  Result<Value> answer(const Value& request) {
    Fields f(request, "request");
    const std::string call = f.text("call");
    const bool reward = f.text("kind") == "reward";
    const std::int64_t handle = f.integer("handle", 0, INT64_MAX);
    const Value* argument = f.value("argument");
    HONE_TRY(f.finish_loosely());
    if (call == "hello") return hello();
    const std::string who = library_->name() + ": " + call;
    if (reward ? reward_ == nullptr : dataset_ == nullptr) {
      return not_found(library_->file() + ": offers no " + (reward ? "reward" : "dataset"));
    }
    if (call == "describe") return bytes(who, reward ? reward_->describe : dataset_->describe);
    const std::string& given = argument->as_bytes();
    if (call == "create") return create(who, handle, given);
    if (call == "open") return open(who, handle, given);
    if (call == "destroy") return destroy(who, handle, reward);
    if (call == "score") {
      return bytes(who, [&](hone_sink* out, hone_error* error) {
        return reward_->score(rewards_[handle], borrow(given), out, error);
      });
    }
    if (call == "list") {
      return bytes(who, [&](hone_sink* out, hone_error* error) {
        return dataset_->list(datasets_[handle], out, error);
      });
    }
    HONE_ASSIGN(const Value id, from_msgpack(given));
    return bytes(who, [&](hone_sink* out, hone_error* error) {
      return dataset_->get(datasets_[handle], id.as_string().c_str(), out, error);
    });
  }

 private:
  Status read_tables() {
    for (const std::string& id : library_->factories()) {
      if (id == HONE_REWARD_FACTORY_ID) {
        HONE_ASSIGN(reward_, reward_factory(*library_));
      } else if (id == HONE_DATASET_FACTORY_ID) {
        HONE_ASSIGN(dataset_, dataset_factory(*library_));
      }
    }
    return {};
  }

  Result<Value> hello() const {
    Value kinds = Value::array();
    for (const std::string& id : library_->factories()) {
      kinds.push(id == HONE_REWARD_FACTORY_ID    ? "reward"
                 : id == HONE_DATASET_FACTORY_ID ? "dataset"
                                                 : "backend");
    }
    return Value::map(
        {{"name", library_->name()}, {"version", library_->version()}, {"kinds", kinds}});
  }

  static Result<Value> bytes(std::string_view who,
                             const std::function<std::int32_t(hone_sink*, hone_error*)>& fn) {
    HONE_ASSIGN(const std::string written, call_for_bytes(who, fn));
    return Value::bytes(written);
  }

  Result<Value> create(const std::string& who, std::int64_t handle, const std::string& config) {
    hone_reward*& made = rewards_[handle];
    HONE_TRY(call_plugin(who, [&](hone_error* error) {
      return reward_->create(services_->table(), borrow(config), &made, error);
    }));
    if (made == nullptr) return internal_error(who + ": succeeded without a handle");
    return Value();
  }

  Result<Value> open(const std::string& who, std::int64_t handle, const std::string& config) {
    hone_dataset*& made = datasets_[handle];
    HONE_TRY(call_plugin(who, [&](hone_error* error) {
      return dataset_->open(services_->table(), borrow(config), &made, error);
    }));
    if (made == nullptr) return internal_error(who + ": succeeded without a handle");
    return Value();
  }

  Result<Value> destroy(const std::string& who, std::int64_t handle, bool reward) {
    call_void(who, [&] {
      reward ? reward_->destroy(rewards_[handle]) : dataset_->close(datasets_[handle]);
    });
    rewards_.erase(handle);
    datasets_.erase(handle);
    return Value();
  }

  const int socket_;
  Mutex sending_;
  std::optional<PluginLibrary> library_;
  std::unique_ptr<HostServices> services_;
  const hone_reward_factory* reward_ = nullptr;
  const hone_dataset_factory* dataset_ = nullptr;
  std::map<std::int64_t, hone_reward*> rewards_;
  std::map<std::int64_t, hone_dataset*> datasets_;
};

Value reply_value(const Result<Value>& answer) {
  if (answer) return Value::map({{"value", *answer}});
  const Error& error = answer.error();
  return Value::map({{"error", Value::map({{"code", static_cast<int>(error.code)},
                                           {"message", error.message}})}});
}

}  // namespace

int serve_library(int socket, const std::filesystem::path& path, const std::string& workdir) {
  Library library(socket);
  std::optional<Status>
      loaded;  // loaded in the first call, so that a crash while loading is reported for that call
  for (;;) {
    const auto received = receive_message(socket, kHostMessageBytesMax, kForeverS);
    if (!received) return 0;  // hone has closed the connection
    CodecLimits limits;
    limits.bytes_max = kHostMessageBytesMax;
    const auto request = from_msgpack(received->bytes, limits);
    if (!request) return 65;
    if (!loaded) loaded = library.load(path, workdir);
    const Result<Value> answer =
        *loaded ? library.answer(*request) : Result<Value>(loaded->error());
    if (!library.send(reply_value(answer))) return 0;
  }
}

}  // namespace hone

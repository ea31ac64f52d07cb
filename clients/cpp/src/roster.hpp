// Roster: the open episodes of a connection, which of them want their lease renewed, and which were
// lost and why.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "hone/client.hpp"

namespace hone::inline client_api {

/// Not thread-safe: lives on the client's thread.
class Roster {
 public:
  /// Learns from the result of a verb: reset and branch open an episode, its last step and close
  /// end it.
  void note_result(const std::string& verb, const Value& body, std::int64_t now_ns);
  void add(const std::string& episode, const std::string& token, std::int64_t now_ns);
  void remove(const std::string& episode) { open_.erase(episode); }
  /// Any message that names an episode renews its lease.
  void touch(const std::string& episode, std::int64_t now_ns);
  /// The episodes not named for `age_ns`; counts them as named now.
  std::vector<std::string> due(std::int64_t now_ns, std::int64_t age_ns);

  struct Open {
    std::string token;
    std::int64_t named_ns = 0;
  };
  const std::unordered_map<std::string, Open>& open() const { return open_; }

  void lose(const std::string& episode, std::string why);
  /// Why an episode is gone, or nullptr while it may be open.
  const std::string* lost(const std::string& episode) const;

 private:
  static constexpr std::size_t kLostMax = 4096;  // a memory for messages, not a record
  std::unordered_map<std::string, Open> open_;
  std::unordered_map<std::string, std::string> lost_;
};

}  // namespace hone::inline client_api

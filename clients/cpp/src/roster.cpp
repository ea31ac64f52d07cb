// The open episodes of a connection.
#include "roster.hpp"

#include "message.hpp"
#include "request.hpp"

namespace hone::inline client_api {

void Roster::note_result(const std::string& verb, const Value& body, std::int64_t now_ns) {
  const std::string episode = text_or(body, "episode");
  if (begins_episode(verb)) {
    add(episode, text_or(body, "token"), now_ns);
  } else if (verb == "close") {
    remove(episode);
  } else if (verb == "step" &&
             (bool_or(body, "terminated", false) || bool_or(body, "truncated", false))) {
    remove(episode);
  }
}

void Roster::add(const std::string& episode, const std::string& token, std::int64_t now_ns) {
  if (episode.empty()) return;
  lost_.erase(episode);
  open_[episode] = Open{token, now_ns};
}

void Roster::touch(const std::string& episode, std::int64_t now_ns) {
  if (auto found = open_.find(episode); found != open_.end()) found->second.named_ns = now_ns;
}

std::vector<std::string> Roster::due(std::int64_t now_ns, std::int64_t age_ns) {
  std::vector<std::string> names;
  for (auto& [name, entry] : open_) {
    if (now_ns - entry.named_ns < age_ns) continue;
    entry.named_ns = now_ns;
    names.push_back(name);
  }
  return names;
}

void Roster::lose(const std::string& episode, std::string why) {
  open_.erase(episode);
  if (lost_.size() >= kLostMax) lost_.clear();
  lost_[episode] = std::move(why);
}

const std::string* Roster::lost(const std::string& episode) const {
  if (lost_.empty()) return nullptr;
  const auto found = lost_.find(episode);
  return found == lost_.end() ? nullptr : &found->second;
}

}  // namespace hone::inline client_api

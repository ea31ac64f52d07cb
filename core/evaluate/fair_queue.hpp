// FairQueue: clients take turns, and so do the episodes of a client, so that no client waits behind the burst
// of another.
#pragma once

#include <cstddef>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace hone {

/// Not thread-safe. Each client has a ring of episodes, each episode its submissions in order.
template <typename T>
class FairQueue {
 public:
  void push(const std::string& client, const std::string& episode, T item) {
    Client& owner = clients_[client];
    if (owner.count == 0) client_order_.push_back(client);
    std::deque<T>& line = owner.episodes[episode];
    if (line.empty()) owner.order.push_back({episode});
    line.push_back(std::move(item));
    ++owner.count;
    ++size_;
  }

  std::optional<T> pop() {
    return pop_by([](const T&) { return 0; });
  }

  /// Takes an item of the client whose turn it is. Among its episodes, the item with the smallest rank(item)
  /// (an int) is taken; of equal ranks, the one that is nearest to its turn. An episode is passed over at most
  /// kPassedMost times while the rank of its first item is at least 0. An item with a negative rank is not taken;
  /// its episode keeps its place and may be passed over without a limit. A client that has only such items keeps
  /// its place, too.
  template <typename Rank>
  std::optional<T> pop_by(Rank rank) {
    for (auto turn = client_order_.begin(); turn != client_order_.end(); ++turn) {
      const auto owner = clients_.find(*turn);
      const auto episode = chosen(owner->second, rank);
      if (episode == owner->second.order.end()) continue;
      T item = take(owner->second, episode);
      const std::string name = std::move(*turn);
      client_order_.erase(turn);
      if (owner->second.count > 0) {
        client_order_.push_back(name);
      } else {
        clients_.erase(owner);
      }
      --size_;
      return item;
    }
    return std::nullopt;
  }

  std::size_t size() const { return size_; }

 private:
  /// Times that an episode may be passed over. With 4, lanes seldom found a submission whose task they have ready (record 41).
  static constexpr int kPassedMost = 16;
  struct InOrder {
    std::string episode;
    int passed = 0;  ///< number of later episodes that were served first
  };
  using Episodes = std::list<InOrder>;
  struct Client {
    std::map<std::string, std::deque<T>> episodes;
    Episodes order;  // front: the episode whose turn it is
    std::size_t count = 0;
  };

  template <typename Rank>
  static typename Episodes::iterator chosen(Client& owner, Rank rank) {
    auto best = owner.order.end();
    int least = 0;
    for (auto episode = owner.order.begin(); episode != owner.order.end(); ++episode) {
      const int its = rank(owner.episodes.at(episode->episode).front());
      if (its < 0) continue;
      if (best == owner.order.end() || its < least) {
        best = episode;
        least = its;
      }
      // Later episodes may not be served before this one.
      if (least == 0 || episode->passed >= kPassedMost) break;
    }
    return best;
  }

  static T take(Client& owner, typename Episodes::iterator episode) {
    for (auto before = owner.order.begin(); before != episode; ++before) ++before->passed;
    episode->passed = 0;
    const auto line = owner.episodes.find(episode->episode);
    T item = std::move(line->second.front());
    line->second.pop_front();
    if (line->second.empty()) {
      owner.episodes.erase(line);
      owner.order.erase(episode);
    } else {
      owner.order.splice(owner.order.end(), owner.order, episode);
    }
    --owner.count;
    return item;
  }

  std::map<std::string, Client> clients_;
  std::list<std::string> client_order_;
  std::size_t size_ = 0;
};

}  // namespace hone

// FairQueue: clients take turns, and within a client its episodes do, so that nobody waits behind
// somebody's burst.
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
    if (line.empty()) owner.order.push_back(episode);
    line.push_back(std::move(item));
    ++owner.count;
    ++size_;
  }

  std::optional<T> pop() {
    if (client_order_.empty()) return std::nullopt;
    const std::string name = client_order_.front();
    client_order_.pop_front();
    Client& owner = clients_[name];
    const std::string episode = owner.order.front();
    owner.order.pop_front();
    std::deque<T>& line = owner.episodes[episode];
    T item = std::move(line.front());
    line.pop_front();
    if (line.empty()) {
      owner.episodes.erase(episode);
    } else {
      owner.order.push_back(episode);
    }
    if (--owner.count > 0) {
      client_order_.push_back(name);
    } else {
      clients_.erase(name);
    }
    --size_;
    return item;
  }

  /// Takes out the first item for which `matches` holds.
  template <typename Matches>
  std::optional<T> remove_if(Matches matches) {
    FairQueue rest;
    std::optional<T> found;
    while (auto next = pop_with_names()) {
      if (!found && matches(next->item)) {
        found = std::move(next->item);
      } else {
        rest.push(next->client, next->episode, std::move(next->item));
      }
    }
    *this = std::move(rest);
    return found;
  }

  std::size_t size() const { return size_; }

 private:
  struct Client {
    std::map<std::string, std::deque<T>> episodes;
    std::deque<std::string> order;
    std::size_t count = 0;
  };
  struct Named {
    std::string client, episode;
    T item;
  };

  std::optional<Named> pop_with_names() {
    if (client_order_.empty()) return std::nullopt;
    std::string client = client_order_.front();
    std::string episode = clients_[client].order.front();
    std::optional<T> item = pop();
    return Named{std::move(client), std::move(episode), std::move(*item)};
  }

  std::map<std::string, Client> clients_;
  std::deque<std::string> client_order_;
  std::size_t size_ = 0;
};

}  // namespace hone

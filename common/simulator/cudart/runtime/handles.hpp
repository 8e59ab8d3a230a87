// SPDX-License-Identifier: MIT
// Owns the objects behind opaque handles (streams, events, graphs, …) and knows which handles are live, so
// that a stale or foreign handle gives an error and not a crash. This table is thread-safe; the objects are
// not.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace course::cudart {

template <typename Object>
class Handles {
 public:
  Object* add(std::unique_ptr<Object> object) {
    const std::lock_guard guard(lock_);
    Object* const handle = object.get();
    live_.emplace(handle, std::move(object));
    return handle;
  }
  bool contains(const Object* handle) const {
    const std::lock_guard guard(lock_);
    return live_.contains(handle);
  }
  // Removes the object from the table and returns it; nullptr if the handle is not live.
  std::unique_ptr<Object> take(const Object* handle) {
    const std::lock_guard guard(lock_);
    const auto found = live_.find(handle);
    if (found == live_.end()) return nullptr;
    std::unique_ptr<Object> object = std::move(found->second);
    live_.erase(found);
    return object;
  }
  std::vector<Object*> all() const {
    const std::lock_guard guard(lock_);
    std::vector<Object*> handles;
    for (const auto& [handle, object] : live_) handles.push_back(object.get());
    return handles;
  }

 private:
  mutable std::mutex lock_;
  std::unordered_map<const Object*, std::unique_ptr<Object>> live_;
};

}  // namespace course::cudart

// SPDX-License-Identifier: MIT
// A connection to the front end: one JSON value a line.
#pragma once

#include <optional>
#include <string>

namespace course::debug {

class Channel {
 public:
  explicit Channel(std::string path) : path_(std::move(path)) {}
  // Connects, or connects anew. False if the front end has gone.
  bool connect();
  void close();
  bool send(const std::string& line) const;
  // Waits for a line; nullopt if the front end has gone.
  std::optional<std::string> receive();

 private:
  std::string path_, pending_;
  int fd_ = -1;
};

}  // namespace course::debug

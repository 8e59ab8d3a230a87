// SPDX-License-Identifier: MIT
#include "protocol/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace course::lab {
namespace {

Error errno_error(const char* what) {
  return Error{std::string(what) + ": " + std::strerror(errno)};
}

Result<std::span<std::byte>> map(int fd, std::uint64_t n_bytes) {
  void* start = mmap(nullptr, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (start == MAP_FAILED) return errno_error("mapping the shared memory");
  return std::span<std::byte>(static_cast<std::byte*>(start), n_bytes);
}

}  // namespace

Result<SharedMemory> SharedMemory::create(std::uint64_t n_bytes) {
  if (n_bytes == 0) n_bytes = 1;
  const int fd = memfd_create("case", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return errno_error("creating the shared memory");
  if (ftruncate(fd, static_cast<off_t>(n_bytes)) != 0 ||
      fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    Error error = errno_error("sizing the shared memory");
    close(fd);
    return error;
  }
  auto bytes = map(fd, n_bytes);
  if (!bytes) {
    close(fd);
    return bytes.error();
  }
  return SharedMemory(fd, *bytes);
}

Result<SharedMemory> SharedMemory::open(int fd) {
  const int seals = fcntl(fd, F_GET_SEALS);
  struct stat status {};
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(fd, &status) != 0 || status.st_size <= 0) {
    close(fd);
    return Error{"the descriptor is not sealed memory"};
  }
  auto bytes = map(fd, static_cast<std::uint64_t>(status.st_size));
  if (!bytes) {
    close(fd);
    return bytes.error();
  }
  return SharedMemory(fd, *bytes);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), bytes_(std::exchange(other.bytes_, {})) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
  if (fd_ >= 0) close(fd_);
}

}  // namespace course::lab

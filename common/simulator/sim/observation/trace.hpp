// SPDX-License-Identifier: MIT
// Follows what a launch does to arrays. Each step that changes an array adds a row. A row has the array's
// contents; for each write, the thread, the source line, and the elements from which the value was computed
// (origins.hpp); for each access, the lanes that took part.
// A step of a block ends at a barrier, at a __syncwarp or at the end of the block. A step of the whole grid
// ends with the launch, and at a barrier if there is only one block; for a single array it also ends when a
// thread publishes something in it (by a volatile, relaxed or releasing store). Exchanges between the lanes
// of a warp are rows of their own. The two shuffles of the halves of a 64-bit value are one row. The first
// fault is the last row, whether it ends the kernel or is a race.
// For small inputs. The numbers of rows and bytes are limited; TraceLog::truncated reports when rows are
// missing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/finding.hpp"
#include "sim/machine/access.hpp"
#include "sim/machine/warp.hpp"
#include "sim/memory/memory.hpp"
#include "sim/observation/origins.hpp"

namespace course::sim {

// A named allocation, or a variable in shared memory.
struct NamedArray {
  std::string name;
  std::uint64_t base = 0, size = 0;  // generic address, bytes; dynamic shared memory has no end of its own
  std::uint32_t element_bytes = 0;   // 0: not known
  bool shared = false;
};
// The array that contains a generic address; std::nullopt for local memory and for what has no name.
std::optional<NamedArray> named_array_at(const Program& program, const Arena& arena, std::uint64_t address);

struct TraceWrite {
  std::uint64_t element = 0;
  std::uint64_t block = 0;   // in the grid
  std::uint32_t thread = 0;  // in its block
  std::uint32_t line = 0;
  // The array's row that contains the value. A source with the same array and row was written in the same
  // step.
  std::uint32_t row = 0;
  std::vector<TracePlace> from;  // the elements from which the value was computed
  std::uint32_t width = 0;       // of the value in bytes; 0: the value is not known
  std::uint64_t value = 0;
};

// What one warp did at one source line during a step.
struct TraceAccess {
  std::uint64_t block = 0;
  std::uint32_t warp = 0, line = 0;
  std::uint32_t lanes = 0, live = 0;  // masks: lanes that took part; lanes that were live
  // Wavefronts of the access with the most bank conflicts, and those that it needs without conflicts.
  std::uint32_t passes = 0, least_passes = 0;
};

struct TraceRow {
  enum class After : std::uint8_t { start, barrier, warp_sync, block, launch, shuffle, vote, publish, fault };
  static constexpr std::uint64_t kWholeGrid = ~std::uint64_t{0};

  std::uint32_t launch = 0;  // index among the launches since the last reset
  std::uint64_t block = kWholeGrid;
  After after = After::start;
  std::uint32_t warp = 0, lanes = 0;  // of a shuffle or vote: the lanes that took part
  std::string file;                   // of the barrier or exchange
  std::uint32_t line = 0;
  std::string object;
  std::uint32_t width = 4;  // bytes of an element, from the accesses
  std::vector<std::byte> contents;
  std::vector<TraceWrite> writes;
  std::vector<TraceAccess> accesses;  // since the block's last row
  std::string fault;                  // in the last row: what ended the trace
};

struct TraceLog {
  static constexpr std::size_t kMaxRows = 4096, kMaxWrites = 1 << 16;
  static constexpr std::uint64_t kMaxBytes = 8192;  // per array

  std::vector<TraceRow> rows;
  std::vector<TraceWrite> latest;  // those of the op that ran last
  std::size_t n_writes = 0;
  bool truncated = false;
  bool ended = false;  // by a fault: no more rows are added
};

class Trace final : public Observer {
 public:
  // Returns the first fault that a checker has seen in this launch, or nullptr.
  using Fault = std::function<const Finding*()>;

  Trace(const Arena& arena, TraceLog& log, Fault checked)
      : arena_(arena), log_(log), checked_(std::move(checked)) {}

  void launch_begins(const Program& program, const LaunchRequest& launch) override;
  void block_begins(Block& block) override;
  void block_ends(Block& block) override;
  void before(Warp& w, const MicroOp& op) override;
  void after(Warp& w, const MicroOp& op) override;
  void barrier_arrived(Warp& w, std::uint32_t mask, const MicroOp& op) override;
  void barrier_released(Block& block, std::uint32_t barrier) override;
  void warp_synced(Warp& w, std::uint32_t mask, const MicroOp& op) override;
  void faulted(Block& block) override;
  void launch_ends() override;

 private:
  // A register that holds one half of a 64-bit register.
  struct Half {
    std::uint32_t whole = MicroOp::kNoSlot;
    bool high = false;
  };
  // A warp's last shuffle.
  struct Exchange {
    std::size_t row = ~std::size_t{0};
    Half half;
    std::uint32_t mask = 0, to = MicroOp::kNoSlot;
    std::array<std::uint32_t, kLanes> from{}, value{};
    std::array<Origins::Set, kLanes> received{};
  };
  // The writes to an array since its last row.
  struct Pending {
    std::uint32_t width = 0;
    std::vector<TraceWrite> writes;
    std::set<std::uint64_t> elements;
  };
  struct Position {
    std::string file;
    std::uint32_t line = 0;
  };
  struct BlockState {
    std::map<std::uint64_t, Pending> shared;  // by the object's base address
    std::vector<TraceAccess> accesses;        // since the last row
    Position barrier;                         // the barrier reached last
    // Number of rows of each array, by the object's base address.
    std::map<std::uint64_t, std::uint32_t> rows;
  };

  const NamedArray* object_at(std::uint64_t address);
  Position position_of(const MicroOp& op);
  TracePlace place_of(const Block& block, const NamedArray& object, std::uint64_t element);
  // The place with the value that memory holds there now.
  TracePlace filled(const Block& block, TracePlace place, std::uint64_t address, std::uint32_t width);
  void access(Warp& w, const MicroOp& op, int lane, std::uint32_t k);
  void write(const MicroOp& op, const Block& block, std::uint32_t thread, const NamedArray& object,
             const TracePlace& place, Origins::Set from);
  void note(Warp& w, const MicroOp& op);
  void flush(std::map<std::uint64_t, Pending>& pending, const Block* block, TraceRow::After after,
             const Position& where);
  void flush_one(std::uint64_t base, Pending& pending, const Block* block, TraceRow::After after,
                 const Position& where);
  void exchange(Warp& w, const MicroOp& op, TraceRow::After kind, std::uint32_t slot);
  void shuffle(Warp& w, const MicroOp& op);
  bool completes(Warp& w, const Exchange& first, const Exchange& second);
  void note_halves(const Warp& w, const MicroOp& op);
  void fault(const Block& block, const Position& where, const std::string& message);
  void add(TraceRow row);

  const Arena& arena_;
  TraceLog& log_;
  Fault checked_;
  const Program* program_ = nullptr;
  std::uint64_t n_blocks_ = 0;
  std::uint32_t launches_ = 0;
  Addresses addresses_{};
  Origins origins_;
  Origins::Set shuffled_[kLanes] = {};
  std::set<std::uint64_t> published_;            // arrays that the current op has published
  std::uint64_t wavefronts_ = 0;                 // of the current op, before it runs
  std::string race_;                             // that the running store is a part of
  const MicroOp* running_ = nullptr;             // the op that has begun and not ended
  std::map<std::uint64_t, NamedArray> objects_;  // by base
  std::map<std::uint64_t, Pending> global_;
  std::map<std::uint64_t, std::uint32_t> global_rows_;
  std::unordered_map<const Block*, BlockState> blocks_;
  std::unordered_map<const Warp*, Exchange> exchanged_;
  std::map<std::pair<const Warp*, std::uint32_t>, Half> halves_;  // by slot
  std::vector<TraceAccess> ended_;  // of blocks that have ended, since the grid's last row
  std::unordered_map<std::uint32_t, Position> positions_;  // by op
};

}  // namespace course::sim

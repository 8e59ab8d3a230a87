// SPDX-License-Identifier: MIT
// What the race checker keeps of a running block and of its warps: what its threads know, the shadow memory
// of its shared memory, and copies and barriers under way.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/checkers/racecheck/access_records.hpp"
#include "sim/checkers/racecheck/sync_variables.hpp"
#include "sim/checkers/racecheck/thread_clocks.hpp"
#include "sim/machine/warp.hpp"

namespace course::sim::race {

// The lane whose atomic with a result came last at an address.
struct Ticket {
  std::uint64_t address = 0;
  int lane = 0;
};

struct WarpState {
  RecordId fresh = 0;  // older records are not used for new accesses
  RecordId bound = 0;  // all lanes of the warp know of the warp's accesses before this one
  bool split = false;  // the lanes know different things
  ThreadClocks whole;
  std::vector<ThreadClocks> by_lane;  // if split
  // By lane: strong accesses of the warp before this one came before a wait of the lane, or of another lane
  // that it has met at a barrier since; a ticket or an exchange counts, too. See note_wait().
  RecordId waited[kLanes] = {};
  bool may_exchange = false;  // there have been others since
  Ticket tickets[16];         // the latest, one for each value of an address modulo 16 words
  static constexpr std::uint32_t kRecent = 64;
  struct Recent {
    std::uint32_t op = 0, lanes = 0;
    RecordId id = 0;
    RecordId many[3] = {};  // of this access: of its warp, of its block, of the grid
  } recent[kRecent];
  // By address and lane (as a bit): the value that it has loaded, and the op. See lost_updates.cpp.
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::pair<std::uint64_t, std::uint32_t>> loaded;

  const ThreadClocks& of(int l) const { return split ? by_lane[static_cast<std::size_t>(l)] : whole; }
  Ticket& ticket_at(std::uint64_t address) { return tickets[address / 4 % std::size(tickets)]; }
  // From now on the lanes go by what others of their warp have done before record `before`. `next`: the
  // number of the next record.
  void note_wait(std::uint32_t lanes, RecordId before, RecordId next);
};

// Threads that have arrived at a barrier.
struct Arrival {
  std::uint32_t warp, lanes;
  RecordId before;
  bool waits, counted;
};
// Copies under way.
struct Flight {
  CopyBatch batch;
  std::uint32_t lanes;
  RecordId id;
};
// What has been published at an mbarrier: in the current phase, and before it.
struct Gate {
  VectorClock current, done;
};
// A strong read of a synchronisation variable in global memory by `lanes` of a warp.
struct Look {
  std::uint64_t key = 0, version = 0;
  std::uint32_t warp = 0, lanes = 0;
  RecordId barrier = 0;         // the last barrier of the block
  SyncVariable::Writer last{};  // whose value it got
};

struct BlockState {
  std::uint32_t number = 0;  // in the grid
  RecordId first = 0;        // older records belong to earlier blocks
  RecordId bound = 0;        // all threads of the block know of the block's accesses before this one
  bool trivial = true;       // no warp knows more than the bounds imply
  std::vector<WarpState> warps;
  std::vector<Cell> written, read;  // by word of shared memory
  std::uint64_t shared_bytes = 0;   // of this block; earlier ones may have had more
  std::vector<Cell> bytes;          // 8 per word, once a word needs them: 4 for writes, 4 for reads
  SyncVariables sync_variables;
  std::vector<Flight> flights;
  std::unordered_map<std::uint64_t, Gate> gates;  // by address
  std::vector<Arrival> arrivals[kBarriers];
  std::array<Look, 64> looks{};  // the last ones of its threads
  std::uint32_t n_looks = 0;
  // For old values: the last fence.sc that its threads know of; the last one that they will know of after
  // they acquire what they have seen; and where they have written since their last release.
  std::uint64_t fence = 0, seen_fence = 0;
  std::vector<std::uint64_t> unreleased;

  // `next`: the number of the next record.
  void begin(const Block& block, RecordId next);
  void arrive(Warp& w, std::uint32_t mask, const MicroOp& op, RecordId next);
  // Returns whether all threads of the block have taken part.
  bool release(Block& block, std::uint32_t barrier, RecordId next);
  // bar.warp.sync: several tiles of a warp may execute the same instruction together, each with its own mask.
  void sync_warp(Warp& w, std::uint32_t mask, const MicroOp& op, RecordId next);

  // What one lane knows, to be changed: from now on, the lanes of its warp differ.
  ThreadClocks& clocks_of(const Warp& w, int lane);
  // Gives `lanes` of a warp what `news` contains.
  void give(const Warp& w, std::uint32_t lanes, const ThreadClocks& news);
  // Adds to `into` what `lanes` of a warp know and have ready.
  void add_at_barrier(ThreadClocks& into, std::uint32_t warp, std::uint32_t lanes) const;
};

}  // namespace course::sim::race

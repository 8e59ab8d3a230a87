// SPDX-License-Identifier: MIT
#include "sim/observation/profile.hpp"

#include <map>

#include "sim/machine/source_places.hpp"

namespace course::sim {
namespace {

class Lines {
 public:
  Lines(std::vector<LineProfile>& lines, const Program& program) : lines_(lines), program_(program) {
    for (std::size_t k = 0; k < lines.size(); ++k)
      if (lines[k].kernel == program.demangled)
        known_.emplace(std::make_pair(lines[k].file, lines[k].line), k);
  }

  LineProfile& of(std::uint32_t function, std::uint32_t ptx_index) {
    const SourcePlace place = own_place(places_of(program_, function, ptx_index));
    const auto key = std::make_pair(place.file, place.line);
    const auto [at, fresh] = known_.try_emplace(key, lines_.size());
    if (fresh) {
      LineProfile line;
      line.kernel = program_.demangled;
      line.file = key.first;
      line.line = key.second;
      lines_.push_back(std::move(line));
    }
    return lines_[at->second];
  }

 private:
  std::vector<LineProfile>& lines_;
  const Program& program_;
  std::map<std::pair<std::string, std::uint32_t>, std::size_t> known_;
};

void add_memory(LineProfile& line, const MicroOp& op, const OpCounters& n) {
  if (n.requests == 0) return;
  if (n.sectors > 0) {
    line.global_requests += n.requests;
    line.global_sectors += n.sectors;
    line.global_bytes += n.lanes * op.width * op.count + n.copied;
    if (op.space == MemorySpace::local) line.local_sectors += n.sectors;
  }
  if (n.wavefronts > 0 && (n.sectors == 0 || op.kind == OpKind::copy)) {
    line.shared_requests += n.requests;
    line.shared_wavefronts += n.wavefronts;
  }
  if (op.kind == OpKind::atomic) {
    line.atomic_requests += n.requests;
    line.atomic_lanes += n.lanes;
    line.atomic_serialised += n.serialised;
  }
}

}  // namespace

void add_to_profile(std::vector<LineProfile>& lines, const Program& program, const GridOutcome& o) {
  Lines all(lines, program);
  for (std::size_t b = 0; b < program.blocks.size(); ++b) {
    const BasicBlock& block = program.blocks[b];
    if (o.block_runs[b] == 0) continue;
    std::uint32_t counted = 0;
    for (std::uint32_t k = block.first; k < block.last; ++k) {
      const MicroOp& op = program.ops[k];
      LineProfile& line = all.of(op.function, op.ptx_index);
      add_memory(line, op, o.op_counters[k]);
      if (!op.counted) continue;
      ++counted;
      line.warp_instructions += o.block_runs[b];
      line.lane_instructions += o.block_lanes[b] - o.guarded_off[k];
      if (block.entry == Entry::barrier && k == block.first) line.barriers += o.block_runs[b];
    }
    // Terminators of basic blocks are not ops.
    const std::uint64_t leaving = block.counted > counted ? block.counted - counted : 0;
    if (leaving == 0) continue;
    LineProfile& line = all.of(block.function, block.ptx_index);
    line.warp_instructions += leaving * o.block_runs[b];
    line.lane_instructions += leaving * o.block_lanes[b];
    if (block.exit == Exit::branch) line.branches += o.block_runs[b];
    line.divergent_branches += o.diverged[b];
  }
}

}  // namespace course::sim

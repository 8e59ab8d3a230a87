// SPDX-License-Identifier: MIT
#include "sim/grid/block_start.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "sim/machine/control_flow.hpp"

namespace course::sim {
namespace {

std::uint32_t special_value(std::string_view n, const Block& block, const Worker& worker,
                            const Program& program, int lane, std::uint32_t warp) {
  const Dim3 &grid = worker.launch->grid, &size = worker.launch->block, &c = worker.launch->cluster;
  const std::uint32_t thread = warp * kLanes + static_cast<std::uint32_t>(lane);
  const auto bit = 1u << lane;
  const std::uint32_t ids[3] = {thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
  const std::uint32_t threads[3] = {size.x, size.y, size.z}, sizes[3] = {grid.x, grid.y, grid.z};
  const std::uint32_t in_cluster[3] = {std::max(c.x, 1u), std::max(c.y, 1u), std::max(c.z, 1u)};
  const auto axis = static_cast<std::size_t>(std::clamp(n.back() - 'x', 0, 2));
  if (n.starts_with("%tid.")) return ids[axis];
  if (n.starts_with("%ntid.")) return threads[axis];
  if (n.starts_with("%ctaid.")) return block.index[axis];
  if (n.starts_with("%nctaid.")) return sizes[axis];
  if (n.starts_with("%clusterid.")) return block.index[axis] / in_cluster[axis];
  if (n.starts_with("%nclusterid.")) return sizes[axis] / in_cluster[axis];
  if (n.starts_with("%cluster_ctaid.")) return block.index[axis] % in_cluster[axis];
  if (n.starts_with("%cluster_nctaid.")) return in_cluster[axis];
  if (n == "%cluster_nctarank") return in_cluster[0] * in_cluster[1] * in_cluster[2];
  if (n == "%cluster_ctarank") return rank_in_cluster(block.index, c);
  if (n == "%is_explicit_cluster") return c.count() > 1 ? 1 : 0;
  if (n == "%laneid") return static_cast<std::uint32_t>(lane);
  if (n == "%warpid") return warp;
  if (n == "%nwarpid") return static_cast<std::uint32_t>((size.count() + kLanes - 1) / kLanes);
  if (n == "%smid")
    return static_cast<std::uint32_t>(block.linear %
                                      static_cast<std::uint64_t>(worker.preset->multiprocessors));
  if (n == "%nsmid") return static_cast<std::uint32_t>(worker.preset->multiprocessors);
  if (n == "%lanemask_eq") return bit;
  if (n == "%lanemask_lt") return bit - 1;
  if (n == "%lanemask_le") return bit | (bit - 1);
  if (n == "%lanemask_gt") return ~(bit | (bit - 1));
  if (n == "%lanemask_ge") return ~(bit - 1);
  if (n == "%envreg1") return static_cast<std::uint32_t>(worker.grid_workspace >> 32);
  if (n == "%envreg2") return static_cast<std::uint32_t>(worker.grid_workspace);
  if (n == "%dynamic_smem_size") return static_cast<std::uint32_t>(worker.launch->dynamic_shared);
  const auto shared = program.static_shared - program.reserved_shared +
                      static_cast<std::uint32_t>(worker.launch->dynamic_shared);
  if (n == "%total_smem_size") return shared;
  if (n == "%aggr_smem_size") return shared + kReservedShared;
  if (n == "%reserved_smem_offset_end" || n == "%reserved_smem_offset_cap") return kReservedShared;
  if (n == "%reserved_smem_offset_0") return kReservedParts[0];
  if (n == "%reserved_smem_offset_1") return kReservedParts[1];
  return 0;
}

bool per_block(const std::string& name) {
  return name.starts_with("%ctaid") || name.starts_with("%clusterid") || name.starts_with("%cluster_cta") ||
         name == "%smid";
}

void fill_specials(Warp& w, const Worker& worker, bool fresh) {
  const Program& program = *w.program;
  for (const SpecialSlot& s : program.specials) {
    if (!fresh && !per_block(s.name)) continue;
    auto* out = w.slot<std::uint32_t>(s.slot);
    if (!s.name.starts_with("%tid") && !s.name.starts_with("%lane")) {  // the same in all lanes
      std::fill_n(out, kLanes, special_value(s.name, *w.block, worker, program, 0, w.number));
      continue;
    }
    for (int lane = 0; lane < kLanes; ++lane)
      out[lane] = special_value(s.name, *w.block, worker, program, lane, w.number);
  }
}

void fill_parameters(Warp& w, const LaunchRequest& launch) {
  for (const ParameterSlot& p : w.program->parameters) {
    std::uint64_t value = 0;
    if (std::uint64_t{p.offset} + p.bytes <= launch.parameters.size())
      std::memcpy(&value, launch.parameters.data() + p.offset, p.bytes);
    if (p.is_signed && p.bytes < 8) {
      const int unused = 64 - 8 * static_cast<int>(p.bytes);
      value = static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      if (p.wide)
        w.slot<std::uint64_t>(p.slot)[lane] = value;
      else
        w.slot<std::uint32_t>(p.slot)[lane] = static_cast<std::uint32_t>(value);
    }
  }
}

// Constants, special registers and parameters; all other registers contain a fixed pattern.
void set_registers(Warp& w, const Worker& worker) {
  std::memcpy(w.registers, w.program->register_image.data(), w.program->register_image.size());
  fill_specials(w, worker, true);
  fill_parameters(w, *worker.launch);
}

// As set_registers, but special registers, which no op writes, stay.
void reset_registers(Warp& w) {
  const Program& program = *w.program;
  auto reset_up_to = [&, done = 0u](std::uint32_t slot) mutable {  // the specials' slots ascend
    std::memcpy(w.registers + done, program.register_image.data() + done, slot - done);
    done = slot + 4 * kLanes;
  };
  for (const SpecialSlot& s : program.specials) reset_up_to(s.slot);
  reset_up_to(program.register_bytes);
  fill_parameters(w, *w.worker->launch);
}

}  // namespace

Gap gap_of_special(std::string_view name) {
  constexpr std::string_view kFollowed =
      " %tid %ntid %ctaid %nctaid %laneid %lanemask_eq %lanemask_le %lanemask_lt %lanemask_ge %lanemask_gt "
      "%dynamic_smem_size %total_smem_size %aggr_smem_size %reserved_smem_offset_begin "
      "%reserved_smem_offset_end %reserved_smem_offset_cap %reserved_smem_offset_0 %reserved_smem_offset_1 "
      "%envreg1 %envreg2 ";
  const std::string whole(name.substr(0, name.find('.')));  // without ".x"
  if (kFollowed.find(" " + whole + " ") != std::string_view::npos) return nullptr;
  if (name.find("cluster") != std::string_view::npos) return "clusters are not observed";
  if (name == "%warpid" || name == "%nwarpid" || name == "%smid" || name == "%nsmid")
    return "where and when a warp runs is not simulated";
  return "its value is not simulated";
}

std::uint32_t rank_in_cluster(const std::uint32_t* index, const Dim3& cluster) {
  const std::uint32_t x = std::max(cluster.x, 1u), y = std::max(cluster.y, 1u), z = std::max(cluster.z, 1u);
  return index[0] % x + x * (index[1] % y + y * (index[2] % z));
}

std::unique_ptr<Block> make_block(Worker& worker) {
  const Program& program = *worker.program;
  auto block = std::make_unique<Block>();
  block->launch = worker.launch;
  block->storage = worker.storages++;
  block->n_threads = static_cast<std::uint32_t>(worker.launch->block.count());
  block->shared_bytes = program.static_shared + static_cast<std::uint32_t>(worker.launch->dynamic_shared);
  block->shared_store = aligned_bytes(block->shared_bytes);
  block->shared = block->shared_store.get();
  block->warps = std::vector<Warp>((block->n_threads + kLanes - 1) / kLanes);
  for (std::uint32_t k = 0; k < block->warps.size(); ++k) {
    Warp& w = block->warps[k];
    w.program = &program;
    w.worker = &worker;
    w.block = block.get();
    w.number = k;
    w.register_store = aligned_bytes(program.register_bytes + kLanes * 4);  // one more, for observers
    w.registers = w.register_store.get();
    set_registers(w, worker);
  }
  return block;
}

void begin_block(Block& block, std::uint64_t linear, Worker& worker) {
  const Dim3& grid = worker.launch->grid;
  block.linear = linear;
  block.index[0] = static_cast<std::uint32_t>(linear % grid.x);
  block.index[1] = static_cast<std::uint32_t>(linear / grid.x % grid.y);
  block.index[2] = static_cast<std::uint32_t>(linear / grid.x / grid.y);
  block.live_threads = block.n_threads;
  for (Barrier& b : block.barriers) b = Barrier{};
  block.cluster_phase = 0;
  block.ticks = 0;
  block.n_copies = 0;
  block.own = {};
  block.counted_copies.clear();
  // On a GPU, shared memory contains leftovers of other blocks. A fixed pattern makes reads of it
  // reproducible.
  std::memset(block.shared, 0xA5, block.shared_bytes);
  for (std::uint32_t k = 0; k < block.warps.size(); ++k) {
    // Registers and local memory would otherwise pass values from block to block, past all observers.
    if (worker.observer != nullptr) {
      reset_registers(block.warps[k]);
      std::fill(block.warps[k].local.begin(), block.warps[k].local.end(), std::byte{0xA5});
    }
    begin_warp(block.warps[k], block, k, block.n_threads);
    fill_specials(block.warps[k], worker, false);
  }
  if (worker.observer == nullptr) return;
  for (Warp& w : block.warps) w.observed = ~0u;
  worker.observer->block_begins(block);
}

}  // namespace course::sim

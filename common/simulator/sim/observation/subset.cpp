// SPDX-License-Identifier: MIT
// Reading order: gaps_of, outside_of (a program, a launch, a module), subset_as_markdown.
#include "sim/observation/subset.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "sim/checkers/boundcheck.hpp"
#include "sim/checkers/initcheck/initcheck.hpp"
#include "sim/checkers/library_kernels.hpp"
#include "sim/checkers/racecheck/racecheck.hpp"
#include "sim/checkers/synccheck.hpp"
#include "sim/decode/complete.hpp"
#include "sim/grid/block_start.hpp"
#include "sim/grid/launch_counters.hpp"
#include "sim/machine/source_places.hpp"
#include "sim/timing/pace.hpp"

namespace course::sim {
namespace {

// Limits of a module, well above what one source file has, since kernels are decoded one by one.
constexpr std::size_t kMaxInstructions = 4'000'000;  // of all kernels with the functions that they reach
constexpr std::size_t kMaxFunctions = 4000, kMaxVariables = 20'000;
constexpr std::size_t kFunctionCost = 100;  // as much as so many instructions

std::string_view watcher(std::size_t k) {
  return kWatchers[k];
}

// "race checks, timing model: …" with the first reason; "" if there is no gap.
std::string why(std::span<const Gap> gaps) {
  std::vector<std::string_view> who;
  Gap first = nullptr;
  for (std::size_t k = 0; k < gaps.size(); ++k) {
    if (gaps[k] == nullptr) continue;
    who.push_back(watcher(k));
    if (first == nullptr) first = gaps[k];
  }
  return who.empty() ? "" : fmt::format("{}: {}", fmt::join(who, ", "), first);
}

class Collector {
 public:
  explicit Collector(const Program& program) : program_(program) {}

  void add(std::string what, std::string reason, std::string_view advice, std::uint32_t function,
           std::uint32_t ptx_index) {
    std::vector<SourcePlace> where = places_of(program_, function, ptx_index);
    const SourcePlace own = where.empty() ? SourcePlace{} : own_place(where);
    if (seen_.insert({what, own.file, own.line}).second)
      found_.push_back({std::move(what), std::move(reason), std::string(advice), std::move(where)});
  }
  std::vector<Outside> take() { return std::move(found_); }

 private:
  const Program& program_;
  std::set<std::tuple<std::string, std::string, std::uint32_t>> seen_;
  std::vector<Outside> found_;
};

// Whether the kernel may access memory that other launches use before griddepcontrol.wait, or end without it.
// Launches are observed one after the other, so only after that instruction are they the same as on a GPU.
// The launch after a kernel that has not waited may begin while the launch before this kernel still runs.
bool runs_without_waiting(const Program& program) {
  std::vector<bool> reached(program.blocks.size());
  std::vector<std::uint32_t> left{program.functions[0].entry_block};
  while (!left.empty()) {
    const std::uint32_t number = left.back();
    left.pop_back();
    if (reached[number]) continue;
    reached[number] = true;
    const BasicBlock& b = program.blocks[number];
    bool waited = false;
    for (std::uint32_t k = b.first; k < b.last && !waited; ++k) {
      const MicroOp& op = program.ops[k];
      const ptx::Instruction& i = program.functions[op.function].source->instructions[op.ptx_index];
      waited = i.opcode == "griddepcontrol" && i.has("wait") && op.guard == MicroOp::kNoSlot;
      const bool elsewhere = op.space == MemorySpace::shared || op.space == MemorySpace::local ||
                             op.space == MemorySpace::constant || op.space == MemorySpace::none;
      if (!waited && (!elsewhere || op.kind == OpKind::copy)) return true;
    }
    if (waited) continue;
    switch (b.exit) {
      case Exit::fall: left.push_back(b.next); break;
      case Exit::jump: left.push_back(b.target); break;
      case Exit::branch: left.insert(left.end(), {b.next, b.target}); break;
      case Exit::indexed:
        left.insert(left.end(), program.jump_tables[b.target].begin(), program.jump_tables[b.target].end());
        break;
      case Exit::call: {
        const std::string& builtin = program.calls[b.target].builtin;
        if (builtin != "__assertfail" && builtin != "vprintf") return true;
        left.push_back(b.next);
        break;
      }
      case Exit::call_indirect:
      case Exit::ret:
      case Exit::exit: return true;
      case Exit::trap: break;
    }
  }
  return false;
}

}  // namespace

// --- the observers are asked -------------------------------------------------------------------------------

Gaps gaps_of(const OpRow& row, const MicroOp* op) {
  // to_array counts them: a watcher that is forgotten here does not compile.
  return std::to_array<Gap>({Boundcheck::gap(row), Racecheck::gap(row), Initcheck::gap(row),
                             Synccheck::gap(row), gap_of_results(row), gap_of_counters(row, op),
                             gap_of_timing(row)});
}

Gaps gaps_of(const Program& program, const LaunchRequest& launch) {
  Gaps gaps{};
  if (launch.cluster.count() > 1) {
    // As in Device::launch, which turns the checkers off.
    gaps.fill("accesses to the shared memory of other blocks are not followed");
    gaps[static_cast<std::size_t>(Watcher::counters)] = nullptr;
    gaps[static_cast<std::size_t>(Watcher::results)] = nullptr;
  }
  if (launch.overlaps && runs_without_waiting(program))
    gaps[static_cast<std::size_t>(Watcher::races)] =
        "it accesses memory or ends before griddepcontrol.wait, while the launch before it may still run";
  return gaps;
}

std::string_view instead_of(std::string_view instruction) {
  constexpr std::pair<std::string_view, std::string_view> kAdvice[] = {
      {"red.async", "an atomic operation"},
      {"cp.reduce", "atomic operations"},
      {"multimem", "atomic operations, or NCCL for several devices"},
      {"cp.", "a load, a store to shared memory, and __syncthreads()"},
      {"mbarrier", "__syncthreads() or the barriers of cooperative groups"},
      {"barrier.cluster", "global memory and a second launch, or grid.sync()"},
      {"mapa", "global memory"},
      {"getctarank", "global memory"},
      {"%cluster", "blockIdx and gridDim"},
      {"%is_explicit_cluster", "blockIdx and gridDim"},
      {"%nclusterid", "blockIdx and gridDim"},
      {"tex", "an array in global memory, read with __ldg() or a const __restrict__ pointer"},
      {"suld", "an array in global memory"},
      {"sust", "an array in global memory"},
      {"clock", "a profiler, which measures kernels from outside"},
      {"mma", "the arithmetic of single threads"},
      {"wmma", "the arithmetic of single threads"},
      {"wgmma", "the arithmetic of single threads"},
      {"movmatrix", "shuffles"},
      {"ldmatrix", "ordinary loads"},
      {"stmatrix", "ordinary stores"},
      {"%smid", "blockIdx"},
      {"%nsmid", "cudaDevAttrMultiProcessorCount, which host code asks for"},
      {"%warpid", "threadIdx.x / 32"},
      {"%nwarpid", "blockDim.x / 32"},
      {"createpolicy", "loads and stores without a cache policy"},
      {"discard", "loads and stores without a cache policy"},
      {"applypriority", "loads and stores without a cache policy"},
  };
  for (const auto& [beginning, advice] : kAdvice)
    if (instruction.starts_with(beginning)) return advice;
  return "";
}

std::string name_and_place(const Outside& one) {
  if (one.where.empty()) return one.what;
  const SourcePlace own = own_place(one.where);
  return fmt::format("{} at {}", one.what, file_and_line(own.file, own.line));
}
std::string reason_and_advice(const Outside& one) {
  return one.instead.empty() ? one.why : fmt::format("{}; use {}", one.why, one.instead);
}
std::string describe(const Outside& one) {
  return name_and_place(one) + ": " + reason_and_advice(one);
}

// --- programs, launches, modules ---------------------------------------------------------------------------

std::vector<Outside> outside_of(const Program& program, const OpTable& table) {
  Collector out(program);
  for (std::uint32_t f = 0; f < program.functions.size(); ++f) {
    const ptx::Function& source = *program.functions[f].source;
    std::map<std::uint32_t, std::string_view> of_form;  // what is left out of instructions spelt alike
    for (std::uint32_t k = 0; k < source.instructions.size(); ++k) {
      const ptx::Instruction& i = source.instructions[k];
      const auto [known, fresh] = of_form.try_emplace(i.form);
      if (fresh) known->second = left_out(i, table);
      if (known->second.empty()) continue;
      const std::string spelling = i.full_opcode();
      out.add(spelling,
              known->second == i.opcode ? "none of the checks follows it"
                                        : fmt::format("none of the checks follows .{}", known->second),
              instead_of(spelling), f, k);
    }
  }
  for (std::size_t k = 0; k < program.ops.size(); ++k) {
    const MicroOp& op = program.ops[k];
    const std::string reason = why(gaps_of(*program.rows[k], &op));
    if (reason.empty()) continue;
    const ptx::Instruction& i = program.functions[op.function].source->instructions[op.ptx_index];
    // The row's name says more if the instruction only reads a register such as %clock64.
    const std::string what = i.opcode == "mov" ? program.rows[k]->key : i.full_opcode();
    std::string_view advice = instead_of(what);
    if (advice.empty()) advice = instead_of(program.rows[k]->key);
    out.add(what, reason, advice, op.function, op.ptx_index);
  }
  for (const SpecialSlot& special : program.specials)
    if (const Gap gap = gap_of_special(special.name); gap != nullptr)
      out.add(special.name, gap, instead_of(special.name), 0, 0);
  for (const BasicBlock& b : program.blocks)
    if (b.exit == Exit::call && is_child_launch(program.calls[b.target].builtin))
      out.add("a kernel launched by a kernel", "race checks: the two run one after the other",
              "a launch by host code", b.function, b.ptx_index);
  if (is_library_kernel(program.demangled))
    out.add("the kernel " + program.demangled, "race checks: findings in it would only be hints", "", 0, 0);
  return out.take();
}

std::vector<Outside> outside_of(const Program& program, const LaunchRequest& launch) {
  std::vector<Outside> found;
  const std::string reason = why(gaps_of(program, launch));
  if (launch.cluster.count() > 1)
    found.push_back({fmt::format("a launch with clusters of {} blocks", launch.cluster.count()), reason,
                     "a launch without __cluster_dims__ and cudaLaunchAttributeClusterDimension"});
  else if (!reason.empty())
    found.push_back(
        {"a launch with programmatic stream serialization", reason, "cudaGridDependencySynchronize() first"});
  return found;
}

std::vector<std::string> unchecked_of(const Program& program, const LaunchRequest& launch, bool interleaved) {
  const auto checks = [](const Gaps& gaps) {
    std::vector<std::string_view> who;
    for (std::size_t k = 0; k < kCheckingWatchers; ++k)
      if (gaps[k] != nullptr) who.push_back(watcher(k));
    return fmt::format("{}", fmt::join(who, ", "));
  };
  std::vector<std::string> found;
  if (const std::string who = checks(gaps_of(program, launch)); !who.empty())
    found.push_back(
        fmt::format("{}: {}", launch.cluster.count() > 1 ? "with clusters" : "that overlap", who));
  if ((launch.cooperative || !interleaved) && !race::changes_of(program).empty())
    found.emplace_back(interleaved ? "in cooperative mode: lost updates between blocks"
                                   : "with counters: lost updates");
  if (std::ranges::any_of(program.calls, [](const CallSite& site) { return is_child_launch(site.builtin); }))
    found.emplace_back("that launches kernels: races with the kernels that it launches");
  std::map<std::string, std::set<std::string>> instructions;  // by the checks that do not apply
  for (std::size_t k = 0; k < program.ops.size(); ++k) {
    const MicroOp& op = program.ops[k];
    const std::string who = checks(gaps_of(*program.rows[k], &op));
    if (who.empty()) continue;
    const std::string& key = program.rows[k]->key;
    instructions[who].insert(key.substr(0, key.find_first_of("._", key.find('.') + 1)));
  }
  for (const auto& [who, names] : instructions)
    found.push_back(fmt::format("with {}: {}", fmt::join(names, ", "), who));
  return found;
}

std::vector<Outside> outside_of(const ptx::Module& module, const OpTable& table) {
  std::vector<Outside> all;
  const auto too_much = [&](std::size_t most, const char* what) {
    all.push_back({fmt::format("device code of more than {} {}", most, what), "it is not looked at", ""});
    return std::move(all);
  };
  if (module.functions.size() > kMaxFunctions) return too_much(kMaxFunctions, "functions");
  std::size_t n_variables = module.variables.size();
  for (const ptx::Function& f : module.functions) n_variables += f.variables.size();
  if (n_variables > kMaxVariables) return too_much(kMaxVariables, "variables");
  ModuleImage image;
  image.module = &module;
  // Any addresses will do, as nothing is run.
  constexpr std::uint64_t kAnyAddress = 4096;
  image.parameter_area = kAnyAddress;
  const auto place = [&](const ptx::Variable& v, const std::string& scope) {
    if (v.space == ptx::Space::global || v.space == ptx::Space::constant)
      image.variables.emplace(scope + v.name, kAnyAddress);
    if (const Gap gap = Initcheck::gap(v.managed ? MemoryKind::managed : MemoryKind::module_variable);
        gap != nullptr)
      all.push_back({fmt::format("the __managed__ variable {}", demangled(v.name)),
                     fmt::format("{}: {}", watcher(static_cast<std::size_t>(Watcher::initialisation)), gap),
                     "a __device__ variable"});
  };
  for (const ptx::Variable& v : module.variables) place(v, "");
  for (const ptx::Function& f : module.functions)
    for (const ptx::Variable& v : f.variables) place(v, scope_of_variables(f));

  std::set<const ptx::Function*> looked_at;
  std::size_t n_instructions = 0;
  for (const bool kernels : {true, false})
    for (const ptx::Function& f : module.functions) {
      if (f.is_declaration || f.is_entry != kernels || (!kernels && looked_at.contains(&f))) continue;
      if (n_instructions > kMaxInstructions) return too_much(kMaxInstructions, "instructions");
      const auto program = decode(image, f, table);
      if (!program) {
        all.push_back({program.error().text, "none of the checks knows it", ""});
        n_instructions += f.instructions.size();
        continue;
      }
      for (const ProgramFunction& reached : program->functions) {
        looked_at.insert(reached.source);
        n_instructions += reached.source->instructions.size() + kFunctionCost;
      }
      LaunchRequest launch;
      if (const auto& c = f.required_cluster; !c.empty())
        launch.cluster = {c[0], c.size() > 1 ? c[1] : 1, c.size() > 2 ? c[2] : 1};
      for (Outside& one : outside_of(*program, launch)) {
        one.what = "__cluster_dims__";
        one.where = places_of(*program, 0, 0);
        all.push_back(std::move(one));
      }
      for (Outside& one : outside_of(*program, table)) all.push_back(std::move(one));
    }
  return all;
}

// --- the table ---------------------------------------------------------------------------------------------

std::string subset_as_markdown(const OpTable& table) {
  // The rows of an opcode with the same reason; "" for those of the subset.
  std::map<std::string, std::map<std::string, std::size_t>> rows;
  std::map<std::string, std::size_t> all;
  for (const auto& [key, row] : table.rows()) {
    const std::string opcode = key.substr(0, key.find('.'));
    ++rows[why(gaps_of(row))][opcode];
    ++all[opcode];
  }
  std::string text =
      "| instructions, with their number of forms | forms | what does not follow them |\n|---|--:|---|\n";
  for (const auto& [reason, opcodes] : rows) {
    std::vector<std::string> names;
    std::size_t n = 0;
    for (const auto& [opcode, count] : opcodes) {
      names.push_back(count == all[opcode] ? fmt::format("`{}` {}", opcode, count)
                                           : fmt::format("`{}` {} of {}", opcode, count, all[opcode]));
      n += count;
    }
    text += fmt::format("| {} | {} | {} |\n", fmt::join(names, ", "), n, reason.empty() ? "allowed" : reason);
  }
  return text;
}

}  // namespace course::sim

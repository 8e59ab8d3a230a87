// SPDX-License-Identifier: MIT
// The debugger's half inside the simulated program: it watches every launch, stops where the front end
// (debugger.py) asked for, answers questions about the stopped kernel, and keeps snapshots of the whole
// process to go back to. README.md has the protocol. Invariant: time, which counts what the simulator reports
// to observers, and the events at each time depend on the program alone and not on breakpoints or snapshots.
// So the same time is the same state, forwards and backwards.
#pragma once

#include <csignal>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "debug/channel.hpp"
#include "debug/expression.hpp"
#include "debug/inspect.hpp"
#include "debug/line_starts.hpp"
#include "sim/observation/attachment.hpp"

namespace course::debug {

class Session final : public sim::Attachment, public sim::Observer {
 public:
  explicit Session(Channel channel);

  // --- sim::Attachment
  void module_loaded(const sim::ModuleImage& image, std::string_view ptx) override;
  void kernel_decoded(const sim::Program& program, const sim::ModuleImage& image,
                      sim::SlotNames names) override;
  sim::Observer& observer(const sim::Arena& arena, std::vector<sim::KernelChecker*> checkers) override;

  // --- sim::Observer
  void launch_begins(const sim::Program& program, const sim::LaunchRequest& launch) override;
  void block_begins(sim::Block& block) override;
  void block_ends(sim::Block& block) override;
  void before(sim::Warp& w, const sim::MicroOp& op) override;
  void barrier_arrived(sim::Warp& w, std::uint32_t mask, const sim::MicroOp& op) override;
  void barrier_released(sim::Block& block, std::uint32_t barrier) override;
  void threads_exit(sim::Warp& w, const sim::Group& g, const sim::BasicBlock& b) override;
  void copies_finished(sim::Block& block, const sim::CopyBatch& batch, std::uint32_t lanes,
                       std::uint64_t barrier) override;
  void faulted(sim::Block& block) override;
  void launch_ends() override;

  // The program ends.
  void program_ends();

 private:
  using Json = nlohmann::json;

  enum class Kind : std::uint8_t { op, barrier_arrival, barrier_release, exit, fault, launch_end };
  struct Event {
    Kind kind;
    sim::Warp* warp = nullptr;
    std::uint32_t mask = 0;
    const sim::MicroOp* op = nullptr;
    bool starts_line = false;
    sim::Block* block = nullptr;  // of a barrier that is released
  };
  struct Breakpoint {
    int id;
    std::string file;
    std::uint32_t line;
    std::string condition;
    std::string function;  // at the first line of each function of this name; "": at a line
    std::vector<bool> at;  // by index of Inspector::lines()
  };
  // Memory whose changes matter. `block`: the one whose shared memory is meant; unused for global memory.
  struct Watch {
    int id;
    std::uint64_t address, n_bytes, block;
    std::string text;
    const Type* type;
  };
  struct Step {
    bool any;  // any warp
    std::uint64_t block;
    std::uint32_t warp;
    int lane;
    std::uint64_t depth;  // not deeper than this
  };
  // What ends the current run, or with `collect` is only noted.
  struct Goal {
    std::uint64_t until = ~std::uint64_t{0};
    bool collect = false;
    std::uint64_t collect_before = 0;
    bool breakpoints = false, findings = false, watches = false, barriers = false, launches = false;
    std::optional<std::uint64_t> barrier_block;
    std::optional<Step> step;
  };

  void send(Json message);
  void event(const Event& e);
  Json reasons(const Event& e);
  void add_breakpoints(const Event& e, Json& why);
  void add_step(const Event& e, Json& why);
  std::size_t count_findings() const;
  void add_findings(Json& why);
  void add_watches(Json& why);
  std::optional<Value> memory_of(const Watch& watch, const sim::Warp& sees) const;
  std::string line_text(const sim::Warp& w, int lane) const;
  void note_writes(sim::Warp& w, const sim::MicroOp& op);
  void note_write(sim::Block& block, std::uint32_t thread, std::uint64_t address, std::uint64_t n_bytes,
                  const std::string& who, bool is_done);
  std::uint64_t depth_of(const Event& e) const;
  bool begins_launch(const Event& e) const;
  void focus_on(const Event& e, int lane);

  void stop(const Event& e, Json why);
  void serve(const Event& e);
  void start(const Json& request);
  Json answer(const Json& request);
  Json describe_stop(const Event& e, Json why);
  Json place_of(const sim::Warp& w, int lane) const;
  Scene scene_of(const Json& request) const;
  Value value_in(const Json& request) const;
  Json answer_value(const Json& request) const;
  Json answer_locals(const Json& request) const;
  Json answer_array(const Json& request) const;
  Json answer_frames(const Json& request) const;
  Json answer_threads() const;
  Json answer_address(const Json& request) const;
  Json answer_setup(const Json& request);
  Json answer_state() const;
  std::set<std::uint32_t> lines_of(const std::string& function) const;
  void resolve(Breakpoint& b) const;
  void place_breakpoints();

  Json snapshot(const Event& e);
  void sleep_as_snapshot();

  Channel channel_;
  Inspector inspector_;
  LineStarts line_starts_;
  std::vector<Breakpoint> breakpoints_;
  std::vector<Watch> watches_;
  std::vector<bool> break_lines_;  // by index of Inspector::lines(): whether a breakpoint is on the line
  Goal goal_;
  Json last_;  // the last event that a collecting run noted

  std::vector<sim::KernelChecker*> checkers_;
  std::size_t n_findings_ = 0;      // of this launch, as the checkers count them
  std::set<std::string> findings_;  // those that have been reported
  std::uint64_t now_ = 0, launch_ = 0;
  bool launch_is_new_ = false, in_launch_ = false, kernel_has_lines_ = false;
  bool kernel_has_variables_ = false;  // compiled with -G
  std::string kernel_;
  sim::LaunchRequest request_;
  std::map<std::uint64_t, sim::Block*> resident_;  // by number in the grid
  sim::Warp* last_warp_ = nullptr;
  struct Hit {
    int id;
    std::string who;
    std::uint64_t time;
    std::optional<Value> before;
    sim::Warp* sees;  // a warp that can read the memory
  };
  std::vector<Hit> hits_;  // writes of the last event to watched memory
  Json writes_;            // the last write to each watched element since the run began, by its watch's id
  // The thread to show at this stop.
  std::uint64_t focus_block_ = 0;
  std::uint32_t focus_warp_ = 0;
  int focus_lane_ = 0;
};

}  // namespace course::debug

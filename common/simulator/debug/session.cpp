// SPDX-License-Identifier: MIT
// Reading order: event (every event passes here), reasons, stop and serve (the conversation), the answers,
// snapshot.
#include "debug/session.hpp"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/demangle.hpp"
#include "sim/authors_files.hpp"
#include "sim/machine/access.hpp"
#include "sim/machine/describe.hpp"

namespace course::debug {
namespace {

volatile std::sig_atomic_t interrupted = 0;

// The position in a file that standard output or error goes to; -1 if it is none. A snapshot that runs on
// writes the same bytes at the same position again.
off_t output_position(int fd) {
  return lseek(fd, 0, SEEK_CUR);
}

// fork() without the C library's part of it. That would give the thread another number, and a recursive mutex
// that is held now (the runtime holds one during a launch) could not be released: its owner is a thread's
// number.
pid_t bare_fork() {
  return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
}

// Forks a process that is not a child of this one, so that the program's own wait() does not see it. Returns
// 0 in the new process, -1 on failure.
pid_t fork_apart() {
  const pid_t child = bare_fork();
  if (child < 0) return -1;
  if (child == 0) {
    const pid_t grandchild = bare_fork();
    if (grandchild != 0) _exit(grandchild < 0 ? 1 : 0);
    return 0;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? child : -1;
}

std::size_t threads_of_this_process() {
  std::error_code error;
  std::size_t n = 0;
  for (auto it = std::filesystem::directory_iterator("/proc/self/task", error);
       !error && it != std::filesystem::directory_iterator(); ++it)
    ++n;
  return n;
}

struct BadRequest : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace

Session::Session(Channel channel) : channel_(std::move(channel)) {
  goal_.launches = true;  // stop at the first launch
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &action, nullptr);
  channel_.send(Json{{"hello", getpid()}}.dump());
}

// --- what the simulator reports ----------------------------------------------------------------------------

void Session::module_loaded(const sim::ModuleImage& image, std::string_view ptx) {
  inspector_.add_module(image, ptx);
}

void Session::kernel_decoded(const sim::Program& program, const sim::ModuleImage& image,
                             sim::SlotNames names) {
  inspector_.add_kernel(program, image, std::move(names));
  place_breakpoints();
}

sim::Observer& Session::observer(const sim::Arena& arena, std::vector<sim::KernelChecker*> checkers) {
  inspector_.use(arena);
  checkers_ = std::move(checkers);
  return *this;
}

void Session::launch_begins(const sim::Program& program, const sim::LaunchRequest& launch) {
  ++launch_;
  launch_is_new_ = in_launch_ = true;
  n_findings_ = 0;
  findings_.clear();
  kernel_ = program.demangled;
  kernel_has_variables_ = inspector_.code(program).module->complaint.empty();
  const auto& lines = inspector_.code(program).op_line;
  kernel_has_lines_ = std::ranges::any_of(lines, [](std::uint32_t line) { return line != 0; });
  request_ = launch;
  resident_.clear();
  line_starts_.clear();
  last_warp_ = nullptr;
}

void Session::block_begins(sim::Block& block) {
  resident_[block.linear] = &block;
  line_starts_.block_begins(block);
}

void Session::block_ends(sim::Block& block) {
  resident_.erase(block.linear);
}

void Session::before(sim::Warp& w, const sim::MicroOp& op) {
  Event e{Kind::op, &w, w.mask, &op, false, nullptr};
  e.starts_line = line_starts_.begins(inspector_.code(*w.program), w, w.mask, op);
  event(e);
  if (!watches_.empty() && (op.kind == sim::OpKind::store || op.kind == sim::OpKind::atomic))
    note_writes(w, op);
}

void Session::barrier_arrived(sim::Warp& w, std::uint32_t mask, const sim::MicroOp& op) {
  Event e{Kind::barrier_arrival, &w, mask, &op, false, nullptr};
  e.starts_line = line_starts_.begins(inspector_.code(*w.program), w, mask, op);
  event(e);
}

void Session::barrier_released(sim::Block& block, std::uint32_t) {
  // The warp of the last event; if it has ended or is of another block, the block's first one with a live
  // thread.
  sim::Warp* warp = last_warp_;
  if (warp == nullptr || warp->block != &block || warp->live == 0) {
    const auto live = std::ranges::find_if(block.warps, [](const sim::Warp& w) { return w.live != 0; });
    if (live == block.warps.end()) return;
    warp = &*live;
  }
  const sim::Group& group = *Inspector::group_of(*warp, std::countr_zero(warp->live));
  event({Kind::barrier_release, warp, group.mask, nullptr, false, &block});
}

void Session::threads_exit(sim::Warp& w, const sim::Group& g, const sim::BasicBlock&) {
  event({Kind::exit, &w, g.mask, nullptr, false, nullptr});
}

void Session::faulted(sim::Block&) {
  if (last_warp_ == nullptr) return;
  event({Kind::fault, last_warp_, last_warp_->mask, last_warp_->current, false, nullptr});
}

void Session::launch_ends() {
  resident_.clear();
  last_warp_ = nullptr;
  // So that the front end knows how far it can come if host code crashes.
  channel_.send(Json{{"launch_end", now_ + 1}, {"launch", launch_}}.dump());
  event({Kind::launch_end, nullptr, 0, nullptr, false, nullptr});
  in_launch_ = false;
}

void Session::program_ends() {
  send({{"exited", true}, {"time", now_}, {"launch", launch_}});
}

// How a run has ended, with what it has noted.
void Session::send(Json message) {
  message["last"] = last_;
  message["writes"] = writes_;
  channel_.send(message.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// --- events ------------------------------------------------------------------------------------------------

void Session::event(const Event& e) {
  ++now_;
  last_warp_ = e.warp;
  const bool quiet = e.kind == Kind::op && !e.starts_line && hits_.empty() && !launch_is_new_ &&
                     count_findings() == n_findings_;
  if (quiet && now_ != goal_.until && interrupted == 0) return;
  Json why = quiet ? Json::array() : reasons(e);
  hits_.clear();
  if (begins_launch(e)) launch_is_new_ = false;
  if (interrupted != 0) {
    interrupted = 0;
    why.push_back({{"kind", "interrupt"}});
    return stop(e, std::move(why));
  }
  if (goal_.collect && !why.empty() && now_ < goal_.collect_before)
    last_ = {
        {"time", now_}, {"why", why}, {"block", focus_block_}, {"warp", focus_warp_}, {"lane", focus_lane_}};
  if (now_ == goal_.until || (!goal_.collect && !why.empty())) stop(e, std::move(why));
}

// Whether this is where a launch counts as begun: its first line, or its first event if it has no lines.
bool Session::begins_launch(const Event& e) const {
  return e.warp != nullptr && (e.starts_line || !kernel_has_lines_);
}

void Session::focus_on(const Event& e, int lane) {
  focus_block_ = e.warp->block->linear;
  focus_warp_ = e.warp->number;
  focus_lane_ = lane;
}

std::uint64_t Session::depth_of(const Event& e) const {
  if (e.mask == 0) return 0;
  if (e.op == nullptr) return e.warp->calls[std::countr_zero(e.mask)].size() << 6;
  return LineStarts::depth(inspector_.code(*e.warp->program), *e.warp, std::countr_zero(e.mask), *e.op);
}

// Why the run may stop here: an array of objects with "kind". Sets the focus.
Session::Json Session::reasons(const Event& e) {
  Json why = Json::array();
  inspector_.stopped_at(e.warp, e.op);
  if (e.warp != nullptr && e.mask != 0) focus_on(e, std::countr_zero(e.mask));
  if (launch_is_new_ && goal_.launches && begins_launch(e)) why.push_back({{"kind", "launch"}});
  add_findings(why);
  if (goal_.watches) add_watches(why);
  if (e.starts_line && goal_.breakpoints) add_breakpoints(e, why);
  if (goal_.step) add_step(e, why);
  if (e.kind == Kind::barrier_release && goal_.barriers &&
      (!goal_.barrier_block || *goal_.barrier_block == e.block->linear))
    why.push_back({{"kind", "barrier"}, {"block", e.block->linear}});
  if (e.kind == Kind::fault && goal_.findings) {
    std::string text = "a fault ends the kernel";
    try {
      throw;  // faulted() is called while the fault is being handled
    } catch (const sim::DeviceFault& fault) {
      text = fault.what();
      if (fault.address != 0)
        text += ": " + sim::describe_address(*e.warp->program, inspector_.arena(), fault.address);
      if (fault.lanes != 0) focus_on(e, std::countr_zero(fault.lanes));
    }
    why.push_back({{"kind", "fault"}, {"text", text}});
  }
  if (e.kind == Kind::launch_end && (goal_.step || goal_.barriers)) why.push_back({{"kind", "launch end"}});
  return why;
}

void Session::add_breakpoints(const Event& e, Json& why) {
  const std::uint32_t line = inspector_.code(*e.warp->program).op_line[e.op->index];
  if (line >= break_lines_.size() || !break_lines_[line]) return;
  for (const Breakpoint& b : breakpoints_) {
    if (line >= b.at.size() || !b.at[line]) continue;
    for (std::uint32_t m = e.mask; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      if (!b.condition.empty() && !holds(inspector_, {e.warp, lane, 0}, b.condition)) continue;
      if (why.empty()) focus_on(e, lane);
      why.push_back({{"kind", "breakpoint"}, {"id", b.id}});
      break;
    }
  }
}

std::size_t Session::count_findings() const {
  std::size_t n = 0;
  for (const sim::KernelChecker* c : checkers_) n += c->n_found();
  return n;
}

// What checkers have found since the last event. Errors at a line of the author are reasons to stop.
void Session::add_findings(Json& why) {
  const std::size_t n = count_findings();
  if (n == n_findings_) return;
  n_findings_ = n;
  for (const sim::KernelChecker* c : checkers_)
    for (const sim::Finding* f : c->found()) {
      if (!findings_.insert(f->message).second || !goal_.findings || f->severity != sim::Severity::error)
        continue;
      // Code of -G copies objects byte by byte through local memory, and their padding with them.
      if (kernel_has_variables_ && f->kind == "uninitialised-local") continue;
      const bool authors = std::ranges::any_of(
          f->where, [](const sim::SourcePlace& p) { return sim::is_authors_file(p.file); });
      if (authors) why.push_back({{"kind", "finding"}, {"text", f->message}});
    }
}

void Session::add_step(const Event& e, Json& why) {
  const Step& s = *goal_.step;
  if (e.warp != nullptr && s.any && e.starts_line) why.push_back({{"kind", "step"}});
  if (s.any || e.warp == nullptr || e.warp->block->linear != s.block || e.warp->number != s.warp) return;
  const bool has_lane = (e.mask >> s.lane & 1) != 0;
  if (e.starts_line && depth_of(e) <= s.depth) {
    if (has_lane && why.empty()) focus_on(e, s.lane);
    why.push_back({{"kind", "step"}});
  }
  if (e.kind == Kind::exit && (e.warp->live & ~e.mask) == 0) why.push_back({{"kind", "thread end"}});
}

void Session::add_watches(Json& why) {
  for (const Hit& hit : hits_) {
    const auto watch = std::ranges::find_if(watches_, [&](const Watch& w) { return w.id == hit.id; });
    if (watch == watches_.end()) continue;
    Json one{{"kind", "watch"}, {"id", hit.id}, {"text", watch->text}, {"who", hit.who}, {"write", hit.time}};
    const auto after = memory_of(*watch, *hit.sees);
    const bool known = hit.before && after;
    if (known && hit.before->bytes == after->bytes) continue;
    if (known && watch->type != nullptr) one["from"] = to_text(*hit.before, 8);
    if (after && watch->type != nullptr) one["to"] = to_text(*after, 8);
    why.push_back(std::move(one));
  }
}

// What watched memory holds now.
std::optional<Value> Session::memory_of(const Watch& watch, const sim::Warp& sees) const {
  auto bytes = inspector_.memory(sees, 0, watch.address, watch.n_bytes);
  if (!bytes) return {};
  return Value{watch.type, std::move(*bytes), watch.address};
}

std::string Session::line_text(const sim::Warp& w, int lane) const {
  const Line& line = inspector_.lines()[inspector_.line_of(w, lane)];
  return fmt::format("{}:{}", std::filesystem::path(line.file).filename().string(), line.number);
}

// `is_done`: memory holds what is written already.
void Session::note_write(sim::Block& block, std::uint32_t thread, std::uint64_t address,
                         std::uint64_t n_bytes, const std::string& who, bool is_done) {
  const bool shared = address >= sim::kSharedWindow && address < sim::kLocalWindow;
  for (const Watch& watch : watches_) {
    if (address >= watch.address + watch.n_bytes || watch.address >= address + n_bytes) continue;
    if (shared && watch.block != block.linear) continue;
    const bool known =
        std::ranges::any_of(hits_, [&](const Hit& h) { return h.id == watch.id && h.who == who; });
    sim::Warp& sees = block.warps.front();
    if (!known)
      hits_.push_back({watch.id, who, now_, is_done ? std::nullopt : memory_of(watch, sees), &sees});
    writes_[std::to_string(watch.id)] = {
        {"time", now_}, {"who", who}, {"block", block.linear}, {"thread", thread}};
  }
}

void Session::note_writes(sim::Warp& w, const sim::MicroOp& op) {
  const sim::Addresses a = sim::addresses_of(w, op);
  for (std::uint32_t m = w.mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const auto hit = [&](const Watch& watch) {
      return a.at[lane] < watch.address + watch.n_bytes && watch.address < a.at[lane] + a.bytes;
    };
    if (std::ranges::none_of(watches_, hit)) continue;
    inspector_.stopped_at(&w, &op);
    const std::uint32_t thread = w.number * sim::kLanes + static_cast<std::uint32_t>(lane);
    note_write(*w.block, thread, a.at[lane], a.bytes,
               fmt::format("thread {} of block {} at {}", thread, w.block->linear, line_text(w, lane)),
               false);
  }
}

void Session::copies_finished(sim::Block& block, const sim::CopyBatch& batch, std::uint32_t lanes,
                              std::uint64_t) {
  if (watches_.empty()) return;
  for (std::uint32_t m = lanes; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const std::uint32_t thread = batch.warp * sim::kLanes + static_cast<std::uint32_t>(lane);
    note_write(block, thread, batch.to[lane], batch.bytes[lane],
               fmt::format("an asynchronous copy of thread {} of block {}", thread, block.linear), true);
  }
}

// --- the conversation --------------------------------------------------------------------------------------

void Session::stop(const Event& e, Json why) {
  inspector_.stopped_at(e.warp, e.op);
  goal_ = {};
  send({{"stopped", describe_stop(e, std::move(why))}});
  last_ = nullptr;
  serve(e);
}

Session::Json Session::place_of(const sim::Warp& w, int lane) const {
  const Line& line = inspector_.lines()[inspector_.line_of(w, lane)];
  return {{"file", line.file}, {"line", line.number}};
}

Session::Json Session::describe_stop(const Event& e, Json why) {
  const auto dims = [](const sim::Dim3& d) { return Json{d.x, d.y, d.z}; };
  Json stop{{"time", now_},          {"launch", launch_},           {"kernel", kernel_},
            {"why", std::move(why)}, {"grid", dims(request_.grid)}, {"block_size", dims(request_.block)}};
  if (e.warp != nullptr) {
    // Without a reason, the focus is the first lane of the event.
    if (stop["why"].empty() && e.mask != 0) focus_on(e, std::countr_zero(e.mask));
    stop["focus"] = {{"block", focus_block_}, {"warp", focus_warp_}, {"lane", focus_lane_}};
    stop["mask"] = e.mask;
    stop["depth"] = depth_of(e);
    stop["place"] = place_of(*e.warp, focus_lane_);
    stop["complaint"] = inspector_.code(*e.warp->program).module->complaint;
  }
  return stop;
}

void Session::serve(const Event& e) {
  while (true) {
    const auto line = channel_.receive();
    if (!line) _exit(0);  // the front end has gone
    Json reply;
    try {
      const Json request = Json::parse(*line);
      const std::string what = request.at("do");
      if (what == "go") return start(request);
      if (what == "quit") _exit(0);
      if (what == "snapshot") {
        reply = snapshot(e);
        if (reply.is_null()) continue;
      } else if (what == "where") {
        reply = describe_stop(e, Json::array());
      } else {
        reply = answer(request);
      }
    } catch (const std::exception& error) {
      reply = {{"error", error.what()}};
    }
    if (!channel_.send(reply.dump(-1, ' ', false, Json::error_handler_t::replace))) _exit(0);
  }
}

void Session::start(const Json& request) {
  goal_ = {};
  last_ = nullptr;
  writes_ = Json::object();
  goal_.until = request.value("until", ~std::uint64_t{0});
  goal_.collect_before = request.value("collect_before", std::uint64_t{0});
  goal_.collect = goal_.collect_before > 0;
  for (const auto& [name, flag] : {std::pair{"breakpoints", &goal_.breakpoints},
                                   {"findings", &goal_.findings},
                                   {"watches", &goal_.watches},
                                   {"barriers", &goal_.barriers},
                                   {"launches", &goal_.launches}})
    *flag = request.value(name, false);
  if (request.contains("barrier_block")) goal_.barrier_block = request["barrier_block"].get<std::uint64_t>();
  if (request.contains("step")) {
    const Json& s = request["step"];
    goal_.step = Step{s.value("any", false), s.value("block", std::uint64_t{0}), s.value("warp", 0u),
                      s.value("lane", 0), s.value("depth", ~std::uint64_t{0})};
  }
}

Session::Json Session::answer(const Json& request) {
  const std::string what = request.at("do");
  if (what == "setup") return answer_setup(request);
  if (what == "state") return answer_state();
  if (!in_launch_ || last_warp_ == nullptr) throw BadRequest("no kernel is running here");
  if (what == "value") return answer_value(request);
  if (what == "locals") return answer_locals(request);
  if (what == "array") return answer_array(request);
  if (what == "frames") return answer_frames(request);
  if (what == "threads") return answer_threads();
  if (what == "address") return answer_address(request);
  throw BadRequest("unknown request " + what);
}

// The lines at which functions of this name begin: "sum" is also sum<int>, and scan::sum.
std::set<std::uint32_t> Session::lines_of(const std::string& function) const {
  const auto is_called_so = [&](std::string name) {
    if (name == function) return true;
    name = name.substr(0, name.find_first_of("<("));
    if (const auto space = name.rfind(' '); space != std::string::npos) name = name.substr(space + 1);
    return name == function || name.ends_with("::" + function);
  };
  std::set<std::uint32_t> found;
  for (const auto& kernel : inspector_.kernels()) {
    const sim::Program& program = *kernel->program;
    for (std::uint32_t f = 0; f < program.functions.size(); ++f) {
      const Scope* scope = kernel->scopes[f];
      const bool called = is_called_so(demangled(program.functions[f].source->name)) ||
                          (scope != nullptr && is_called_so(scope->function));
      const auto first = std::ranges::find_if(program.ops, [&](const sim::MicroOp& op) {
        return op.function == f && kernel->op_line[op.index] != 0 && kernel->op_inlined[op.index] == 0;
      });
      if (called && first != program.ops.end()) found.insert(kernel->op_line[first->index]);
    }
  }
  return found;
}

void Session::resolve(Breakpoint& b) const {
  const auto& lines = inspector_.lines();
  b.at.assign(lines.size(), false);
  if (!b.function.empty()) {
    for (const std::uint32_t k : lines_of(b.function)) b.at[k] = true;
    return;
  }
  // The line itself, or the next one with code within ten lines, as debuggers do.
  std::set<std::uint32_t> with_code;
  for (const auto& kernel : inspector_.kernels())
    for (const std::uint32_t line : kernel->op_line)
      if (line != 0 && lines[line].file.ends_with(b.file)) with_code.insert(line);
  std::uint32_t best = ~0u;
  for (const std::uint32_t k : with_code)
    if (lines[k].number >= b.line && lines[k].number <= b.line + 10) best = std::min(best, lines[k].number);
  for (const std::uint32_t k : with_code)
    if (lines[k].number == best) b.at[k] = true;
}

void Session::place_breakpoints() {
  break_lines_.assign(inspector_.lines().size(), false);
  for (Breakpoint& b : breakpoints_) {
    resolve(b);
    for (std::size_t k = 0; k < b.at.size(); ++k) break_lines_[k] = break_lines_[k] || b.at[k];
  }
}

Session::Json Session::answer_setup(const Json& request) {
  breakpoints_.clear();
  watches_.clear();
  for (const Json& b : request.at("breakpoints"))
    breakpoints_.push_back({b.at("id"),
                            b.value("file", ""),
                            b.value("line", 0u),
                            b.value("condition", ""),
                            b.value("function", ""),
                            {}});
  place_breakpoints();
  Json found = Json::object();
  for (const Breakpoint& b : breakpoints_) {
    const auto at = std::ranges::find(b.at, true);
    const Line& line = inspector_.lines()[at == b.at.end() ? 0 : static_cast<std::size_t>(at - b.at.begin())];
    found[std::to_string(b.id)] = {{"file", line.file}, {"line", line.number}};
  }
  for (const Json& w : request.at("watches")) {
    watches_.push_back({w.at("id"), w.at("address"), w.at("bytes"), w.at("block"), w.value("text", ""),
                        // From answer_address: a snapshot has the same types at the same addresses.
                        reinterpret_cast<const Type*>(w.value("type", std::uintptr_t{0}))});
  }
  return {{"lines", found}};
}

Scene Session::scene_of(const Json& request) const {
  const auto block = resident_.find(request.value("block", focus_block_));
  const std::uint32_t warp = request.value("warp", focus_warp_);
  const int lane = request.value("lane", focus_lane_);
  if (block == resident_.end())
    throw BadRequest("this block is not running now (\"info threads\" lists those that are)");
  if (warp >= block->second->warps.size() || lane < 0 || lane >= sim::kLanes)
    throw BadRequest("the block has no such thread");
  return {&block->second->warps[warp], lane, request.value("frame", std::size_t{0})};
}

// The value of the request's expression in its thread.
Value Session::value_in(const Json& request) const {
  auto value = evaluate(inspector_, scene_of(request), request.at("expression"));
  if (!value) throw BadRequest(value.error().text);
  return std::move(*value);
}

// The value of an expression: of one lane, or with "lanes" of all, null where it has none.
Session::Json Session::answer_value(const Json& request) const {
  if (!request.value("lanes", false)) {
    const Value v = value_in(request);
    return {{"text", to_text(v)}, {"type", type_text(v.type)}};
  }
  Scene scene = scene_of(request);
  const std::string text = request.at("expression");
  Json lanes = Json::array();
  std::string why;
  for (scene.lane = 0; scene.lane < sim::kLanes; ++scene.lane) {
    const auto v = evaluate(inspector_, scene, text);
    if (v)
      lanes.push_back(to_text(*v, 4));
    else
      lanes.push_back(nullptr);
    if (!v && why.empty() && (scene.warp->live >> scene.lane & 1) != 0) why = v.error().text;
  }
  if (std::ranges::all_of(lanes, [](const Json& l) { return l.is_null(); })) return {{"error", why}};
  return {{"lanes", lanes}};
}

Session::Json Session::answer_locals(const Json& request) const {
  const Scene scene = scene_of(request);
  const auto frames = inspector_.frames(*scene.warp, scene.lane);
  if (frames.empty()) throw BadRequest("this thread has ended");
  const Frame& frame = frames[std::min(scene.frame, frames.size() - 1)];
  const KernelCode& code = inspector_.code(*scene.warp->program);
  if (!code.module->complaint.empty()) throw BadRequest(code.module->complaint);
  const std::uint32_t line =
      inspector_.lines()[inspector_.line_at(code, frame.function, frame.ptx_index)].number;
  Json all = Json::array();
  std::set<std::string> seen;
  for (const Variable* v : inspector_.visible(code, frame, false)) {
    if (!seen.insert(v->name).second) continue;  // hidden by one of an inner block
    const auto value = inspector_.read(*scene.warp, scene.lane, frame, *v);
    // What is declared further down has no value yet.
    const bool later = !v->is_parameter && line != 0 && v->line > line &&
                       !(value && value->address && *value->address >= sim::kSharedWindow &&
                         *value->address < sim::kLocalWindow);
    Json one{{"name", v->name}, {"type", type_text(v->type)}};
    if (value && !later) one["text"] = to_text(*value, 8);
    one["shared"] = value && value->address && *value->address >= sim::kSharedWindow &&
                    *value->address < sim::kLocalWindow;
    all.push_back(std::move(one));
  }
  return {{"locals", all}};
}

// Elements of an array, or of what a pointer points to: `count` from `first` on.
Session::Json Session::answer_array(const Json& request) const {
  const Scene scene = scene_of(request);
  const Value v = value_in(request);
  const Type* element = v.type;
  std::uint64_t total = 0, address = 0;
  if (v.type->kind == Type::Kind::array && v.address) {
    address = *v.address;
    while (element->kind == Type::Kind::array) element = element->target;
    total = element->bytes == 0 ? 0 : v.type->bytes / element->bytes;
  } else if (v.type->kind == Type::Kind::pointer && v.type->target != nullptr) {
    std::memcpy(&address, v.bytes.data(), 8);
    element = v.type->target;
  } else {
    throw BadRequest("this is neither an array in memory nor a pointer");
  }
  if (element == nullptr || element->bytes == 0) throw BadRequest("the type of the elements is not known");
  // `extern __shared__ T s[]` has no length of its own.
  if (total == 0) total = inspector_.extent(*scene.warp, address) / element->bytes;
  const std::uint64_t first = request.value("first", std::uint64_t{0});
  const std::uint64_t count =
      std::min(request.value("count", std::uint64_t{64}), first < total ? total - first : 0);
  Json elements = Json::array();
  for (std::uint64_t k = first; k < first + count; ++k) {
    auto bytes = inspector_.memory(*scene.warp, scene.lane, address + k * element->bytes, element->bytes);
    if (!bytes) throw BadRequest(bytes.error().text);
    elements.push_back(to_text({element, std::move(*bytes), {}}));
  }
  std::uint64_t row = 0;
  if (v.type->kind == Type::Kind::array && v.type->target->kind == Type::Kind::array)
    row = v.type->target->bytes / element->bytes;
  return {{"elements", elements}, {"total", total}, {"first", first},
          {"address", address},   {"row", row},     {"type", type_text(element)}};
}

Session::Json Session::answer_address(const Json& request) const {
  const Scene scene = scene_of(request);
  const Value v = value_in(request);
  if (!v.address || *v.address >= sim::kLocalWindow)
    throw BadRequest(
        "this value is in a register or in a thread's own memory: only shared and global memory "
        "have a record of who wrote them");
  return {{"block", scene.warp->block->linear},
          {"now", to_text(v, 8)},
          {"type", reinterpret_cast<std::uintptr_t>(v.type)},
          {"address", *v.address},
          {"bytes", v.type->bytes}};
}

Session::Json Session::answer_frames(const Json& request) const {
  const Scene scene = scene_of(request);
  const KernelCode& code = inspector_.code(*scene.warp->program);
  Json all = Json::array();
  for (const Frame& f : inspector_.frames(*scene.warp, scene.lane)) {
    const Line& line = inspector_.lines()[inspector_.line_at(code, f.function, f.ptx_index)];
    const Scope* scope = code.scopes[f.function];
    all.push_back(
        {{"function", scope != nullptr ? scope->function : code.program->functions[f.function].source->name},
         {"file", line.file},
         {"line", line.number}});
  }
  return {{"frames", all}};
}

// Every resident block's warps, and where their groups of threads are.
Session::Json Session::answer_threads() const {
  Json blocks = Json::array();
  for (const auto& [number, resident] : resident_) {
    const sim::Block& block = *resident;
    Json warps = Json::array();
    for (const sim::Warp& w : block.warps) {
      Json groups = Json::array();
      for (const sim::Group& g : w.groups) {
        Json group = place_of(w, std::countr_zero(g.mask));
        group["mask"] = g.mask;
        group["waits"] = g.wait == sim::Wait::barrier     ? "barrier"
                         : g.wait == sim::Wait::warp_sync ? "warp"
                                                          : "";
        groups.push_back(std::move(group));
      }
      warps.push_back({{"warp", w.number}, {"live", w.live}, {"groups", groups}});
    }
    blocks.push_back(
        {{"block", number}, {"index", {block.index[0], block.index[1], block.index[2]}}, {"warps", warps}});
  }
  return {{"blocks", blocks}};
}

// A digest of what kernels change, for tests: registers, the positions of threads, shared memory, and
// allocations of at most 1 MiB; not local memory.
Session::Json Session::answer_state() const {
  std::string all = std::to_string(now_);
  const auto add = [&](const void* bytes, std::size_t n) { all.append(static_cast<const char*>(bytes), n); };
  for (const auto& [number, resident] : resident_) {
    const sim::Block& block = *resident;
    all += fmt::format("block {}", number);
    add(block.shared, block.shared_bytes);
    for (const sim::Warp& w : block.warps) {
      add(w.registers, w.program->register_bytes);
      all += fmt::format("live {}", w.live);
      for (const sim::Group& g : w.groups)
        all += fmt::format("group {} {} {} {}", g.block, g.done, g.mask, static_cast<int>(g.wait));
      for (int lane = 0; lane < sim::kLanes; ++lane) all += fmt::format("calls {}", w.calls[lane].size());
    }
  }
  for (const auto& [base, a] : inspector_.arena().live())
    if (a.size <= 1 << 20) add(reinterpret_cast<const void*>(base), a.size);
  return {{"state", std::hash<std::string>{}(all)}, {"time", now_}};
}

// --- the snapshot ------------------------------------------------------------------------------------------

// Leaves a copy of the process behind that sleeps at this event. Returns the answer to the request, and
// nothing in a copy of that copy, which the front end has asked to run on.
Session::Json Session::snapshot(const Event& e) {
  if (threads_of_this_process() > 1) return {{"made", false}};  // a copy would have only this thread
  const off_t positions[] = {output_position(STDOUT_FILENO), output_position(STDERR_FILENO)};
  const pid_t made = fork_apart();
  if (made != 0) return {{"made", made > 0}};
  channel_.close();
  if (!channel_.connect() || !channel_.send(Json{{"snapshot", now_}}.dump())) _exit(0);
  sleep_as_snapshot();
  if (positions[0] >= 0) lseek(STDOUT_FILENO, positions[0], SEEK_SET);
  if (positions[1] >= 0) lseek(STDERR_FILENO, positions[1], SEEK_SET);
  goal_ = {};
  inspector_.stopped_at(e.warp, e.op);
  if (!channel_.connect() || !channel_.send(Json{{"live", now_}, {"pid", getpid()}}.dump())) _exit(0);
  return {};
}

// Returns only in a copy that is to run on.
void Session::sleep_as_snapshot() {
  while (true) {
    const auto line = channel_.receive();
    if (!line || *line != "resume") _exit(0);
    if (fork_apart() == 0) {
      channel_.close();
      return;
    }
  }
}

}  // namespace course::debug

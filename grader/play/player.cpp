// SPDX-License-Identifier: MIT
// Reading order: play() at the end, Run, Recorder.
#include "play/player.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "lab/derived_cases.hpp"
#include "lab/poison.hpp"
#include "registry.hpp"
#include "sim/device.hpp"
#include "sim/machine/access.hpp"
#include "sim/machine/describe.hpp"
#include "sim/machine/source_places.hpp"
#include "sim/observation/attachment.hpp"
#include "sim/observation/report.hpp"

namespace course::grader::play {
namespace {

using Json = nlohmann::json;
using lab::DType;

constexpr std::size_t kMaxSteps = 30'000;
constexpr std::uint64_t kMaxInstructions = 2'000'000;  // of warps
constexpr std::uint64_t kDeviceBytes = 4 << 20;
constexpr std::uint64_t kMaxShown = 1024;  // elements of an array
constexpr const char* kWorkspace = "d_workspace";

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The bytes of a list of numbers.
template <typename Number>
std::vector<std::byte> bytes_of(const Json& list) {
  const auto numbers = list.get<std::vector<Number>>();
  const auto bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}

// --- What a run does, step by step

// A step is one warp at one source line, or an event of a block.
class Recorder final : public sim::Attachment, public sim::Observer {
 public:
  // Prints an element of an array, whose name and width it gets.
  using Print = std::function<std::string(const std::string&, std::uint32_t, const std::byte*)>;
  explicit Recorder(Print print) : print_(std::move(print)) {}

  // --- sim::Attachment
  void module_loaded(const sim::ModuleImage&, std::string_view) override {}
  void kernel_decoded(const sim::Program&, const sim::ModuleImage&, sim::SlotNames) override {}
  sim::Observer& observer(const sim::Arena& arena, std::vector<sim::KernelChecker*>) override {
    arena_ = &arena;
    return *this;
  }

  // --- sim::Observer
  void launch_begins(const sim::Program& program, const sim::LaunchRequest&) override {
    program_ = &program;
    ++launch_;
    lines_.clear();
    last_.clear();
    for (const auto& [address, n_bytes] : written_by_host_) host_step(address, n_bytes);
    written_by_host_.clear();
    Json arguments = Json::array();
    for (const auto& [parameter, address] : pointers_)
      if (const sim::Allocation* a = arena_->describe(address); a != nullptr && !a->name.empty())
        arguments.push_back({parameter, sim::plain_name(a->name), (address - a->base) / a->element_bytes});
    launches_.push_back({{"kernel", program.demangled}, {"arguments", std::move(arguments)}});
    pointers_.clear();
  }
  void block_begins(sim::Block& block) override {
    last_.clear();  // Block objects are reused
    event("begins", block);
  }
  void block_ends(sim::Block& block) override { event("ends", block); }
  void barrier_released(sim::Block& block, std::uint32_t) override { event("barrier", block); }
  void faulted(sim::Block& block) override { event("fault", block); }
  void launch_ends() override {
    steps_.push_back({{"k", "launch"}, {"l", launch_}});
    last_.clear();
  }
  void before(sim::Warp& w, const sim::MicroOp& op) override {
    if (++n_instructions_ > kMaxInstructions || steps_.size() > kMaxSteps)
      throw sim::DeviceFault(sim::Fault::launch_timeout,
                             fmt::format("stopped here: this page runs {} steps or {} instructions of warps "
                                         "at most",
                                         kMaxSteps, kMaxInstructions));
    line_step(w, op);
    if (is_shown(op)) {
      addresses_ = sim::addresses_of(w, op);
      before_ = w.worker->op_counters[op.index];
    }
  }
  void after(sim::Warp& w, const sim::MicroOp& op) override {
    if (is_shown(op)) access(w, op);
    if (op.kind == sim::OpKind::shuffle) exchange(w, op);
  }

  // Knows the elements from which values are computed.
  void use(const sim::TraceLog& trace) { trace_ = &trace; }

  // The host has written these bytes, for the launches that follow.
  void host_wrote(std::uint64_t address, std::uint64_t n_bytes) {
    written_by_host_.emplace_back(address, n_bytes);
  }

  // The launch that follows gets this address in a parameter, counted from 0.
  void passes(std::size_t parameter, std::uint64_t address) { pointers_.emplace_back(parameter, address); }

  Json take_steps() { return std::move(steps_); }
  Json take_launches() { return std::move(launches_); }
  // The arrays that were accessed. "launch" and "block" are -1 in those that all blocks share.
  Json arrays() const { return arrays_; }

 private:
  struct Array {
    std::string name;
    std::int64_t launch, block;  // -1: all
    std::uint64_t count;
    std::uint32_t width;
    std::uint64_t start;  // in shared memory, in bytes
    friend void to_json(Json& json, const Array& a) {
      json = {{"name", a.name},   {"launch", a.launch}, {"block", a.block},
              {"count", a.count}, {"width", a.width},   {"start", a.start}};
    }
  };
  struct Where {
    std::uint32_t line = 0, ptx_index = 0, mask = 0;
    std::size_t step = 0;
  };

  static bool is_shown(const sim::MicroOp& op) {
    return sim::accesses_memory(op.kind) && op.space != sim::MemorySpace::constant &&
           op.space != sim::MemorySpace::local;
  }

  std::uint32_t line_of(const sim::MicroOp& op) {
    const auto [known, fresh] = lines_.try_emplace(op.index);
    if (fresh) known->second = own_place(places_of(*program_, op)).line;
    return known->second;
  }

  void event(const char* kind, const sim::Block& block) {
    steps_.push_back({{"k", kind}, {"l", launch_}, {"b", block.linear}});
    last_.clear();
  }

  void host_step(std::uint64_t address, std::uint64_t n_bytes) {
    const sim::Allocation* a = arena_->describe(address);
    if (a == nullptr || a->name.empty()) return;
    const std::uint32_t width = a->element_bytes;
    const std::size_t array = array_of({sim::plain_name(a->name), -1, -1, a->size / width, width, 0});
    const std::uint64_t before = address - a->base, first = before / width;
    const std::uint64_t count = std::min(std::min(n_bytes, a->size - before) / width, kMaxShown);
    Json lanes = Json::array();
    for (std::uint64_t k = 0; k < count; ++k)
      lanes.push_back(
          {0, first + k,
           print_(arrays_[array].name, width, reinterpret_cast<const std::byte*>(address + k * width))});
    steps_.push_back({{"k", "host"}, {"l", launch_}});
    steps_.back()["a"].push_back(
        {{"t", "store"}, {"x", array}, {"width", width}, {"lanes", std::move(lanes)}});
  }

  // Begins a step if the warp is at another line than before, or at the same line once more, or has its turn
  // again after others.
  void line_step(sim::Warp& w, const sim::MicroOp& op) {
    Where& last = last_[&w];
    const std::uint32_t known = line_of(op), line = known != 0 ? known : last.line;
    const bool same =
        known == 0 || (line == last.line && last.mask == w.mask && op.ptx_index > last.ptx_index);
    if (same && last.mask != 0 && last.step + 1 == steps_.size()) {
      last.ptx_index = op.ptx_index;
      return;
    }
    last = {line, op.ptx_index, w.mask, steps_.size()};
    std::uint32_t waiting = 0;
    for (const sim::Group& g : w.groups)
      if (g.wait != sim::Wait::none) waiting |= g.mask;
    steps_.push_back({{"k", "line"},
                      {"l", launch_},
                      {"b", w.block->linear},
                      {"w", w.number},
                      {"n", line},
                      {"m", w.mask},
                      {"live", w.live}});
    if ((waiting & ~w.mask) != 0) steps_.back()["wait"] = waiting & ~w.mask;
  }

  // The array with this generic address; std::nullopt for one without a name.
  struct Position {
    std::size_t array;
    std::uint64_t offset;
    const std::byte* bytes;
  };
  std::optional<Position> array_at(const sim::Block& block, std::uint64_t address, std::uint32_t width) {
    const auto found = sim::named_array_at(*program_, *arena_, address);
    const std::byte* bytes = sim::memory_at(*arena_, block, address, width);
    if (!found || bytes == nullptr) return std::nullopt;
    const bool known = found->element_bytes != 0 && found->name != kWorkspace;
    const std::uint32_t element = known ? found->element_bytes : width;
    Array array{found->name, -1, -1, found->size / element, element, 0};
    if (found->shared) {
      array.start = found->base - sim::kSharedWindow;
      array.count = std::min(found->size, block.shared_bytes - array.start) / element;
      array.launch = launch_;
      array.block = static_cast<std::int64_t>(block.linear);
    }
    return Position{array_of(array), address - found->base, bytes};
  }

  // The elements from which the value was computed that a thread has just written; std::nullopt if that is
  // not known.
  std::optional<Json> origins_of(std::uint32_t thread, std::uint64_t offset, std::uint32_t width) const {
    const auto write = std::ranges::find_if(trace_->latest, [&](const sim::TraceWrite& w) {
      return w.thread == thread && w.element * width == offset;
    });
    if (write == trace_->latest.end()) return std::nullopt;
    Json elements = Json::array();
    for (const sim::TracePlace& place : write->from) {
      const auto array = std::ranges::find(arrays_, place.object, &Array::name);
      const bool known = place.width != 0 && array != arrays_.end();
      Json one{place.object, known ? place.element * place.width / array->width : place.element};
      if (elements.empty() || elements.back() != one) elements.push_back(std::move(one));
    }
    return elements;
  }

  std::size_t array_of(const Array& array) {
    auto known = std::ranges::find_if(arrays_, [&](const Array& a) {
      return a.name == array.name && a.block == array.block && a.launch == array.launch;
    });
    if (known == arrays_.end()) known = arrays_.insert(arrays_.end(), array);
    if (array.width < known->width) *known = array;
    return static_cast<std::size_t>(known - arrays_.begin());
  }

  void access(sim::Warp& w, const sim::MicroOp& op) {
    const sim::OpCounters& now = w.worker->op_counters[op.index];
    Json lanes = Json::array();
    std::size_t array = 0;
    for (std::uint32_t m = w.mask; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      for (std::uint32_t part = 0; part < op.count; ++part) {
        const auto place = array_at(*w.block, addresses_.at[lane] + std::uint64_t{part} * op.width, op.width);
        if (!place) continue;
        array = place->array;
        // An access may be a part of an element, or several elements.
        const auto& [name, launch, block, n_elements, width, start] = arrays_[array];
        for (std::uint64_t k = place->offset / width; k * width < place->offset + op.width; ++k) {
          const auto at = static_cast<std::ptrdiff_t>(k * width) - static_cast<std::ptrdiff_t>(place->offset);
          lanes.push_back({lane, k});
          if (op.kind == sim::OpKind::load) continue;
          lanes.back().push_back(print_(name, width, place->bytes + at));
          const std::uint32_t thread = w.number * sim::kLanes + static_cast<std::uint32_t>(lane);
          if (auto from = origins_of(thread, place->offset, op.width))
            lanes.back().push_back(std::move(*from));
        }
      }
    }
    if (lanes.empty() || steps_.empty()) return;
    Json& step = steps_[last_[&w].step];
    step["a"].push_back({{"t", op.kind == sim::OpKind::load    ? "load"
                               : op.kind == sim::OpKind::store ? "store"
                                                               : "atomic"},
                         {"x", array},
                         {"width", op.width},
                         {"sectors", now.sectors - before_.sectors},
                         {"passes", now.wavefronts - before_.wavefronts},
                         {"conflicts", now.conflicts - before_.conflicts},
                         {"lanes", std::move(lanes)}});
  }

  // What each lane got from a shuffle, as 32-bit items.
  void exchange(sim::Warp& w, const sim::MicroOp& op) {
    if (steps_.empty()) return;
    Json lanes = Json::array();
    const auto* got = w.slot<std::byte>(op.dst[0]);
    for (std::uint32_t m = w.mask; m != 0; m &= m - 1) {
      const int lane = std::countr_zero(m);
      lanes.push_back({lane, lane, print_("", 4, got + 4 * lane)});
    }
    steps_[last_[&w].step]["a"].push_back({{"t", "shuffle"}, {"lanes", std::move(lanes)}});
  }

  Print print_;
  const sim::Arena* arena_ = nullptr;
  const sim::Program* program_ = nullptr;
  const sim::TraceLog* trace_ = nullptr;
  std::int64_t launch_ = -1;
  std::uint64_t n_instructions_ = 0;
  Json steps_ = Json::array(), launches_ = Json::array();
  std::vector<Array> arrays_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> written_by_host_;  // address and bytes
  std::vector<std::pair<std::size_t, std::uint64_t>> pointers_;           // of the launch that follows
  std::map<std::uint32_t, std::uint32_t> lines_;                          // by op
  std::map<const sim::Warp*, Where> last_;
  sim::Addresses addresses_{};
  sim::OpCounters before_;
};

// --- One run

class Run {
 public:
  Run(const lab::Problem& problem, const lab::Task& task, lab::Case c, const Json& request)
      : problem_(problem),
        task_(task),
        case_(std::move(c)),
        request_(request),
        shape_(problem.shape(task, case_)) {}

  Json run() {
    Recorder recorder([this](const std::string& array, std::uint32_t width, const std::byte* bytes) {
      return problem_.print(case_, lab::shown_type(shape_, case_, array, width), bytes);
    });
    sim::attachment = &recorder;
    struct Detach {
      ~Detach() { sim::attachment = nullptr; }
    } const detach;
    sim::DeviceOptions options;
    options.preset.global_memory = kDeviceBytes;
    options.host_threads = 1;
    options.patience = 200'000;
    options.short_turns = request_.value("schedule", std::uint64_t{0}) != 0;
    sim::Device device(options);
    recorder.use(device.trace());
    const std::uint32_t mode = sim::kCounters | sim::kAllChecks | sim::kTrace;
    device.set_mode(mode);
    fill_inputs();
    allocate(device);
    device.reset_report();
    device.set_mode(mode);
    device.set_schedule(request_.value("schedule", std::uint64_t{0}), false);
    for (const auto& [address, n_bytes] : forgotten_) device.forget_writes(address, n_bytes);
    const auto module = device.load_module(request_.at("ptx").get_ref<const std::string&>());
    if (!module) throw Refused(module.error().text);
    std::string fault;
    for (const Json& work : request_.at("work"))
      if (fault = work.contains("kernel") ? launch(device, recorder, *module, work)
                                          : fill(device, recorder, work);
          !fault.empty())
        break;
    Json answer{{"case", case_.name}, {"n", case_.n}, {"fault", fault}};
    answer["steps"] = recorder.take_steps();
    answer["launches"] = recorder.take_launches();
    answer["arrays"] = recorder.arrays();
    answer["findings"] = sim::Device::text_of(device.findings()).text;
    add_buffers(answer);
    return answer;
  }

 private:
  void fill_inputs() {
    lab::Case c = case_;
    const auto typed = request_.find("typed");
    const bool is_typed = typed != request_.end() && typed->is_array();
    if (is_typed) c.words.items.clear();
    for (std::size_t i = 0; is_typed && i < typed->size(); ++i) {
      if (!(*typed)[i].is_number()) throw Refused("an item is not a number");
      c.words.items += (i == 0 ? "" : ",") + (*typed)[i].dump();
    }
    inputs_ = lab::inputs_of(problem_, task_, c, request_.value("seed", std::uint64_t{1}));
    const lab::BufferSpec& first = inputs_.at(0).spec;
    if (is_typed && typed->size() != first.count)
      throw Refused(fmt::format("{} items were typed; {} has {}", typed->size(), first.name, first.count));
  }

  std::uint64_t make(sim::Device& device, const std::string& key, const std::string& name, DType dtype,
                     std::uint64_t n_bytes, const std::byte* contents, bool is_data) {
    const auto address = device.allocate(std::max<std::uint64_t>(n_bytes, 1), sim::MemoryKind::device);
    if (!address) throw Refused(address.error().text);
    auto* to = reinterpret_cast<std::byte*>(*address);
    if (contents != nullptr)
      std::copy_n(contents, n_bytes, to);
    else
      std::fill_n(to, n_bytes, lab::kPoison);
    device.host_wrote(*address, n_bytes);
    if (contents == nullptr) forgotten_.emplace_back(*address, n_bytes);
    device.name_buffer(*address, std::max<std::uint64_t>(n_bytes, 1),
                       static_cast<std::uint32_t>(lab::bytes_of(dtype)), name, is_data);
    places_[key] = *address;
    return *address;
  }

  void allocate(sim::Device& device) {
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      make(device, fmt::format("in{}", i), inputs_[i].spec.name, inputs_[i].spec.dtype,
           inputs_[i].bytes.size(), inputs_[i].bytes.data(), true);
    for (std::size_t i = 0; i < shape_.outputs.size(); ++i) {
      const lab::BufferSpec& spec = shape_.outputs[i];
      make(device, fmt::format("out{}", i), spec.name, spec.dtype, spec.n_bytes(), nullptr, false);
    }
    const std::uint64_t workspace =
        make(device, "workspace", kWorkspace, DType::u8, shape_.workspace.n_bytes(), nullptr, false);
    for (const lab::Workspace::Array& array : shape_.workspace.arrays()) {
      const std::size_t width = lab::bytes_of(array.dtype);
      device.name_buffer(workspace + array.first_byte, std::max<std::uint64_t>(array.count * width, 1),
                         static_cast<std::uint32_t>(width), std::string(array.name), false);
    }
    if (!shape_.workspace.arrays().empty()) device.confine(workspace, true);
  }

  std::uint64_t place(const Json& pointer) const {
    return places_.at(pointer.at(0).get<std::string>()) + pointer.at(1).get<std::uint64_t>();
  }

  std::string launch(sim::Device& device, Recorder& recorder, sim::ModuleId module, const Json& work) {
    sim::LaunchRequest request;
    const auto kernel = device.find_kernel(module, work.at("kernel").get_ref<const std::string&>());
    if (!kernel) throw Refused(kernel.error().text);
    request.kernel = *kernel;
    const auto dims = [&](const char* key) {
      const auto& d = work.at(key);
      return sim::Dim3{d.at(0).get<std::uint32_t>(), d.at(1).get<std::uint32_t>(),
                       d.at(2).get<std::uint32_t>()};
    };
    request.grid = dims("grid");
    request.block = dims("block");
    request.dynamic_shared = work.value("shared", std::uint64_t{0});
    request.cooperative = work.value("cooperative", false);
    std::vector<std::byte> parameters = bytes_of<std::uint32_t>(work.at("parameters"));
    for (const Json& pointer : work.at("pointers")) {
      const std::uint64_t address = place(pointer.at(1));
      const auto at = pointer.at(0).get<std::size_t>();
      std::memcpy(parameters.data() + at, &address, sizeof address);
      const auto& declared = device.facts(*kernel).parameters;
      const auto after = std::ranges::find_if(declared, [&](const auto& p) { return p.offset > at; });
      recorder.passes(static_cast<std::size_t>(after - declared.begin()) - 1, address);
    }
    request.parameters = parameters;
    if (const std::string outside = device.outside_of_subset(request); !outside.empty())
      return fmt::format("not run, because the checkers do not follow it: {}", outside);
    return device.launch(request).text;
  }

  std::string fill(sim::Device& device, Recorder& recorder, const Json& work) {
    const std::uint64_t address = place(work.at("to"));
    std::uint64_t n_bytes = 0;
    if (work.contains("bytes")) {
      const std::vector<std::byte> bytes = bytes_of<std::uint8_t>(work.at("bytes"));
      std::ranges::copy(bytes, reinterpret_cast<std::byte*>(address));
      n_bytes = bytes.size();
    } else {
      const auto width = work.at("width").get<std::uint32_t>();
      const auto count = work.at("count").get<std::uint64_t>();
      static_cast<void>(device.fill(reinterpret_cast<std::byte*>(address),
                                    work.at("value").get<std::uint32_t>(), width, count));
      n_bytes = count * width;
    }
    device.host_wrote(address, n_bytes);
    recorder.host_wrote(address, n_bytes);
    return "";
  }

  Json printed(const lab::BufferSpec& spec, const std::vector<std::byte>& bytes) const {
    Json all = Json::array();
    const std::size_t width = lab::bytes_of(spec.dtype);
    for (std::uint64_t i = 0; i < std::min(spec.count, kMaxShown); ++i)
      all.push_back(problem_.print(case_, spec.dtype, bytes.data() + i * width));
    return all;
  }

  void add_buffers(Json& answer) const {
    for (const lab::HostBuffer& input : inputs_)
      answer["inputs"].push_back({{"name", input.spec.name}, {"values", printed(input.spec, input.bytes)}});
    std::vector<lab::HostBuffer> got, right;
    for (std::size_t i = 0; i < shape_.outputs.size(); ++i) {
      const lab::BufferSpec& spec = shape_.outputs[i];
      const auto* from = reinterpret_cast<const std::byte*>(places_.at(fmt::format("out{}", i)));
      const std::size_t n = spec.n_bytes();
      got.push_back({spec, {from, from + n}});
      right.push_back({spec, std::vector<std::byte>(n)});
    }
    problem_.baseline(task_, case_, inputs_, right);
    for (std::size_t i = 0; i < got.size(); ++i)
      answer["outputs"].push_back({{"name", got[i].spec.name},
                                   {"got", printed(got[i].spec, got[i].bytes)},
                                   {"expected", printed(right[i].spec, right[i].bytes)}});
    const auto mismatch = problem_.check(task_, case_, inputs_, got);
    answer["right"] = !mismatch;
    if (mismatch)
      answer["mismatch"] = {{"buffer", mismatch->buffer},     {"index", mismatch->index},
                            {"expected", mismatch->expected}, {"got", mismatch->got},
                            {"wrong", mismatch->n_wrong},     {"total", mismatch->n_total},
                            {"pattern", mismatch->pattern},   {"hint", mismatch->hint()}};
  }

  const lab::Problem& problem_;
  const lab::Task& task_;
  const lab::Case case_;
  const Json& request_;
  const lab::Shape shape_;
  std::vector<lab::HostBuffer> inputs_;
  std::map<std::string, std::uint64_t> places_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> forgotten_;
};

lab::Pattern pattern_of(const std::string& name) {
  for (int k = 0; k <= static_cast<int>(lab::Pattern::example); ++k)
    if (lab::name_of(static_cast<lab::Pattern>(k)) == name) return static_cast<lab::Pattern>(k);
  throw Refused(fmt::format("there are no items \"{}\"", name));
}

Json answer_to(const Json& request) {
  const auto& lab_id = request.at("lab").get_ref<const std::string&>();
  for (const lab::Problem* problem : lab::all_problems()) {
    if (problem->manifest().id != lab_id) continue;
    const lab::Task* task = lab::find_task(problem->manifest(), request.at("task").get<std::string>());
    if (task == nullptr) break;
    for (const lab::Case& like : lab::variants(*problem, *task)) {
      if (like.words.variant != request.at("variant").get_ref<const std::string&>()) continue;
      const auto c = problem->with_items(*task, like, request.at("n").get<std::uint64_t>(),
                                         pattern_of(request.value("items", std::string("random"))));
      if (!c) throw Refused("the lab has no such items");
      return Run(*problem, *task, *c, request).run();
    }
  }
  throw Refused("there is no such lab, task or operator");
}

}  // namespace

std::string play(std::string_view request) {
  try {
    return answer_to(Json::parse(request)).dump();
  } catch (const std::exception& error) {
    return Json{{"error", error.what()}}.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
}

}  // namespace course::grader::play

// SPDX-License-Identifier: MIT
#include "cudart/graph/graph.hpp"

#include <algorithm>
#include <mutex>
#include <unordered_set>

#include "cudart/runtime/host/host_checks.hpp"

namespace course::cudart {
namespace {

// All existing graphs and nodes.
struct LiveGraphs {
  std::mutex lock;
  std::unordered_set<const void*> nodes, graphs;
};
LiveGraphs& live() {
  static auto& table = *new LiveGraphs;
  return table;
}

bool belongs(const CUgraph_st& graph, const CUgraphNode_st* node) {
  return is_node(const_cast<cudaGraphNode_t>(node)) && node->graph == &graph;
}

Operation deep_copy(const Operation& operation) {
  const auto* child = std::get_if<ChildOp>(&operation);
  if (child == nullptr) return operation;
  std::shared_ptr<CUgraph_st> copy = clone(*child->graph);
  copy->is_child = true;
  return ChildOp{std::move(copy)};
}

void collect_graph_memory(const CUgraph_st& graph, std::vector<GraphMemory*>& out) {
  for (const auto& node : graph.nodes) {
    if (const auto* alloc = std::get_if<AllocOp>(&node->operation)) out.push_back(alloc->memory.get());
    if (const auto* child = std::get_if<ChildOp>(&node->operation)) collect_graph_memory(*child->graph, out);
  }
}

}  // namespace

Handles<CUgraph_st>& graphs() {
  static auto& table = *new Handles<CUgraph_st>;
  return table;
}

Handles<CUgraphExec_st>& executable_graphs() {
  static auto& table = *new Handles<CUgraphExec_st>;
  return table;
}

bool is_graph(cudaGraph_t graph) {
  LiveGraphs& all = live();
  const std::lock_guard guard(all.lock);
  return all.graphs.contains(graph);
}

bool is_node(cudaGraphNode_t node) {
  LiveGraphs& all = live();
  const std::lock_guard guard(all.lock);
  return all.nodes.contains(node);
}

Status add_node(CUgraph_st& graph, Context& context, const cudaGraphNode_t* dependencies,
                std::size_t n_dependencies, Operation operation, cudaGraphNode_t* out) {
  auto node = std::make_unique<CUgraphNode_st>();
  for (std::size_t i = 0; i < n_dependencies; ++i) {
    if (!belongs(graph, dependencies[i]))
      return fail(cudaErrorInvalidValue, "dependency {} is not a node of this graph", i);
    if (std::ranges::find(node->dependencies, dependencies[i]) != node->dependencies.end()) {
      return fail(cudaErrorInvalidValue, "dependency {} is given twice", i);
    }
    node->dependencies.push_back(dependencies[i]);
  }
  node->graph = &graph;
  node->context = &context;
  node->operation = std::move(operation);
  note_host_memory(*node);
  *out = node.get();
  {
    LiveGraphs& all = live();
    const std::lock_guard guard(all.lock);
    all.nodes.insert(node.get());
  }
  graph.nodes.push_back(std::move(node));
  return cudaSuccess;
}

void note_host_memory(CUgraphNode_st& node) {
  node.host_memory.clear();
  if (!checks_host(*node.context)) return;
  const auto add = [&](const void* address) {
    const auto place = locate(address);
    if (address != nullptr && (!place || place->kind == sim::MemoryKind::pinned_host))
      node.host_memory.push_back(watch_host_memory(address));
  };
  if (const auto* copy = std::get_if<CopyOp>(&node.operation)) add(copy->src), add(copy->dst);
  if (const auto* host = std::get_if<HostOp>(&node.operation)) add(host->data);
}

Status add_edges(CUgraph_st& graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if (!belongs(graph, from[i]) || !belongs(graph, to[i]) || from[i] == to[i]) {
      return fail(cudaErrorInvalidValue, "edge {} does not join two nodes of this graph", i);
    }
    auto& dependencies = to[i]->dependencies;
    if (std::ranges::find(dependencies, from[i]) != dependencies.end()) {
      return fail(cudaErrorInvalidValue, "edge {} exists already", i);
    }
    dependencies.push_back(from[i]);
  }
  return cudaSuccess;
}

Status destroy_node(cudaGraphNode_t node) {
  if (!is_node(node)) return cudaErrorInvalidValue;
  CUgraph_st& graph = *node->graph;
  for (const auto& other : graph.nodes) std::erase(other->dependencies, node);
  {
    LiveGraphs& all = live();
    const std::lock_guard guard(all.lock);
    all.nodes.erase(node);
  }
  std::erase_if(graph.nodes, [&](const auto& owned) { return owned.get() == node; });
  return cudaSuccess;
}

std::unique_ptr<CUgraph_st> clone(const CUgraph_st& graph) {
  auto copy = std::make_unique<CUgraph_st>();
  std::unordered_map<const CUgraphNode_st*, CUgraphNode_st*> copy_of;
  for (const auto& node : graph.nodes) {
    cudaGraphNode_t added = nullptr;
    (void)add_node(*copy, *node->context, nullptr, 0, deep_copy(node->operation), &added);
    added->original = node.get();
    added->host_memory = node->host_memory;
    copy_of[node.get()] = added;
  }
  for (const auto& node : graph.nodes)
    for (const CUgraphNode_st* dependency : node->dependencies)
      copy_of[node.get()]->dependencies.push_back(copy_of[dependency]);
  return copy;
}

std::vector<CUgraphNode_st*> topological_order(const CUgraph_st& graph) {
  std::vector<CUgraphNode_st*> order;
  std::unordered_set<const CUgraphNode_st*> done;
  // Repeatedly chooses the nodes whose dependencies are done, in order of creation. Usually one pass is
  // enough, because nodes are created after their dependencies.
  while (order.size() < graph.nodes.size()) {
    const std::size_t before = order.size();
    for (const auto& node : graph.nodes) {
      if (done.contains(node.get())) continue;
      const bool ready = std::ranges::all_of(
          node->dependencies, [&](const CUgraphNode_st* dependency) { return done.contains(dependency); });
      if (!ready) continue;
      done.insert(node.get());
      order.push_back(node.get());
    }
    if (order.size() == before) return {};
  }
  return order;
}

Status instantiate(const CUgraph_st& graph, unsigned long long flags, cudaGraphExec_t* out) {
  auto executable = std::make_unique<CUgraphExec_st>();
  executable->flags = flags;
  executable->graph = clone(graph);
  CUgraph_st& copy = *executable->graph;
  const std::vector<CUgraphNode_st*> order = topological_order(copy);
  if (order.size() != copy.nodes.size()) return fail(cudaErrorInvalidValue, "the graph has a cycle");
  std::unordered_map<const CUgraphNode_st*, std::size_t> position;
  for (std::size_t i = 0; i < order.size(); ++i) position[order[i]] = i;
  std::ranges::sort(copy.nodes,
                    [&](const auto& a, const auto& b) { return position[a.get()] < position[b.get()]; });
  for (const auto& node : copy.nodes) executable->node_of[node->original] = node.get();
  *out = executable_graphs().add(std::move(executable));
  return cudaSuccess;
}

Status update(CUgraphExec_st& executable, const CUgraph_st& graph, cudaGraphExecUpdateResultInfo& result) {
  result = {};
  const auto refuse = [&](cudaGraphExecUpdateResult why, cudaGraphNode_t node) {
    result.result = why;
    result.errorNode = node;
    return Status(cudaErrorGraphExecUpdateFailure);
  };
  const std::vector<CUgraphNode_st*> order = topological_order(graph);
  const auto& mine = executable.graph->nodes;
  if (order.size() != mine.size() || order.size() != graph.nodes.size())
    return refuse(cudaGraphExecUpdateErrorTopologyChanged, nullptr);
  std::unordered_map<const CUgraphNode_st*, CUgraphNode_st*> counterpart;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (node_type(order[i]->operation) != node_type(mine[i]->operation))
      return refuse(cudaGraphExecUpdateErrorNodeTypeChanged, order[i]);
    std::vector<CUgraphNode_st*> expected;
    for (const CUgraphNode_st* dependency : order[i]->dependencies)
      expected.push_back(counterpart[dependency]);
    std::vector<CUgraphNode_st*> actual = mine[i]->dependencies;
    std::ranges::sort(expected);
    std::ranges::sort(actual);
    if (expected != actual) return refuse(cudaGraphExecUpdateErrorTopologyChanged, order[i]);
    counterpart[order[i]] = mine[i].get();
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    // An allocation keeps its address in the executable graph.
    if (std::holds_alternative<AllocOp>(mine[i]->operation)) continue;
    mine[i]->operation = deep_copy(order[i]->operation);
    mine[i]->host_memory = order[i]->host_memory;
  }
  return cudaSuccess;
}

namespace {

// The clocks after the nodes of a launch.
using Ends = std::unordered_map<const CUgraphNode_st*, Clock>;

// Executes a node. With the host's checks on, it is work of its own, ordered after the nodes on which it
// depends.
Status run_node(CUgraphNode_st& node, Work& whole, Ends& ends) {
  const bool checked = checks_host(*node.context);
  Clock before = whole.before;
  if (checked || !ends.empty())  // nodes of another device may be checked
    for (const CUgraphNode_st* dependency : node.dependencies) before.join(ends[dependency]);
  if (!checked) {
    if (!ends.empty()) ends[&node] = std::move(before);
    return execute(*node.context, node.operation);
  }
  if (!node.agent) node.agent.emplace();
  Work part = begin_part(whole, *node.agent, std::move(before));
  const CurrentWork current(part);
  for (const auto& memory : node.host_memory)
    if (const std::string fate = fate_of(*memory); !fate.empty())
      return fail(cudaErrorInvalidValue,
                  "a {} of the graph uses memory of the host{}: it must exist as long as the graph is "
                  "launched",
                  std::holds_alternative<CopyOp>(node.operation) ? "copy" : "host function", fate)
          .as("use-after-free");
  Status status = execute(*node.context, node.operation);
  whole.after.join(part.after);
  ends[&node] = std::move(part.after);
  return status;
}

}  // namespace

Status run_graph(const CUgraph_st& graph, bool frees_on_launch) {
  if (frees_on_launch) {
    std::vector<GraphMemory*> memory;
    collect_graph_memory(graph, memory);
    for (GraphMemory* piece : memory) (void)free_graph_memory(piece->context, piece->address);
  }
  Work& launch = *CurrentWork::current();
  Ends ends;
  // The nodes of executable graphs are already sorted; those of child graphs are sorted here.
  for (CUgraphNode_st* node : topological_order(graph)) {
    if (Status status = run_node(*node, launch, ends); !status.ok()) return status;
    // the error is returned by the next call, as after any kernel's fault
    if (node->context->sticky != cudaSuccess) return cudaSuccess;
  }
  return cudaSuccess;
}

}  // namespace course::cudart

CUgraph_st::CUgraph_st() {
  auto& all = course::cudart::live();
  const std::lock_guard guard(all.lock);
  all.graphs.insert(this);
}

CUgraph_st::~CUgraph_st() {
  auto& all = course::cudart::live();
  const std::lock_guard guard(all.lock);
  for (const auto& node : nodes) all.nodes.erase(node.get());
  all.graphs.erase(this);
}

// SPDX-License-Identifier: MIT
// The typed form of a PTX module: what the parser makes, the printer prints and the simulator decodes.
// Read Module, then Function, then Instruction and Operand. Nothing here executes anything.
// Invariants: names are resolved. A register operand is an index into its function's `registers`, a label
// an index into `instructions`, a symbol an index into the table that Operand::table names. PTX scopes are
// flattened: within a function no two registers, variables or labels share a name; one that did in the text
// got a "$1", "$2", … appended.
// Ownership: every std::string_view and std::span here points into Module::storage. A Module may be moved and
// copied; whoever keeps a view longer than the Module keeps a copy of `storage` too.
// Source: NVIDIA, "PTX ISA", version 9.0, chapters 4 (syntax), 5 (state spaces, types), 9 (instructions), 11
// (directives).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace course::ptx {

// Fundamental types (PTX ISA 5.2), packed types and the opaque ones. `none` stands where an instruction
// carries no type.
// clang-format off
enum class Type : std::uint8_t {
  none, pred,
  b8, b16, b32, b64, b128,
  u8, u16, u32, u64,
  s8, s16, s32, s64,
  f16, f16x2, bf16, bf16x2, tf32, f32, f64,
  s16x2, u16x2, e4m3, e5m2, e4m3x2, e5m2x2,
  f32x2, e2m1, e2m3, e3m2, e2m1x2, e2m3x2, e3m2x2, ue8m0, ue8m0x2, e4m3x4, e5m2x4, e2m1x4, e2m3x4, e3m2x4,
  b1, b4, u4, s4, texref, samplerref, surfref,
};
// clang-format on

// Size in bits; 1 for pred, 0 for none.
int bits_of(Type type);
// The type's spelling without the dot ("u32"); "" for none.
const char* spelling(Type type);
std::optional<Type> type_from(std::string_view spelling);

enum class Space : std::uint8_t { generic, reg, sreg, constant, global, local, param, shared, tex };
const char* spelling(Space space);

// How far a name is seen: `.visible`, `.weak`, `.common`, `.extern` or nothing.
enum class Linkage : std::uint8_t { internal, visible, weak, common, external };
const char* spelling(Linkage linkage);  // without the dot; "" for internal

// Where an instruction came from, by its .loc directive. `inlined_at` chains to the call site, as an index
// into Module::locations (always a smaller one), or -1. Line 0 means "no line" (compiler-made code).
struct Location {
  std::uint32_t file = 0;  // the number in `.file`; look it up in Module::files
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::int32_t inlined_at = -1;
  std::string_view function;  // the inlined function's name (mangled, from .debug_str), or ""
};

// Only registers that occur in some instruction are listed, in the order of their first use: `.reg .b32
// %r<100>` by itself makes none. The components of `.reg .v4 .f32 %v` are four registers, "%v.x" to "%v.w".
struct Register {
  std::string name;  // with its percent sign: "%rd12"
  Type type = Type::none;
};

struct Operand {
  enum class Kind : std::uint8_t {
    none,
    reg,      // `index` into Function::registers; `negated` for !%p and -%r; `name`: the byte selector of a
              // video instruction ("b0", "h1"), or ""
    special,  // a special register by `name`: "%tid.x", "%lanemask_lt", "%clock64"
    integer,  // `integer`
    real32,   // 0f…: bits in the low half of `integer`
    real64,   // 0d… or a decimal literal: bits in `integer`
    symbol,   // the address of a variable or function named `name`, plus `integer`; or a table of branch or
              // call targets or a prototype: `table` and `symbol` say which
    address,  // [base + integer]; base is a register (index ≥ 0) or a symbol (`name` not empty) or absent.
              // Both at once, array[%r + integer]: symbol + (register + integer) × the variable's element
              // size. `parts`: what follows after a comma, tensor or texture coordinates: [base, {x, y}]
    vector,   // {a, b, …}: `parts`
    label,    // `index` of the instruction that the label stands before; `symbol`: into Function::labels
    pair,     // d|p: `parts`, two of them
    sink,     // _
    list,     // (a, b): the arguments or results of a call: `parts`
  };
  // Which table `symbol` points into; the first three and the last three of Function, the others of Module.
  enum class Table : std::uint8_t {
    none,
    parameter,
    result,
    local,     // Function::variables
    variable,  // Module::variables
    function,
    prototype,
    branch_targets,
    call_targets,
  };
  Kind kind = Kind::none;
  bool negated = false;
  Table table = Table::none;
  std::int32_t index = -1;
  std::int32_t symbol = -1;
  std::int64_t integer = 0;
  std::string_view name;
  std::vector<Operand> parts;
};

// One instruction. `opcode` is the part before the first dot ("ld"), `modifiers` everything between the
// dots in order, types included ("global", "nc", "v4", "u32"; "shared::cta" is one); `types` repeats just
// the type modifiers. Equal spellings share one `form`, so whatever depends on the spelling alone can be
// computed once per form.
struct Instruction {
  std::string_view opcode;
  std::span<const std::string_view> modifiers;
  std::span<const Type> types;
  std::vector<Operand> operands;
  std::uint32_t form = 0;       // from 0 to Module::forms - 1
  std::int32_t guard = -1;      // register index of the guard predicate, or -1
  std::int32_t location = -1;   // into Module::locations, -1 before the function's first .loc
  std::uint32_t text_line = 0;  // line in the PTX text, from 1
  bool guard_negated = false;

  bool has(std::string_view modifier) const;
  // The spelling up to the operands: "ld.global.nc.v4.u32".
  std::string full_opcode() const;
};

// A variable in some state space, module-wide or local to a function; also a parameter.
struct Variable {
  std::string name;
  Space space = Space::global;
  Linkage linkage = Linkage::internal;
  Type type = Type::none;            // element type
  std::uint32_t alignment = 0;       // bytes, resolved (natural when not given)
  std::uint64_t size = 0;            // bytes, whole variable; 0 for extern arrays without extent
  std::uint64_t offset = 0;          // byte offset inside the parameter list (parameters only)
  std::int32_t register_index = -1;  // a `.reg` parameter of a .func: into Function::registers
  int vector = 1;                    // .v2, .v4
  bool is_array = false;             // declared with brackets, or more than one element
  bool is_extern = false;
  bool managed = false;  // .attribute(.managed)
  // `.ptr` on a kernel parameter: what the pointer points to.
  bool is_pointer = false;
  Space pointee_space = Space::generic;
  std::uint32_t pointee_alignment = 0;  // 0: not given
  std::vector<std::uint8_t> initial;    // bytes as written, shorter than size when zero-filled
  // A variable declared in a block of a function body lives for instructions [scope_begin, scope_end).
  std::int32_t scope_begin = 0;
  std::int32_t scope_end = -1;  // -1: to the end of the function; module-wide variables and parameters too

  // Places in `initial` that hold the address of another symbol.
  struct Relocation {
    std::uint64_t offset = 0;  // bytes
    std::string symbol;
    std::int64_t addend = 0;
    bool generic = false;  // written as generic(symbol)
    int bytes = 8;
    int shift = 0;  // bits: the value is (address >> shift), cut to `bytes`; 0xff00(symbol) gives 8
  };
  std::vector<Relocation> relocations;
};

// `.callprototype` and the signature of every function.
struct Prototype {
  std::string name;  // label of a callprototype
  std::vector<Variable> results;
  std::vector<Variable> parameters;
  bool noreturn = false;
};

// `.branchtargets`, the jump table of brx.idx.
struct BranchTargets {
  std::string name;
  std::vector<std::int32_t> targets;  // instruction indices
  std::int32_t at = 0;                // stands before this instruction
};

// `.calltargets`, the functions that an indirect call may reach.
struct CallTargets {
  std::string name;
  std::vector<std::int32_t> functions;  // into Module::functions
};

struct Pragma {
  std::string text;
  std::int32_t at = -1;  // stands before this instruction; -1: before the body
};

struct Function {
  std::string name;
  Linkage linkage = Linkage::internal;
  bool is_entry = false;
  bool is_declaration = false;    // no body: extern, or only declared
  bool forward_declared = false;  // declared before its definition
  bool noreturn = false;
  std::int32_t alias_of = -1;  // `.alias`: the function that this name stands for
  std::vector<Variable> results;
  std::vector<Variable> parameters;  // offsets assigned
  std::vector<Register> registers;
  std::vector<Variable> variables;  // .local, .shared, .param, … declared in the body, any scope depth
  std::vector<Instruction> instructions;
  struct Label {
    std::string name;
    std::int32_t at;  // index into instructions; may equal their count
  };
  std::vector<Label> labels;  // in the order of the text, so `at` never falls; several may share one `at`
  std::vector<BranchTargets> branch_targets;
  std::vector<CallTargets> call_targets;
  std::vector<Prototype> prototypes;
  std::vector<Pragma> pragmas;
  std::vector<std::uint32_t> max_threads;         // .maxntid, up to three
  std::vector<std::uint32_t> required_threads;    // .reqntid
  std::vector<std::uint32_t> required_cluster;    // .reqnctapercluster
  std::optional<std::uint32_t> min_blocks;        // .minnctapersm
  std::optional<std::uint32_t> max_blocks;        // .maxnctapersm
  std::optional<std::uint32_t> max_registers;     // .maxnreg
  std::optional<std::uint32_t> max_cluster_rank;  // .maxclusterrank
  bool explicit_cluster = false;                  // .explicitcluster
  bool blocks_are_clusters = false;               // .blocksareclusters

  std::uint64_t parameter_bytes() const;  // end of the last parameter
};

struct Module {
  int version_major = 0, version_minor = 0;
  std::string target;                       // "sm_90"
  std::vector<std::string> target_options;  // what follows it: "debug", "texmode_independent"
  int address_bits = 64;
  std::vector<Variable> variables;
  std::vector<Function> functions;  // one entry a name: a definition replaces its forward declaration
  std::vector<Location> locations;  // without repetitions
  struct File {
    std::uint32_t number;
    std::string path;
  };
  std::vector<File> files;
  std::vector<std::string> pragmas;  // module-wide
  // What stood where in the text: the printer's order.
  struct Item {
    enum class Kind : std::uint8_t { variable, extern_variable, function_header, function_body, alias };
    Kind kind;
    std::int32_t index;  // into variables or functions
  };
  std::vector<Item> items;
  std::uint32_t forms = 0;  // how many different full opcodes occur
  std::shared_ptr<const void> storage;

  const Function* find_function(std::string_view name) const;  // an alias gives what it stands for
  const Variable* find_variable(std::string_view name) const;
  const std::string* find_file(std::uint32_t number) const;
  // The function at an index of a symbol operand, aliases followed.
  const Function& function_at(std::int32_t index) const;
};

}  // namespace course::ptx

// SPDX-License-Identifier: MIT
// The typed form of a PTX module: what the parser makes, the printer prints and the simulator decodes.
// Read Module, then Function, then Instruction and Operand. Nothing here executes anything.
// Invariant: names are resolved. A register operand is an index into its function's `registers`, a label
// an index into `instructions`, a symbol an index into a variable or function table.
// Source: NVIDIA, "PTX ISA", version 9.0, chapters 4 (syntax), 5 (state spaces, types), 9 (instructions), 11 (directives).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace course::ptx {

// Fundamental types (PTX ISA 5.2). `none` stands where an instruction carries no type.
enum class Type : std::uint8_t {
  none, pred,
  b8, b16, b32, b64, b128,
  u8, u16, u32, u64,
  s8, s16, s32, s64,
  f16, f16x2, bf16, bf16x2, tf32, f32, f64,
  s16x2, u16x2, e4m3, e5m2, e4m3x2, e5m2x2,
};

// Size in bits; 1 for pred, 0 for none.
int bits_of(Type type);
// The type's spelling without the dot ("u32"); "" for none.
const char* spelling(Type type);
std::optional<Type> type_from(std::string_view spelling);

enum class Space : std::uint8_t { generic, reg, sreg, constant, global, local, param, shared, tex };
const char* spelling(Space space);

// Where an instruction came from, by its .loc directive. `inlined_at` chains to the call site, as an index
// into Module::locations, or -1. Line 0 means "no line" (compiler-made code).
struct Location {
  std::uint32_t file = 0;  // the number in `.file`; look it up in Module::files
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::int32_t inlined_at = -1;
  std::string function;  // the inlined function's name (mangled, from .debug_str), or ""
};

struct Register {
  std::string name;  // with its percent sign: "%rd12"
  Type type = Type::none;
};

struct Operand {
  enum class Kind : std::uint8_t {
    none,
    reg,        // `index` into Function::registers; `negated` for !%p
    special,    // a special register by `name`: "%tid.x", "%lanemask_lt", "%clock64"
    integer,    // `integer`
    real32,     // 0f…: bits in the low half of `integer`
    real64,     // 0d… or a decimal literal: bits in `integer`
    symbol,     // the address of a variable or function named `name`, plus `integer`
    address,    // [base + integer]; base is a register (index ≥ 0) or a symbol (`name` not empty) or absent
    vector,     // {a, b, …}: `parts`
    label,      // `index` of the instruction that the label stands before
    pair,       // d|p: `parts`, two of them
    sink,       // _
    list,       // (a, b): the arguments or results of a call: `parts`
  };
  Kind kind = Kind::none;
  bool negated = false;
  std::int32_t index = -1;
  std::int64_t integer = 0;
  std::string name;
  std::vector<Operand> parts;
};

// One instruction. `opcode` is the part before the first dot ("ld"), `modifiers` everything between the
// dots in order, types included ("global", "nc", "v4", "u32"); `types` repeats just the type modifiers.
struct Instruction {
  std::string opcode;
  std::vector<std::string> modifiers;
  std::vector<Type> types;
  std::int32_t guard = -1;  // register index of the guard predicate, or -1
  bool guard_negated = false;
  std::vector<Operand> operands;
  std::int32_t location = -1;  // into Module::locations, -1 before the first .loc
  std::uint32_t text_line = 0;  // line in the PTX text, from 1

  bool has(std::string_view modifier) const;
  // The spelling up to the operands: "ld.global.nc.v4.u32".
  std::string full_opcode() const;
};

// A variable in some state space, module-wide or local to a function; also a parameter.
struct Variable {
  std::string name;
  Space space = Space::global;
  Type type = Type::none;     // element type
  std::uint32_t alignment = 0;  // bytes, resolved (natural when not given)
  std::uint64_t size = 0;       // bytes, whole variable; 0 for extern arrays without extent
  std::uint64_t offset = 0;     // byte offset inside the parameter list (parameters only)
  int vector = 1;               // .v2, .v4
  bool is_extern = false;
  bool managed = false;         // .attribute(.managed)
  std::vector<std::uint8_t> initial;  // bytes as written, shorter than size when zero-filled

  // Places in `initial` that hold the address of another symbol.
  struct Relocation {
    std::uint64_t offset = 0;  // bytes
    std::string symbol;
    std::int64_t addend = 0;
    bool generic = false;      // written as generic(symbol)
    int bytes = 8;
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

struct BranchTargets {
  std::string name;
  std::vector<std::int32_t> targets;  // instruction indices
};

struct Function {
  std::string name;
  bool is_entry = false;
  bool is_declaration = false;  // no body: extern, or a forward declaration
  std::vector<Variable> results;
  std::vector<Variable> parameters;  // offsets assigned
  std::vector<Register> registers;
  std::vector<Variable> variables;  // .local, .shared, .param, … declared in the body, any scope depth
  std::vector<Instruction> instructions;
  struct Label {
    std::string name;
    std::int32_t at;  // index into instructions; may equal their count
  };
  std::vector<Label> labels;
  std::vector<BranchTargets> branch_targets;
  std::vector<Prototype> prototypes;
  std::vector<std::uint32_t> max_threads;       // .maxntid, up to three
  std::vector<std::uint32_t> required_threads;  // .reqntid
  std::optional<std::uint32_t> min_blocks;      // .minnctapersm
  std::optional<std::uint32_t> max_registers;   // .maxnreg

  std::uint64_t parameter_bytes() const;  // end of the last parameter
};

struct Module {
  int version_major = 0, version_minor = 0;
  std::string target;       // "sm_90"
  int address_bits = 64;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<Location> locations;
  struct File {
    std::uint32_t number;
    std::string path;
  };
  std::vector<File> files;

  const Function* find_function(std::string_view name) const;  // prefers a definition over a declaration
  const Variable* find_variable(std::string_view name) const;
  const std::string* find_file(std::uint32_t number) const;
};

}  // namespace course::ptx

// SPDX-License-Identifier: MIT
// What the instructions on a warp's matrices share: types, shapes, and the registers of an operand. Private
// to this folder.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/decode/decoder.hpp"
#include "sim/ops/fragment.hpp"

namespace course::sim {

// Types of a and b that go together.
enum class Family : std::uint8_t { half, brain, tensor, byte_float, doubles, bytes, nibbles, bits, none };
Family family_of(Element a, Element b);

// The element types among an instruction's modifiers, in their order.
std::vector<Element> elements_of(const Instruction& i);
// Takes m, n and k from a modifier such as ".m16n8k16"; false: there is none.
bool read_shape(const Instruction& i, MatrixForm& form);

// Does the ISA have this shape with these types of a and b?
bool is_mma(const MatrixForm& form);
bool is_wmma(const MatrixForm& form);
// May c or d have this type? f16 and FP8 take either float; the others have one type.
bool takes(Family family, Element sum);

inline SlotKind kind_of(Element e) {
  return e == Element::f64 ? SlotKind::wide : SlotKind::narrow;
}

// The operand's registers: in braces, or a single one without.
std::vector<Operand> parts_of(const Operand& operand);

}  // namespace course::sim

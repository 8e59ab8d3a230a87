// SPDX-License-Identifier: MIT
// A kernel as text: increment(data, by) adds by + bias to item threadIdx.x.
#pragma once

inline constexpr const char* kPtx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .global .align 4 .u32 bias = 1000;
.visible .entry increment(.param .u64 data, .param .u32 by)
{
  .reg .u32 %r<5>; .reg .u64 %rd<4>; ld.param.u64 %rd1, [data]; ld.param.u32 %r1, [by];
  mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2; ld.global.u32 %r3, [%rd3];
  add.u32 %r3, %r3, %r1; ld.global.u32 %r4, [bias]; add.u32 %r3, %r3, %r4; st.global.u32 [%rd3], %r3;
  ret;
}
)";

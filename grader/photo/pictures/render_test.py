#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The photos are what render.py renders, at some of their pixels: render_test.py"""

import sys
from pathlib import Path

try:
    import numpy as np
    import render
    from PIL import Image
except ModuleNotFoundError as missing:
    print(f"{missing.name} is not installed: python3-numpy and python3-pil have it")
    sys.exit(77)

HERE = Path(__file__).parent
SCENES = {"room": render.Room(), "lanterns": render.Lanterns()}
for name, scene in SCENES.items():
    photo = np.asarray(Image.open(HERE / f"{name}.png").convert("RGB"), float)
    depths = np.asarray(Image.open(HERE / f"{name}.depth.png").convert("L"), float)
    height, width = depths.shape
    pixels = np.random.default_rng(1).choice(width * height, 400, replace=False)
    light, depth = render.sample(scene, pixels, width, height, 0.5, 0.5)
    code = np.clip(light, 0, None) ** (1 / 2.2)
    stored = photo.reshape(-1, 3)[pixels]
    scale = np.median((stored / np.maximum(code, 1e-6))[stored > 20])
    right = (np.abs(stored - np.minimum(scale * code, 255)) < 3).all(-1).mean()
    stored = depths.reshape(-1)[pixels]
    inside = (stored > 0) & (stored < 255)
    near = np.polyval(np.polyfit(depth[inside], stored[inside], 1), depth)
    deep = (np.abs(stored - np.clip(near, 0, 255)) < 3).mean()
    print(f"{name}: {right:.0%} of the pixels, {deep:.0%} of their depths")
    # The others are edges, of which the photo has the mean of nine points.
    assert right > 0.8 and deep > 0.8, name

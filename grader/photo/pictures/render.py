#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Renders the photos that ./lab photo develops: room.png and lanterns.png with their depth maps, NAME.depth.png.

    pip install numpy==2.4.6 && grader/photo/pictures/render.py grader/photo/pictures [--small]

A photo is a PNG of 16 bits a channel with gamma 2.2, which is enough for lights that are thousands of times
brighter than the dark corners. Surfaces are found by sphere tracing: a scene says how far each point is from the
nearest surface, and of which material that is (Hart, "Sphere tracing", The Visual Computer 12, 1996; DOI
10.1007/s003710050084).
"""

import struct
import sys
import zlib
from pathlib import Path
from typing import TypeAlias

import numpy as np

Array: TypeAlias = "np.ndarray"
Parts = list[tuple[Array, int]]  # distances, and the material

WIDTH, HEIGHT, FAR = 640, 480, 40.0
SKIN, HAIR, EYE, CLOTH, WALL, WOOD, SHELF, GLOW, BERRY, CUP, LEAF, SKY, LIPS, BRASS = range(14)
ALBEDO = {
    SKIN: (0.62, 0.40, 0.29),
    HAIR: (0.05, 0.035, 0.03),
    WALL: (0.34, 0.36, 0.33),
    BERRY: (0.3, 0.03, 0.035),
}
ALBEDO |= {
    CUP: (0.55, 0.6, 0.66),
    LEAF: (0.05, 0.13, 0.05),
    LIPS: (0.42, 0.14, 0.13),
    BRASS: (0.4, 0.28, 0.1),
}


def vector(*parts: float) -> Array:
    return np.array(parts, np.float32)


def length(v: Array) -> Array:
    return np.sqrt(np.sum(v * v, axis=-1))


def unit(v: Array) -> Array:
    return v / np.maximum(length(v), 1e-9)[..., None]


def ball(p: Array, centre: tuple, radius: float) -> Array:
    return length(p - vector(*centre)) - radius


def egg(p: Array, centre: tuple, radii: tuple) -> Array:
    """An ellipsoid; inside of half a radius the distance is a bound only."""
    q = (p - vector(*centre)) / vector(*radii)
    k = length(q)
    return k * (k - 1) / np.maximum(length(q / vector(*radii)), 1e-6)


def block(p: Array, centre: tuple, half: tuple, rounded: float = 0.0) -> Array:
    q = np.abs(p - vector(*centre)) - vector(*half)
    return length(np.maximum(q, 0)) + np.minimum(q.max(axis=-1), 0) - rounded


def rod(p: Array, start: tuple, end: tuple, radius: float) -> Array:
    a, b = vector(*start), vector(*end)
    t = np.clip((p - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
    return length(p - a - t[..., None] * (b - a)) - radius


def blend(a: Array, b: Array, k: float) -> Array:
    h = np.clip(0.5 + 0.5 * (b - a) / k, 0, 1)
    return b + (a - b) * h - k * h * (1 - h)


def noise(i: Array, j: "Array | float" = 0.0) -> Array:
    """In 0 … 1, the same for the same numbers."""
    return np.abs(np.sin(i * 12.9898 + j * 78.233) * 43758.547) % 1.0


class Figure:
    """A bust that looks into the camera, with the flash in its eyes."""

    def __init__(self, at: tuple, cloth: tuple, other: tuple) -> None:
        self.at, self.cloth, self.other = vector(*at), vector(*cloth), vector(*other)

    def parts(self, p: Array) -> Parts:
        q = p - self.at
        side = np.stack([np.abs(q[..., 0]), q[..., 1], q[..., 2]], -1)  # left and right are alike
        face = blend(egg(q, (0, 0, 0), (0.74, 0.95, 0.8)), egg(q, (0, -0.55, -0.22), (0.5, 0.45, 0.5)), 0.2)
        face = blend(face, egg(q, (0, -0.16, -0.84), (0.12, 0.2, 0.14)), 0.12)
        face = blend(face, egg(side, (0.74, -0.05, 0.1), (0.12, 0.22, 0.14)), 0.06)
        face = blend(face, rod(q, (0, -0.6, 0.1), (0, -1.6, 0.2), 0.36), 0.2)
        face = np.maximum(face, -egg(side, (0.28, 0.1, -0.8), (0.15, 0.085, 0.22)))
        lips = egg(q, (0, -0.5, -0.69), (0.22, 0.055, 0.08))
        brow = egg(side, (0.29, 0.33, -0.7), (0.17, 0.026, 0.09))
        hair = np.maximum(
            egg(q, (0, 0.16, 0.12), (0.83, 0.98, 0.86)), -egg(q, (0, -0.22, -0.75), (0.62, 0.86, 0.6))
        )
        hair = np.maximum(hair, -0.75 - q[..., 1])
        cloth = blend(
            egg(q, (0, -2.55, 0.35), (1.25, 1.15, 0.75)), egg(side, (1.1, -2.4, 0.35), (0.5, 0.8, 0.5)), 0.3
        )
        eye = ball(side, (0.28, 0.1, -0.62), 0.14)
        return [(face, SKIN), (lips, LIPS), (np.minimum(hair, brow), HAIR), (cloth, CLOTH), (eye, EYE)]

    def colour(self, p: Array, kind: int, eye_to: Array) -> tuple[Array, Array]:
        """Of cloth and eyes: albedo, and light of their own."""
        q = p - self.at
        own = np.zeros_like(p)
        if kind == CLOTH:
            stripes = np.sin(q[..., 1] * 14) > 0.35
            return np.where(stripes[..., None], self.other, self.cloth), own
        side = np.where(q[..., 0] < 0, -1, 1)
        centre = np.stack([0.28 * side, np.full_like(side, 0.1, float), np.full_like(side, -0.62, float)], -1)
        look = unit(eye_to - self.at - centre)
        off = np.sqrt(np.maximum(0, 1 - np.sum(unit(q - centre) * look, -1) ** 2))
        white, iris, pupil = vector(0.75, 0.74, 0.7), vector(0.1, 0.16, 0.17), vector(0.5, 0.02, 0.03)
        albedo = np.where((off < 0.62)[..., None], iris, white)
        albedo = np.where((off < 0.42)[..., None], pupil, albedo)
        return albedo, np.where((off < 0.42)[..., None], vector(0.34, 0.012, 0.02), own)


class Room:
    """By the window in the evening, with a lamp, and a shelf in the dark."""

    camera, ambient = vector(0.0, 0.1, -6.0), vector(0.016, 0.018, 0.024)
    figures = [Figure((-0.15, 0.1, 0.6), (0.11, 0.2, 0.3), (0.5, 0.47, 0.4))]
    # where, colour, the direction in which it shines (None: all)
    lights = [
        ((2.5, 0.05, -0.4), (9.0, 6.3, 3.4), (-0.9, 0.0, 0.1)),
        ((-3.3, 1.6, 6.0), (5.0, 6.5, 9.0), (0.4, -0.2, -0.9)),
    ]
    lights += [((0.0, 0.7, -6.0), (5.0, 5.0, 5.2), (0.0, -0.03, 1.0))]

    def parts(self, p: Array) -> Parts:
        x, y, z = p[..., 0], p[..., 1], p[..., 2]
        room = np.minimum(np.minimum(5.2 - x, x + 5.2), np.minimum(3.4 - y, 7.0 - z))
        frame = np.maximum(
            block(p, (-2.9, 1.1, 6.95), (1.75, 1.65, 0.12)), -block(p, (-2.9, 1.1, 6.9), (1.55, 1.45, 0.4))
        )
        frame = np.minimum(frame, block(p, (-2.9, 1.1, 6.95), (0.05, 1.5, 0.08)))
        frame = np.minimum(frame, block(p, (-2.9, 1.35, 6.95), (1.6, 0.05, 0.08)))
        shelf = block(p, (3.1, 0.2, 6.7), (1.75, 3.0, 0.5))
        table = block(p, (0.0, -2.35, -2.2), (6.0, 0.1, 1.7), 0.03)
        lamp = ball(p, (2.5, 0.05, -0.4), 0.33)
        stand = np.minimum(
            rod(p, (2.5, -2.3, -0.4), (2.5, -0.3, -0.4), 0.06), egg(p, (2.5, -2.2, -0.4), (0.45, 0.12, 0.45))
        )
        cup = np.maximum(rod(p, (-2.0, -2.1, -2.6), (-2.0, -1.5, -2.6), 0.36), p[..., 1] + 1.35)
        bowl = np.maximum(ball(p, (1.35, -1.8, -2.9), 0.55), p[..., 1] + 1.85)
        berries = np.min(
            [
                ball(p, (1.05 + 0.21 * k, -1.72 + 0.1 * (k % 2), -2.95 + 0.16 * (k % 3)), 0.16)
                for k in range(4)
            ],
            0,
        )
        pot = np.maximum(rod(p, (-4.3, -2.2, 4.6), (-4.3, -1.6, 4.6), 0.5), -ball(p, (-4.3, -1.0, 4.6), 0.4))
        leaves = np.min(
            [
                rod(p, (-4.3, -1.4, 4.6), (-4.3 + 0.5 * dx, 0.2 - 0.4 * abs(dx), 4.6 + dz), 0.1)
                for dx, dz in ((-1.6, 0), (-0.8, 0.4), (0, -0.3), (0.8, 0.2), (1.6, -0.2))
            ],
            0,
        )
        out = [
            (room, WALL),
            (y + 3.4, WOOD),
            (frame, CUP),
            (shelf, SHELF),
            (table, WOOD),
            (lamp, GLOW),
            (stand, BRASS),
        ]
        return (
            out
            + [(cup, CUP), (np.minimum(bowl, pot), BRASS), (berries, BERRY), (leaves, LEAF)]
            + self.figures[0].parts(p)
        )

    def sky(self, p: Array) -> Array:
        """Behind the window: hills and the evening sun."""
        x, y = p[..., 0] + 2.9, p[..., 1] - 1.1
        height = np.clip((y + 0.6) / 2.2, 0, 1)[..., None]
        light = vector(9, 4.6, 1.9) * (1 - height) + vector(1.5, 2.4, 4.6) * height
        sun = np.exp(-((x - 0.75) ** 2 + (y + 0.15) ** 2) / 0.012)[..., None]
        hills = y < -0.45 + 0.16 * np.sin(2.1 * x + 1) + 0.07 * np.sin(5.3 * x)
        near = y < -0.95 + 0.12 * np.sin(3.4 * x)
        light = np.where(hills[..., None], vector(0.5, 0.36, 0.42), light + sun * vector(160, 110, 60))
        return np.where(near[..., None], vector(0.07, 0.09, 0.06), light)

    def is_sky(self, p: Array, kind: Array) -> Array:
        return (
            (kind == WALL)
            & (p[..., 2] > 6.9)
            & (np.abs(p[..., 0] + 2.9) < 1.56)
            & (np.abs(p[..., 1] - 1.1) < 1.46)
        )

    glow = vector(42, 30, 15)


class Lanterns:
    """A garden at night, and a row of lanterns that leads away."""

    camera, ambient = vector(0.0, 0.0, -6.5), vector(0.010, 0.013, 0.024)
    figures = [
        Figure((-0.25, -0.15, 0.2), (0.3, 0.1, 0.06), (0.36, 0.3, 0.2)),
        Figure((2.35, -0.3, 3.4), (0.07, 0.16, 0.12), (0.2, 0.3, 0.2)),
    ]
    row = [
        (-2.9 + 0.55 * k * (1 - 0.03 * k), 1.55 - 0.08 * k + 0.18 * (k % 2), 0.6 + 2.1 * k) for k in range(7)
    ]
    row += [(3.4 - 0.42 * k, 1.9 - 0.13 * k, 1.2 + 2.4 * k) for k in range(6)]
    lights: list[tuple] = [
        (row[0], (6.5, 3.6, 1.5), None),
        (row[7], (5.5, 3.0, 1.2), None),
        (row[2], (5.0, 2.6, 1.0), None),
    ]
    lights += [((0.0, 0.6, -6.5), (4.5, 4.5, 4.8), (0.0, -0.03, 1.0)), (row[9], (4.0, 2.0, 0.8), None)]
    glow = vector(26, 13, 4.5)

    def parts(self, p: Array) -> Parts:
        lamps = np.min([egg(p, at, (0.24, 0.3, 0.24)) for at in self.row], 0)
        cords = np.min([rod(p, (x, y + 0.3, z), (x, y + 4, z), 0.012) for x, y, z in self.row], 0)
        trees = np.min(
            [
                self.pine(p - vector(x, -2.7, z))
                for x, z in ((-5, 9), (-3.6, 15), (5.9, 11), (4.2, 18), (0.4, 24))
            ],
            0,
        )
        ground = p[..., 1] + 2.7 + 0.06 * np.sin(p[..., 0] * 2.3) * np.sin(p[..., 2] * 1.7)
        fruit = np.min(
            [ball(p, (-2.2 + 0.34 * k, -1.62 + 0.06 * (k % 2), -2.4 + 0.2 * (k % 3)), 0.2) for k in range(4)],
            0,
        )
        wall = block(p, (-1.9, -2.3, -2.3), (1.5, 0.45, 0.5), 0.05)
        out = [(lamps, GLOW), (cords, HAIR), (trees, LEAF), (ground, WOOD), (fruit, BERRY), (wall, WALL)]
        return out + self.figures[0].parts(p) + self.figures[1].parts(p)

    def pine(self, p: Array) -> Array:
        y = np.clip(p[..., 1], 0, 6)
        branches = (6 - y) * 0.26 * (0.75 + 0.35 * (1 - (y * 1.3) % 1))
        around = np.sqrt(p[..., 0] ** 2 + p[..., 2] ** 2)
        return 0.55 * np.maximum(around - branches, p[..., 1] - 6)

    def sky(self, p: Array) -> Array:
        d = unit(p - self.camera)
        moon = np.clip((0.045 - length(d - unit(vector(0.13, 0.26, 1.0)))) / 0.003, 0, 1)[..., None]
        cell = np.floor(d[..., :2] / d[..., 2:] * 160)
        star = (noise(cell[..., 0], cell[..., 1]) > 0.994)[..., None] * noise(cell[..., 1], cell[..., 0])[
            ..., None
        ]
        height = np.clip(d[..., 1:2] * 2 + 0.3, 0, 1)
        return (
            vector(0.03, 0.034, 0.06) * (1 - height)
            + vector(0.004, 0.006, 0.018) * height
            + moon * vector(2.6, 2.6, 2.3)
            + star * 0.25
        )

    def is_sky(self, p: Array, kind: Array) -> Array:
        return length(p - self.camera) > FAR - 0.1


def nearest(scene: "Room | Lanterns", p: Array) -> tuple[Array, Array]:
    parts = scene.parts(p)
    distances = np.stack([d for d, _ in parts])
    return distances.min(0), np.array([kind for _, kind in parts])[distances.argmin(0)]


def distance(scene: "Room | Lanterns", p: Array, without: int = -1) -> Array:
    return np.min([d for d, kind in scene.parts(p) if kind != without], 0)


def march(
    scene: "Room | Lanterns",
    start: Array,
    ray: Array,
    far: Array,
    steps: int,
    near: float = 0.0,
    without: int = -1,
) -> tuple[Array, Array]:
    """How far each ray gets, and how close it passed a surface for its length (for soft shadows)."""
    t = np.full(len(ray), near, np.float32)
    clear = np.ones(len(ray), np.float32)
    active = np.arange(len(ray))
    for _ in range(steps):
        d = distance(scene, start[active] + t[active, None] * ray[active], without)
        clear[active] = np.minimum(clear[active], 9 * d / np.maximum(t[active], 1e-3))
        t[active] += np.maximum(d, 0.0008) * 0.85
        active = active[(d > 0.0008) & (t[active] < far[active])]
        if len(active) == 0:
            break
    return t, np.clip(clear, 0, 1)


def albedo_of(scene: "Room | Lanterns", p: Array, kind: Array, camera: Array) -> tuple[Array, Array]:
    albedo, own = np.zeros_like(p), np.zeros_like(p)
    for k in np.unique(kind):
        at = kind == k
        q = p[at]
        if k in (CLOTH, EYE):
            which = np.argmin([length(q - f.at) for f in scene.figures], 0)
            for i, figure in enumerate(scene.figures):
                index = np.flatnonzero(at)[which == i]
                albedo[index], own[index] = figure.colour(p[index], k, camera)
        elif k == WOOD:
            plank = np.floor(q[:, 0] * 1.3)
            grain = 0.8 + 0.2 * np.sin(q[:, 0] * 9 + 2.5 * np.sin(q[:, 2] * 0.8 + plank))
            tint = (0.7 + 0.3 * noise(plank))[:, None] * grain[:, None]
            albedo[at] = tint * (
                vector(0.2, 0.11, 0.055) if isinstance(scene, Room) else vector(0.06, 0.09, 0.04)
            )
        elif k == SHELF:
            level, book = (
                np.floor((q[:, 1] + 2.8) / 0.9),
                np.floor(q[:, 0] * 6.5 + 3 * noise(np.floor((q[:, 1] + 2.8) / 0.9))),
            )
            height = (q[:, 1] + 2.8) % 0.9
            colours = (
                np.stack([noise(book, level), noise(book + 7, level), noise(book + 13, level)], -1) * 0.5
                + 0.08
            )
            edge = np.abs((q[:, 0] * 6.5 + 3 * noise(level)) % 1 - 0.5) > 0.43
            band = np.abs(height - 0.5 - 0.1 * noise(book, level)) < 0.04
            colours = np.where(band[:, None], vector(0.75, 0.65, 0.35), colours)
            colours = np.where(
                (edge | (height > 0.55 + 0.25 * noise(book, level + 3)))[:, None],
                vector(0.02, 0.015, 0.012),
                colours,
            )
            albedo[at] = np.where((height < 0.07)[:, None], vector(0.16, 0.09, 0.045), colours)
        elif k == GLOW:
            own[at] = scene.glow
        else:
            albedo[at] = vector(*ALBEDO[k])
    return albedo, own


def sample(
    scene: "Room | Lanterns", pixels: Array, width: int, height: int, dx: float, dy: float
) -> tuple[Array, Array]:
    """Light and distance along the view of a point in each of these pixels."""
    column, row = pixels % width + dx, pixels // width + dy
    ray = np.stack([(column / width - 0.5) * 1.15, (0.5 - row / height) * 0.8625, np.ones(len(pixels))], -1)
    ray = unit(ray.astype(np.float32))
    start = np.broadcast_to(scene.camera, ray.shape)
    t, _ = march(scene, start, ray, np.full(len(ray), FAR, np.float32), 160)
    p = start + t[:, None] * ray
    _, kind = nearest(scene, p)
    small = vector(0.002, 0, 0), vector(0, 0.002, 0), vector(0, 0, 0.002)
    normal = unit(np.stack([distance(scene, p + e) - distance(scene, p - e) for e in small], -1))
    albedo, light = albedo_of(scene, p, kind, scene.camera)
    open_sky = np.clip(distance(scene, p + normal * 0.35) / 0.35, 0, 1) * (0.6 + 0.4 * normal[:, 1])
    sent = np.ones_like(p) * scene.ambient * np.maximum(open_sky, 0.08)[:, None]
    for at, colour, way in scene.lights:
        to = vector(*at) - p
        far = length(to)
        to = to / far[:, None]
        faces = np.maximum(np.sum(normal * to, -1), 0)
        _, clear = march(scene, p + normal * 0.01, to, far, 40, 0.02, GLOW)
        # The flash is beside the lens: what the camera sees, it lights.
        clear = np.where(vector(*at)[2] < -5.5, 1, clear)
        cone = 1 if way is None else np.clip((-(to @ unit(vector(*way))) - 0.25) / 0.6, 0, 1)
        sent += vector(*colour) * (faces * clear * cone / (1 + 0.5 * far * far))[:, None]
    light = light + albedo * sent
    sky = scene.is_sky(p, kind)
    light[sky] = scene.sky(p)[sky]
    return light, p[:, 2] - scene.camera[2]


def render(scene: "Room | Lanterns", width: int, height: int) -> tuple[Array, Array]:
    """One point in the middle of each pixel, and eight more where it differs from its neighbours."""
    light, depth = sample(scene, np.arange(width * height), width, height, 0.5, 0.5)
    tone = np.concatenate([(light / light.max()).clip(0, 1) ** 0.3, depth[:, None] / 20], -1).reshape(
        height, width, 4
    )
    edge = np.zeros((height, width), bool)
    for axis in 0, 1:
        jump = np.abs(np.diff(tone, axis=axis)).max(-1) > 0.012
        edge |= np.insert(jump, 0, False, axis) | np.insert(jump, jump.shape[axis], False, axis)
    pixels = np.flatnonzero(edge)
    offsets = [((i + 0.5) / 3, (j + 0.5) / 3) for i in range(3) for j in range(3) if (i, j) != (1, 1)]
    taken = [sample(scene, pixels, width, height, *at) for at in offsets]
    light[pixels] = np.mean([light[pixels], *(t[0] for t in taken)], 0)
    depth[pixels] = np.mean([depth[pixels], *(t[1] for t in taken)], 0)
    return light.reshape(height, width, 3), depth.reshape(height, width)


def png(pixels: Array) -> bytes:
    """A PNG of rows of bytes or big-endian words; each row with the filter that leaves the smallest numbers."""
    height, width, channels = pixels.shape
    word = pixels.dtype.itemsize
    raw = pixels.astype(pixels.dtype.newbyteorder(">")).view(np.uint8).reshape(height, -1).astype(np.int16)
    left, up, corner = np.zeros_like(raw), np.zeros_like(raw), np.zeros_like(raw)
    left[:, channels * word :] = raw[:, : -channels * word]
    up[1:] = raw[:-1]
    corner[1:] = left[:-1]
    guess = left + up - corner
    gaps = np.stack([np.abs(guess - left), np.abs(guess - up), np.abs(guess - corner)])
    paeth = np.choose(gaps.argmin(0), [left, up, corner])
    filtered = np.stack([raw - x for x in (0, left, up, (left + up) // 2, paeth)]).astype(np.uint8)
    best = np.abs(filtered.astype(np.int8).astype(int)).sum(-1).argmin(0)
    rows = b"".join(bytes([f]) + filtered[f, r].tobytes() for r, f in enumerate(best))
    header = struct.pack(">IIBBBBB", width, height, 8 * word, 2 if channels == 3 else 0, 0, 0, 0)
    out = b"\x89PNG\r\n\x1a\n"
    for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")):
        out += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return out


def write(folder: Path, name: str, scene: "Room | Lanterns", width: int, height: int) -> None:
    light, depth = render(scene, width, height)
    code = 65535 * np.clip(light / light.max(), 0, 1) ** (1 / 2.2)
    step = 2.0 ** np.clip(
        np.round(np.log2(np.maximum(code, 1))) - 7, 0, 8
    )  # seven bits of each number are enough
    (folder / f"{name}.png").write_bytes(png((np.round(code / step) * step).clip(0, 65535).astype(np.uint16)))
    near = np.clip((depth - depth.min()) / (np.quantile(depth, 0.98) - depth.min()), 0, 1)
    (folder / f"{name}.depth.png").write_bytes(png(np.round(255 * near)[..., None].astype(np.uint8)))


def main() -> None:
    folder, factor = Path(sys.argv[1]), 2 if "--small" in sys.argv else 1
    for name, scene in ("room", Room()), ("lanterns", Lanterns()):
        if len(sys.argv) < 3 or name in sys.argv or factor == 2:
            write(folder, name, scene, WIDTH // factor, HEIGHT // factor)


if __name__ == "__main__":
    main()

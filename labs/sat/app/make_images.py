#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the images of the summed area table lab: scene.png and its depth map, depth.pgm; what its floor
would show as a mirror, mirror.png, and the distance from the mirror to it, mirror.pgm.

    labs/sat/app/make_images.py labs/sat/app/images
    labs/sat/app/make_images.py --check labs/sat/app/images    # changes nothing; exit code 1 if an image differs

The scene: a tiled floor that runs to the horizon, a sky with bars, and three striped balls, near, middle and
far. Each pixel is found by following its ray; depth is the distance along the view, near = 0 to far = 1.
"""

import argparse
import math
import pathlib
import struct
import sys
import zlib
from collections.abc import Iterator

WIDTH, HEIGHT = 480, 360
NEAR, FAR = 2.0, 14.0
# x, y (up), z (away), radius, colour, stripe
BALLS = [
    (-1.15, 0.0, 3.2, 0.8, (214, 84, 58), (250, 214, 160)),
    (0.45, 0.1, 6.0, 0.9, (62, 122, 196), (232, 240, 250)),
    (3.1, 0.3, 11.0, 1.1, (74, 150, 84), (238, 226, 120)),
]
FLOOR = -0.8


def ball_hit(ball: tuple, ray: tuple) -> "tuple | None":
    """Distance along z to the ball, and the point's direction from its middle; None when the ray passes."""
    x, y, z, radius = ball[:4]
    rx, ry, rz = ray
    a = rx * rx + ry * ry + rz * rz
    b = rx * x + ry * y + rz * z
    c = x * x + y * y + z * z - radius * radius
    under = b * b - a * c
    if under < 0:
        return None
    t = (b - math.sqrt(under)) / a
    return t * rz, ((t * rx - x) / radius, (t * ry - y) / radius, (t * rz - z) / radius)


def seen(ray: tuple, balls: list[tuple], column: int, row: int, up: int = 1) -> tuple[float, list[int]]:
    """The nearest ball along a ray, or the sky: distance and colour. up is −1 in the mirror."""
    best, colour = FAR * 10, None
    for ball in balls:
        hit = ball_hit(ball, ray)
        if hit and hit[0] < best:
            best, (nx, ny, nz) = hit[0], (hit[1][0], up * hit[1][1], hit[1][2])
            light = max(0.0, -0.5 * nx + 0.7 * ny - 0.5 * nz)
            base = ball[4] if math.sin(9 * ny + 4 * nx) > -0.2 else ball[5]
            colour = [min(255, int(part * (0.35 + 0.65 * light))) for part in base]
    if colour is None:
        bar = (column // 18) % 2
        colour = [
            int(120 + 60 * row / HEIGHT) + 24 * bar,
            int(160 + 40 * row / HEIGHT) + 16 * bar,
            220 + 12 * bar,
        ]
    return best, colour


def ray_of(column: int, row: int) -> tuple[float, float, float]:
    return ((column + 0.5 - WIDTH / 2) / WIDTH * 1.3, (HEIGHT * 0.42 - row - 0.5) / WIDTH * 1.3, 1.0)


def as_bytes(colour: list[int]) -> bytes:
    return bytes(max(0, min(255, part)) for part in colour)


def floor_in_front(ray: tuple, best: float) -> bool:
    return ray[1] < 0 and FLOOR / ray[1] < best


def pixel(column: int, row: int) -> tuple[bytes, int]:
    """Colour and depth of what stands there."""
    ray = ray_of(column, row)
    best, colour = seen(ray, BALLS, column, row)
    if floor_in_front(ray, best):
        best = FLOOR / ray[1]
        x = ray[0] * best
        dark = (math.floor(x / 0.7) + math.floor(best / 0.7)) % 2
        fade = min(1.0, best / FAR)
        colour = [
            int((70 if dark else 200) * (1 - 0.6 * fade) + 150 * 0.6 * fade) + tint for tint in (6, 0, -6)
        ]
    depth = min(1.0, max(0.0, (best - NEAR) / (FAR - NEAR)))
    return as_bytes(colour), int(depth * 255 + 0.5)


MIRRORED_BALLS = [(x, 2 * FLOOR - y, *rest) for x, y, *rest in BALLS]


def reflection(column: int, row: int) -> tuple[bytes, int]:
    """What a perfect mirror in place of the floor shows, and the distance from the mirror to it: 1 … 255, or
    0 where there is no floor."""
    ray = ray_of(column, row)
    if not floor_in_front(ray, seen(ray, BALLS, column, row)[0]):
        return as_bytes(seen(ray, BALLS, column, row)[1]), 0
    best, colour = seen(ray, MIRRORED_BALLS, column, int(HEIGHT * 0.84) - row, -1)
    distance = min(1.0, (best - FLOOR / ray[1]) / FAR)
    return as_bytes(colour), 1 + int(distance * 254)


def png(width: int, height: int, rows: list[bytes]) -> bytes:
    """A PNG of 8-bit colour rows."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    # Compression does not change the pixels; level 9 gives the same bytes only with the same version of zlib.
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows), 9))
        + chunk(b"IEND", b"")
    )


def pixels_of(name: str, data: bytes) -> bytes:
    """The pixels of an image, whatever its compression."""
    if name.endswith(".png"):
        return data[:33] + zlib.decompress(data[41:-16])
    return data


def pictures() -> Iterator[tuple[str, bytes]]:
    for of, colours, distances in (pixel, "scene.png", "depth.pgm"), (reflection, "mirror.png", "mirror.pgm"):
        rows = [[of(column, row) for column in range(WIDTH)] for row in range(HEIGHT)]
        yield colours, png(WIDTH, HEIGHT, [b"".join(colour for colour, _ in row) for row in rows])
        yield (
            distances,
            b"P5\n%d %d\n255\n" % (WIDTH, HEIGHT) + bytes(distance for row in rows for _, distance in row),
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    parser.add_argument("folder", type=pathlib.Path)
    args = parser.parse_args()
    status = 0
    for name, data in pictures():
        path = args.folder / name
        if not args.check:
            path.write_bytes(data)
        elif not path.is_file() or pixels_of(name, path.read_bytes()) != pixels_of(name, data):
            print(f"{path} is not what make_images.py draws: run it again")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())

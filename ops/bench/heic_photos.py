"""Makes HEICs of any size from the tiles of one, for ops/bench/estimate.

Reads what phones write: a grid of tiles of HEVC, each in one piece of the file (ISO/IEC 23008-12, ISO/IEC 14496-12).
"""

import struct


def boxes(data, start=0):
    """Type and content of each box."""
    while start + 8 <= len(data):
        length, kind = struct.unpack(">I4s", data[start:start + 8])
        length = length or len(data) - start
        yield kind.decode("latin-1"), data[start + 8:start + length]
        start += length


def number(data, place, bytes_):
    return int.from_bytes(data[place:place + bytes_], "big")


class Grid:
    """The tiles of a file's main picture, its size and properties."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        self.meta = dict(boxes(next(content for kind, content in boxes(data) if kind == "meta")[4:]))
        self.places = self.locations()
        main = number(self.meta["pitm"], 4, 4 if self.meta["pitm"][0] else 2)
        ids = next(to for kind, item, to in self.references() if kind == "dimg" and item == main)
        offset, length, is_inside = self.places[main]
        source = self.meta.get("idat", b"") if is_inside else data
        grid = source[offset:offset + length]
        self.rows, self.columns = grid[2] + 1, grid[3] + 1
        size = 4 if grid[1] & 1 else 2
        self.width, self.height = number(grid, 4, size), number(grid, 4 + size, size)
        properties = dict(boxes(self.meta["iprp"]))
        known = list(boxes(properties["ipco"]))
        used = self.uses(properties["ipma"])
        of_tile = dict(known[index - 1] for index in used[ids[0]])
        self.config = of_tile["hvcC"]
        self.tile_width, self.tile_height = number(of_tile["ispe"], 4, 4), number(of_tile["ispe"], 8, 4)
        both = [known[index - 1] for index in used[main]] + [known[index - 1] for index in used[ids[0]]]
        self.colours = [content for kind, content in both if kind == "colr"][:1]
        self.units = [data[self.places[item][0]:sum(self.places[item][:2])] for item in ids]

    def locations(self):
        """Offset, length and whether it lies in `idat`, of items in one piece."""
        data = self.meta["iloc"]
        version, sizes = data[0], number(data, 4, 2)
        offset_bytes, length_bytes, base_bytes = sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15
        index_bytes = sizes & 15 if version else 0
        id_bytes = 4 if version == 2 else 2
        count, place, found = number(data, 6, id_bytes), 6 + id_bytes, {}
        for _ in range(count):
            item = number(data, place, id_bytes)
            place += id_bytes
            method = number(data, place, 2) & 15 if version else 0
            place += (2 if version else 0) + 2
            base = number(data, place, base_bytes)
            place += base_bytes
            extents = number(data, place, 2)
            place += 2
            for _ in range(extents):
                place += index_bytes
                offset = base + number(data, place, offset_bytes)
                place += offset_bytes
                found.setdefault(item, (offset, number(data, place, length_bytes), method == 1))
                place += length_bytes
        return found

    def references(self):
        data = self.meta["iref"]
        size = 4 if data[0] else 2
        for kind, content in boxes(data, 4):
            count = number(content, size, 2)
            yield kind, number(content, 0, size), [number(content, size + 2 + i * size, size) for i in range(count)]

    @staticmethod
    def uses(data):
        """Numbers of properties, from 1, by item."""
        id_bytes, index_bytes = 4 if data[0] else 2, 2 if data[3] & 1 else 1
        place, found = 8, {}
        for _ in range(number(data, 4, 4)):
            item, count = number(data, place, id_bytes), data[place + id_bytes]
            place += id_bytes + 1
            most = (1 << 8 * index_bytes - 1) - 1
            found[item] = [number(data, place + i * index_bytes, index_bytes) & most for i in range(count)]
            place += count * index_bytes
        return found


def box(kind, *contents):
    content = b"".join(contents)
    return struct.pack(">I4s", 8 + len(content), kind.encode()) + content


def full_box(kind, version, *contents):
    return box(kind, bytes([version, 0, 0, 0]), *contents)


def enlarged(grid, times):
    """The bytes of a HEIC whose tiles are those of a grid, side by side and one below the other."""
    columns, rows = grid.columns * times, grid.rows * times
    width = grid.columns * grid.tile_width * (times - 1) + grid.width
    height = grid.rows * grid.tile_height * (times - 1) + grid.height
    units = [grid.units[row % grid.rows * grid.columns + column % grid.columns]
             for row in range(rows) for column in range(columns)]
    ids = range(2, 2 + len(units))
    infos = [full_box("infe", 2, struct.pack(">HH4s", 1, 0, b"grid"), b"\0")]
    infos += [full_box("infe", 2, struct.pack(">HH4s", item, 0, b"hvc1"), b"\0") for item in ids]
    properties = [full_box("ispe", 0, struct.pack(">II", width, height)), *(box("colr", c) for c in grid.colours),
                  full_box("ispe", 0, struct.pack(">II", grid.tile_width, grid.tile_height)), box("hvcC", grid.config)]
    last = len(properties)
    of_main = list(range(1, last - 1))
    uses = struct.pack(">HB", 1, len(of_main)) + bytes(of_main)
    uses += b"".join(struct.pack(">HBBB", item, 2, last - 1, 0x80 | last) for item in ids)
    picture = bytes([0, 1, rows - 1, columns - 1]) + struct.pack(">II", width, height)

    def meta(start):
        places, offset = [struct.pack(">HHHHII", 1, 1, 0, 1, 0, len(picture))], start
        for item, unit in zip(ids, units):
            places.append(struct.pack(">HHHHII", item, 0, 0, 1, offset, len(unit)))
            offset += len(unit)
        return full_box(
            "meta", 0, full_box("hdlr", 0, bytes(4), b"pict", bytes(13)), full_box("pitm", 0, struct.pack(">H", 1)),
            full_box("iinf", 0, struct.pack(">H", len(infos)), *infos),
            full_box("iref", 0, box("dimg", struct.pack(">HH", 1, len(units)), struct.pack(f">{len(units)}H", *ids))),
            box("iprp", box("ipco", *properties), full_box("ipma", 0, struct.pack(">I", 1 + len(units)), uses)),
            full_box("iloc", 1, bytes([0x44, 0]), struct.pack(">H", len(places)), *places), box("idat", picture))

    start = box("ftyp", b"heic", bytes(4), b"mif1heic")
    return start + meta(len(start) + len(meta(0)) + 8) + box("mdat", *units)

@testable import Codecs

/// A picture as rows of pixels, top row first, with turns and crops by their definitions.
struct PixelGrid: Equatable {
    var rows: [[[UInt8]]]
    var width: Int { rows[0].count }
    var height: Int { rows.count }

    init(width: Int, height: Int) {
        let codes = TestPicture.codes(width: width, height: height)
        rows = (0..<height).map { y in
            (0..<width).map { x in Array(codes[(y * width + x) * 3..<(y * width + x) * 3 + 3]) }
        }
    }

    init(_ picture: Picture) {
        rows = (0..<picture.height).map { y in
            (0..<picture.width).map { x in picture.pixel(x, y).map { UInt8($0) } }
        }
    }

    /// Clockwise.
    func turned(_ quarters: Int) -> PixelGrid {
        var grid = self
        for _ in 0..<quarters {
            let before = grid
            grid.rows = (0..<before.width).map { x in
                (0..<before.height).reversed().map { y in before.rows[y][x] }
            }
        }
        return grid
    }

    func mirrored() -> PixelGrid {
        var grid = self
        grid.rows = rows.map { $0.reversed() }
        return grid
    }

    func flipped() -> PixelGrid {
        var grid = self
        grid.rows = rows.reversed()
        return grid
    }

    /// Counted from the bottom left.
    func cropped(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> PixelGrid {
        var grid = self
        grid.rows = rows[(self.height - y - height)..<(self.height - y)].map {
            Array($0[x..<x + width])
        }
        return grid
    }

    /// The picture that a camera stores with the tag to show this one.
    func stored(_ orientation: Int) -> PixelGrid {
        switch orientation {
        case 2: mirrored()
        case 3: turned(2)
        case 4: flipped()
        case 5: mirrored().turned(3)
        case 6: turned(3)
        case 7: mirrored().turned(1)
        case 8: turned(1)
        default: self
        }
    }

    func image() throws -> Image {
        try Image.fromPixels(
            rows.flatMap { $0.flatMap { $0 } }, width: width, height: height, bands: 3)
    }
}

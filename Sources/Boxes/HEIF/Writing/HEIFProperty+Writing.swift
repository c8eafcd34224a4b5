extension HEIFProperty {
    /// Whether who does not know it must not show the item: what the bytes mean, and how a picture is turned.
    var isEssential: Bool {
        switch self {
        case .rotation, .mirror, .other("hvcC", _), .other("clap", _): true
        default: false
        }
    }

    /// The brightest pixel and the brightest picture on the average, in candela per square metre (`clli`, ISO/IEC
    /// 23008-12 §6.5.32): of a picture with its gain map applied.
    public static func lightLevel(most: Int, average: Int) -> HEIFProperty {
        var content = ByteWriter()
        content.add(most, 2)
        content.add(average, 2)
        return .other(type: "clli", content: content.bytes[...])
    }

    /// Adds its box, as ``init(type:content:)`` reads it.
    func add(to bytes: inout ByteWriter) {
        switch self {
        case .size(let width, let height):
            bytes.fullBox("ispe") { box in
                box.add(width, 4)
                box.add(height, 4)
            }
        case .rotation(let turns): bytes.box("irot") { $0.add(turns & 3, 1) }
        case .mirror(let isAcross): bytes.box("imir") { $0.add(isAcross ? 1 : 0, 1) }
        case .bits(let bits):
            bytes.fullBox("pixi") { box in
                box.add(bits.count, 1)
                for count in bits { box.add(count, 1) }
            }
        case .codedColour(let colour):
            bytes.box("colr") { box in
                box.add("nclx")
                box.add(colour.primaries, 2)
                box.add(colour.transfer, 2)
                box.add(colour.matrix, 2)
                box.add(colour.isFullRange ? 0x80 : 0, 1)
            }
        case .profile(let profile):
            bytes.box("colr") { box in
                box.add("prof")
                box.add(profile)
            }
        case .auxiliary(let name):
            bytes.fullBox("auxC") { box in
                box.add(name)
                box.add(0, 1)
            }
        case .other(let type, let content): bytes.box(type) { $0.add(content) }
        }
    }
}

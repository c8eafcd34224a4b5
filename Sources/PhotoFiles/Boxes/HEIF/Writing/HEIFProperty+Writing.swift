extension HEIFProperty {
    /// Whether readers without support for it must not show the item: properties for decoding and orientation.
    var isEssential: Bool {
        switch self {
        case .rotation, .mirror, .other("hvcC", _), .other("clap", _): true
        default: false
        }
    }

    /// Returns the light level of the picture with its gain map applied: the brightest pixel and the highest average, in candela
    /// per square metre (`clli`, ISO/IEC 23008-12 §6.5.32).
    public static func lightLevel(most: Int, average: Int) -> HEIFProperty {
        var content = ByteWriter()
        content.add(most, 2)
        content.add(average, 2)
        return .other(type: "clli", content: content.bytes[...])
    }

    /// Appends its box, in the form that ``init(type:content:)`` reads.
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

import CCodecs

/// The contents of a JPEG before its first scan.
public struct JPEGHeader: Sendable, Equatable {
    public let layout: JPEGLayout
    /// Whether it is stored coarse first, in many scans.
    public let isProgressive: Bool
    /// Whether decoding keeps all coefficients in memory, 2 bytes per sample: for a progressive photo, and for one with a scan for
    /// each component.
    public let hasSeveralScans: Bool
    /// Whether it uses arithmetic coding, which few programs read.
    public let isArithmetic: Bool
    /// MCUs between restart markers; 0 for none.
    public let restartInterval: Int
    /// Whether an Adobe marker defines the meaning of the components.
    public let hasAdobeMarker: Bool
    /// JFIF's pixel density.
    public let density: JPEGDensity
    /// Quantisation steps of each component, 64 in reading order.
    public let steps: [[UInt16]]
    /// All APPn and COM segments, in their order.
    public let markers: [JPEGMarker]

    public var coefficientBytes: Int {
        (0..<layout.sampling.count).reduce(0) { bytes, component in
            bytes + 2 * layout.samplesAcross(component) * layout.samplesDown(component)
        }
    }

    init(_ shim: minilab_jpeg_header, markers: [JPEGMarker]) {
        let count = Int(shim.components)
        let components = withUnsafeBytes(of: shim.component) {
            Array($0.bindMemory(to: minilab_jpeg_component.self).prefix(count))
        }
        layout = JPEGLayout(
            width: Int(shim.width), height: Int(shim.height),
            colour: .init(rawValue: shim.colour) ?? .unknown,
            sampling: components.map { .init(Int($0.horizontal), Int($0.vertical)) })
        isProgressive = shim.is_progressive
        hasSeveralScans = shim.has_several_scans
        isArithmetic = shim.is_arithmetic
        restartInterval = Int(shim.restart_interval)
        hasAdobeMarker = shim.has_adobe_marker
        density = JPEGDensity(
            unit: Int(shim.density_unit), across: Int(shim.density_across),
            down: Int(shim.density_down))
        steps = components.map { component in
            withUnsafeBytes(of: component.steps) { Array($0.bindMemory(to: UInt16.self)) }
        }
        self.markers = markers
    }
}

/// Pixels per inch (unit 1) or centimetre (unit 2), or only a ratio (unit 0): JFIF 1.02.
public struct JPEGDensity: Sendable, Equatable {
    /// 0, 1 or 2.
    public let unit: Int
    /// Horizontal density.
    public let across: Int
    /// Vertical density.
    public let down: Int

    /// Square pixels of unknown size.
    public static let unknown = JPEGDensity(unit: 0, across: 1, down: 1)

    /// Makes a density.
    public init(unit: Int, across: Int, down: Int) {
        self.unit = unit
        self.across = across
        self.down = down
    }
}

/// An APPn or COM segment.
public struct JPEGMarker: Sendable, Equatable {
    /// 0xE0 to 0xEF for APP0 to APP15, 0xFE for COM.
    public let code: UInt8
    /// The bytes after the length; at most ``bytesMax``.
    public let bytes: [UInt8]

    /// The longest segment: its 16-bit length includes the length field.
    public static let bytesMax = 65_533

    public init(code: UInt8, bytes: [UInt8]) {
        self.code = code
        self.bytes = bytes
    }

    /// Returns whether the content begins with a signature: `Exif\0\0`, `ICC_PROFILE\0`, `http://ns.adobe.com/xap/1.0/\0` …
    public func starts(with signature: String) -> Bool { bytes.starts(with: signature.utf8) }
}

extension JPEGHeader {
    /// The quality, 1 to 100, whose luma table of the Independent JPEG Group is nearest to the photo's; most programs use this
    /// scale. Nil without a table.
    ///
    /// It is an estimate, because cameras have tables of their own.
    public var estimatedQuality: Int? {
        guard let steps = steps.first, steps.contains(where: { $0 > 0 }) else { return nil }
        func distance(_ quality: Int) -> Int {
            zip(steps, Self.lumaSteps).reduce(0) { sum, pair in
                sum + abs(Int(pair.0) - Self.scaled(pair.1, quality: quality))
            }
        }
        return (1...100).min { distance($0) < distance($1) }
    }

    /// Scales a step like libjpeg's `jpeg_quality_scaling` and `jpeg_add_quant_table`.
    private static func scaled(_ step: Int, quality: Int) -> Int {
        let percent = quality < 50 ? 5000 / quality : 200 - 2 * quality
        return min(max((step * percent + 50) / 100, 1), 255)
    }

    /// ITU-T T.81, table K.1.
    private static let lumaSteps = [
        16, 11, 10, 16, 24, 40, 51, 61,
        12, 12, 14, 19, 26, 58, 60, 55,
        14, 13, 16, 24, 40, 57, 69, 56,
        14, 17, 22, 29, 51, 87, 80, 62,
        18, 22, 37, 56, 68, 109, 103, 77,
        24, 35, 55, 64, 81, 104, 113, 92,
        49, 64, 78, 87, 103, 121, 120, 101,
        72, 92, 95, 98, 112, 100, 103, 99,
    ]
}

/// Size, colour space and sampling of a JPEG, which determine the layout of its samples in planes.
public struct JPEGLayout: Sendable, Equatable {
    /// The meaning of the components.
    public enum Colour: Int32, Sendable {
        case unknown, grey, rgb, ycbcr, cmyk, ycck
    }

    /// The sampling factors of a component, its blocks of 8 in an MCU: 2 by 2 for luma of 4:2:0.
    public struct Sampling: Sendable, Equatable {
        /// Horizontal factor, 1 to 4.
        public let horizontal: Int
        /// Vertical factor, 1 to 4.
        public let vertical: Int

        public init(_ horizontal: Int, _ vertical: Int) {
            self.horizontal = horizontal
            self.vertical = vertical
        }
    }

    /// Pixels from left to right, 1 to 65,500.
    public let width: Int
    /// Pixels from top to bottom, 1 to 65,500.
    public let height: Int
    /// The meaning of the components.
    public let colour: Colour
    /// The factors of each component, 1 to 4 of them.
    public let sampling: [Sampling]

    public init(width: Int, height: Int, colour: Colour, sampling: [Sampling]) {
        self.width = width
        self.height = height
        self.colour = colour
        self.sampling = sampling
    }

    /// Width of an MCU in pixels. A lossless crop must begin at a multiple of it, and a lossless mirroring must have no remainder
    /// of it.
    public var mcuWidth: Int { 8 * horizontalMax }
    /// Height of an MCU in pixels.
    public var mcuHeight: Int { 8 * verticalMax }
    /// Rows of MCUs, the last of which may be partial.
    public var mcuRows: Int { (height + mcuHeight - 1) / mcuHeight }

    /// MCUs in a row, the last of which may be partial.
    public var mcusAcross: Int { (width + mcuWidth - 1) / mcuWidth }

    /// Returns the size of a component in samples, without the padding of the last blocks.
    public func size(of component: Int) -> (width: Int, height: Int) {
        let sampling = sampling[component]
        return (
            (width * sampling.horizontal + horizontalMax - 1) / horizontalMax,
            (height * sampling.vertical + verticalMax - 1) / verticalMax
        )
    }

    /// Returns the width of a component in samples, with the padding of the last block.
    public func samplesAcross(_ component: Int) -> Int {
        Self.up(width * sampling[component].horizontal, by: horizontalMax)
    }

    /// Returns the height of a component in samples, with the padding of the last block.
    public func samplesDown(_ component: Int) -> Int {
        Self.up(height * sampling[component].vertical, by: verticalMax)
    }

    /// The chroma sampling, such as 4:2:0, or nil if the components are not luma and two chromas of equal sampling.
    public var chroma: String? {
        guard sampling.count == 3, sampling[1] == Sampling(1, 1), sampling[2] == sampling[1] else {
            return nil
        }
        return switch (sampling[0].horizontal, sampling[0].vertical) {
        case (1, 1): "4:4:4"
        case (2, 1): "4:2:2"
        case (1, 2): "4:4:0"
        case (2, 2): "4:2:0"
        case (4, 1): "4:1:1"
        default: nil
        }
    }

    /// Returns the layout after a turn.
    public func turned(_ turn: JPEGTurn) -> JPEGLayout {
        guard turn.transposes else { return self }
        return JPEGLayout(
            width: height, height: width, colour: colour,
            sampling: sampling.map { Sampling($0.vertical, $0.horizontal) })
    }

    private var horizontalMax: Int { sampling.reduce(1) { max($0, $1.horizontal) } }
    private var verticalMax: Int { sampling.reduce(1) { max($0, $1.vertical) } }

    private static func up(_ scaled: Int, by factor: Int) -> Int {
        (scaled + 8 * factor - 1) / (8 * factor) * 8
    }
}

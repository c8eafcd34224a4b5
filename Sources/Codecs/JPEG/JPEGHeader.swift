import CCodecs

/// The contents of a JPEG before its first scan.
public struct JPEGHeader: Sendable, Equatable {
    /// Size, colour space and sampling.
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

    /// Bytes of all coefficients.
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

    /// Makes a segment.
    public init(code: UInt8, bytes: [UInt8]) {
        self.code = code
        self.bytes = bytes
    }

    /// Returns whether the content begins with a signature: `Exif\0\0`, `ICC_PROFILE\0`, `http://ns.adobe.com/xap/1.0/\0` …
    public func starts(with signature: String) -> Bool { bytes.starts(with: signature.utf8) }
}

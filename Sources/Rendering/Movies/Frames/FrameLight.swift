import Codecs
import Edits
import Filters
import Glibc

/// The light of a decoded frame, computed while it is read.
///
/// Chroma is assumed to lie in the middle of the pixels that share it, as in a JPEG, whatever the stream declares. It is written
/// back to the same position, so nothing moves unless a picture is scaled or turned, and then by less than half a pixel of luma times
/// the scale. Chroma has the same position after any turn.
final class FrameLight: LightSource {
    let size: PixelSize
    let layout = PixelProgram.Layout(sample: .linear, bands: 3)
    private let planes: [SourcePlane]
    private let frame: FrameLayout
    private let coding: FrameCoding
    private let left, top: Int
    private let blue, red: ChromaRow
    private var buffer = UnsafeMutableBufferPointer<Float>(start: nil, count: 0)

    init(
        _ planes: [SourcePlane], _ frame: FrameLayout, _ coding: FrameCoding, area: PixelArea? = nil
    ) {
        (self.planes, self.frame, self.coding) = (planes, frame, coding)
        size = PixelSize(
            width: area?.width ?? frame.width, height: area?.height ?? frame.height)
        (left, top) = (area?.left ?? 0, area?.top ?? 0)
        let length = (frame.width + frame.across - 1) / frame.across
        blue = ChromaRow(width: size.width, shiftX: frame.chromaShift.x, length: length)
        red = ChromaRow(width: size.width, shiftX: frame.chromaShift.x, length: length)
    }

    deinit { buffer.deallocate() }

    func cropped(to area: PixelArea) -> any LightSource {
        FrameLight(
            planes, frame, coding,
            area: PixelArea(
                left: left + area.left, top: top + area.top, width: area.width,
                height: area.height))
    }

    func rows(from top: Int, count: Int) -> RegionPixels? {
        pixels(of: PixelArea(left: 0, top: top, width: size.width, height: count))
    }

    func pixels(of area: PixelArea) -> RegionPixels? {
        let count = 3 * area.width * area.height
        if buffer.count < count {
            buffer.deallocate()
            buffer = .allocate(capacity: count)
        }
        guard let start = buffer.baseAddress else { return nil }
        for row in 0..<area.height {
            let target = start + 3 * area.width * row
            let (x, y) = (left + area.left, top + area.top + row)
            if frame.sampleBytes == 1 {
                read(UInt8.self, x, y, area.width, into: target)
            } else {
                read(UInt16.self, x, y, area.width, into: target)
            }
        }
        return RegionPixels(
            area: area, start: UnsafeMutableRawPointer(start),
            stride: area.width * layout.pixelBytes)
    }

    private func read<Sample: FixedWidthInteger>(
        _ kind: Sample.Type, _ x: Int, _ y: Int, _ width: Int,
        into row: UnsafeMutablePointer<Float>
    ) {
        let near = y / frame.down
        let last = (frame.height + frame.down - 1) / frame.down - 1
        let far = frame.down == 1 ? near : y & 1 == 1 ? min(near + 1, last) : max(near - 1, 0)
        for (chroma, plane) in [(blue, planes[1]), (red, planes[2])] {
            chroma.fill(
                from: .init(near: plane.row(near), far: plane.row(far)),
                sampleBytes: frame.sampleBytes, left: x, count: width)
        }
        let luma = planes[0].row(y).assumingMemoryBound(to: kind) + x
        LightChunk.with { planes in
            for start in stride(from: 0, to: width, by: PixelChunk.capacity) {
                let chunk = planes.chunk(min(PixelChunk.capacity, width - start))
                coding.read(
                    luma + start, UnsafePointer(blue.values + start),
                    UnsafePointer(red.values + start), parts: 16, into: chunk)
                var pixel = row + 3 * start
                for i in 0..<chunk.count {
                    pixel[0] = chunk.red[i]
                    pixel[1] = chunk.green[i]
                    pixel[2] = chunk.blue[i]
                    pixel += 3
                }
            }
        }
    }
}

/// Memory for the colours of a chunk.
struct LightChunk {
    private let start: UnsafeMutablePointer<Float>

    /// Allocates memory for the duration of a call.
    static func with(_ body: (LightChunk) -> Void) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: 4 * PixelChunk.capacity) {
            guard let start = $0.baseAddress else { return }
            body(LightChunk(start: start))
        }
    }

    /// Returns some pixels, whose alpha is not set.
    func chunk(_ count: Int) -> PixelChunk {
        let capacity = PixelChunk.capacity
        return PixelChunk(
            count: count, red: start, green: start + capacity, blue: start + 2 * capacity,
            alpha: start + 3 * capacity)
    }
}

/// The conversion between encoded values of red, green and blue in a movie and light.
///
/// Unlike a photo's ``ToneCurve``, it continues beyond white and, as an odd function, below black: codes of the limited range can
/// express such colours, and they are preserved. Light 1 is white; in HDR it is reference white.
enum TransferFunction: Sendable, Equatable {
    /// A pure power: light is the value raised to this power.
    case gamma(Double)
    /// IEC 61966-2-1.
    case sRGB
    /// Values are linear light.
    case linear
    /// Hybrid log-gamma (ITU-R BT.2100 table 5), scene light: without the OOTF of a display, so that it is invertible.
    case hlg
    /// Perceptual quantiser (ITU-R BT.2100 table 4).
    case pq

    /// The function for a number of ITU-T H.273 table 3; nil for an unsupported one.
    ///
    /// BT.709's camera curve and its equals are a power of 1.961 in both directions, the value that Apple's colour spaces use for
    /// them (a developer's answer in Apple's forum, thread 113337; not yet compared with Core Image's pixels).
    init?(h273 number: Int) {
        switch number {
        case 1, 6, 14, 15: self = .gamma(1.961)
        case 4: self = .gamma(2.2)
        case 5: self = .gamma(2.8)
        case 8: self = .linear
        case 13: self = .sRGB
        case 16: self = .pq
        case 18: self = .hlg
        default: return nil
        }
    }

    /// Whether light above white is meant to be visible.
    var isHDR: Bool { self == .hlg || self == .pq }

    /// The highest light: the limit of a filter's tables.
    private static let lightMax = 128.0

    /// Returns the light of an encoded value.
    func linear(_ encoded: Double) -> Double {
        let amount = abs(encoded)
        let light =
            switch self {
            case .gamma(let power): pow(amount, power)
            case .sRGB: ToneCurve.sRGB.linear(amount)
            case .linear: amount
            case .hlg: HLG.linear(amount) / HLG.white
            case .pq: PQ.linear(amount) / PQ.white
            }
        return copysign(min(light, Self.lightMax), encoded)
    }

    /// Returns the encoded value of an amount of light.
    func encoded(_ light: Double) -> Double {
        let amount = abs(light)
        let value =
            switch self {
            case .gamma(let power): pow(amount, 1 / power)
            case .sRGB:
                amount <= 1 ? ToneCurve.sRGB.encoded(amount) : 1.055 * pow(amount, 1 / 2.4) - 0.055
            case .linear: amount
            case .hlg: HLG.encoded(amount * HLG.white)
            case .pq: PQ.encoded(amount * PQ.white)
            }
        return copysign(value, light)
    }
}

/// ITU-R BT.2100 table 5: scene light from 0 to 1.
private enum HLG {
    private static let a = 0.17883277
    private static let b = 1 - 4 * a
    private static let c = 0.5 - a * log(4 * a)
    /// Reference white is a signal of 75 % (ITU-R BT.2408 §2.1).
    static let white = linear(0.75)

    static func linear(_ value: Double) -> Double {
        value <= 0.5 ? value * value / 3 : (exp((value - c) / a) + b) / 12
    }

    static func encoded(_ light: Double) -> Double {
        light <= 1.0 / 12 ? (3 * light).squareRoot() : a * log(12 * light - b) + c
    }
}

/// ITU-R BT.2100 table 4: luminance in cd/m².
private enum PQ {
    private static let m1 = 2610.0 / 16_384
    private static let m2 = 2523.0 / 4096 * 128
    private static let c1 = 3424.0 / 4096
    private static let c2 = 2413.0 / 4096 * 32
    private static let c3 = 2392.0 / 4096 * 32
    /// Reference white (ITU-R BT.2408 §2.1).
    static let white = 203.0

    static func linear(_ value: Double) -> Double {
        let power = pow(value, 1 / m2)
        let rest = c2 - c3 * power
        guard rest > 0 else { return .infinity }
        return 10_000 * pow(max(power - c1, 0) / rest, 1 / m1)
    }

    static func encoded(_ light: Double) -> Double {
        let power = pow(light / 10_000, m1)
        // By the formula, 0 has a code slightly above 0; here black is 0.
        return light == 0 ? 0 : pow((c1 + c2 * power) / (1 + c3 * power), m2)
    }
}

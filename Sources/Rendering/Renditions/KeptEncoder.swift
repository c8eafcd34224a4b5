import Codecs
import Edits
import Files
import RenderProtocol

/// Encodes a kept picture into a file, as often as its target needs.
struct KeptEncoder {
    private let output: OutputPlan
    private let metadata: ResultMetadata
    private let header: Image
    private let target: OpenFile
    /// The times that the file was made.
    private(set) var encodes = 0

    /// Times that a picture is made smaller for its bytes.
    private static let shrinksMax = shrinkMargins.count
    /// A smaller picture takes more bytes for each pixel: the parts of the side by which the first and the last attempt are smaller than the
    /// ratio of bytes asks for, without those of profile and metadata, which do not shrink. With 0.98 for both, 8 of 10 files of 3 kB failed by up to a sixth.
    private static let shrinkMargins = [0.94, 0.85]

    /// - Parameter header: a picture with the original's texts and resolution.
    init(
        _ output: OutputPlan, _ metadata: ResultMetadata, _ header: Image, to target: OpenFile
    ) {
        (self.output, self.metadata, self.header, self.target) = (output, metadata, header, target)
    }

    /// Makes the file.
    mutating func encode(_ kept: KeptPicture, quality: Double) throws(Failure) {
        encodes += 1
        var output = output
        output.quality = quality
        let shape = EncodedShape(kept.size, kept.codes, resolution: header.resolution)
        do {
            try target.cut(to: 0)
            if let encoder = try output.rowEncoder(shape, metadata, like: header, to: target) {
                try kept.encode(by: encoder)
            } else {
                try output.write(kept.image(like: header), with: metadata, to: target)
            }
        } catch let failure as Failure {
            throw failure
        } catch let error as VipsError {
            throw Failure(classifying: error, photo: target.name)
        } catch {
            throw Failure(.internalError, "\(error)")
        }
    }

    /// Makes the file that meets a target.
    ///
    /// - Parameter colour: the meaning of the codes.
    /// - Returns: the size of the picture, and the quality.
    /// - Throws: `cannotFit` with the nearest value that was found.
    mutating func fit(
        _ kept: KeptPicture, to wanted: SizeTarget, _ colour: PhotoColour
    ) throws(Failure) -> (size: PixelSize, quality: Double) {
        var asked = output.quality
        if let ssim = wanted.ssim {
            let goal = QualitySearch.Goal.dissimilarity(max: 1 - ssim)
            switch try search(goal, kept, asked: asked) {
            case .found(let quality): asked = quality
            case .missed(let least):
                throw Failure(
                    .cannotFit,
                    "A rendition asks for an SSIM of \(ssim), and as \(output.format.rawValue) it has at most "
                        + "\(1 - least). Ask for less, or for another format.")
            }
        }
        guard let bytesMax = wanted.bytesMax else { return (kept.size, asked) }
        if wanted.ssim != nil, try target.length() <= bytesMax { return (kept.size, asked) }
        let goal = QualitySearch.Goal.bytes(max: bytesMax)
        var (picture, factor, least) = (kept, 1.0, Double.infinity)
        for shrink in 0...Self.shrinksMax {
            switch try search(goal, picture, asked: asked, qualityMin: wanted.qualityMin) {
            case .found(let quality): return (picture.size, quality)
            case .missed(let bytes):
                least = min(least, bytes)
                let fixed = Double(metadata.bytes(in: output.format) + Self.headBytes)
                let room = Double(bytesMax) - fixed
                guard wanted.onMiss == .shrink, shrink < Self.shrinksMax, room > 0 else { break }
                let pixels = max(bytes - fixed, 1)
                factor *= min(1, room / pixels).squareRoot() * Self.shrinkMargins[shrink]
                picture = try kept.reduced(to: kept.size.times(factor), colour)
                continue
            }
            break
        }
        throw Failure(
            .cannotFit,
            "A rendition may have \(bytesMax) bytes, and as \(output.format.rawValue) of \(picture.size) it has at least "
                + "\(Int(least))\(output.format.isLossy ? " at quality \(wanted.qualityMin)" : "")"
                + advice(wanted, bytesMax, least: Int(least)))
    }

    /// Part of the bytes from which metadata are named as what takes them.
    private static let muchMetadata = 4

    private func advice(_ wanted: SizeTarget, _ bytesMax: Int, least: Int) -> String {
        var ways = ["allow more"]
        if output.format.isLossy { ways.append("a lower minQuality") }
        ways.append("a smaller box")
        if wanted.onMiss != .shrink { ways.append("onMiss shrink") }
        var part = ""
        let metadata = metadata.bytes(in: output.format)
        if Self.muchMetadata * metadata >= bytesMax {
            // A PNG compresses some of them.
            let share = metadata < least ? "of which \(metadata)" : "nearly all of which"
            if output.strip == .all {
                part = ", \(share) are its colour profile and rights"
            } else {
                part = ", \(share) are metadata"
                ways.insert("leave these out with strip: \"all\"", at: 0)
            }
        }
        let sentence = "\(ways.dropLast().joined(separator: ", ")), or \(ways[ways.count - 1])."
        return part + ". " + sentence.prefix(1).uppercased() + sentence.dropFirst()
    }

    /// Bytes of a file without pixels and metadata: a JPEG's tables have 623.
    private static let headBytes = 700

    private enum Outcome {
        case found(quality: Double)
        case missed(least: Double)
    }

    private mutating func search(
        _ goal: QualitySearch.Goal, _ kept: KeptPicture, asked: Double, qualityMin: Double = 0
    ) throws(Failure) -> Outcome {
        // A lossless file has one quality.
        let search = QualitySearch(
            goal, output.format, asked: asked,
            qualityMin: output.format.isLossy ? qualityMin : asked)
        func quality(_ hundredths: Int) -> Double {
            hundredths == search.asked ? asked : Double(hundredths) / 100
        }
        var tries: [QualitySearch.Try] = []
        while true {
            switch search.next(after: tries) {
            case .encode(let next):
                try encode(kept, quality: quality(next))
                let value =
                    switch goal {
                    case .bytes: Double(try target.length())
                    case .dissimilarity: 1 - (try kept.similarity(to: target))
                    }
                tries.append(.init(quality: next, value: value))
            case .done(let best):
                if tries.last?.quality != best { try encode(kept, quality: quality(best)) }
                return .found(quality: quality(best))
            case .impossible(let least): return .missed(least: least)
            }
        }
    }
}

extension PixelSize {
    /// Returns a smaller size of the same aspect, rounded down.
    fileprivate func times(_ factor: Double) -> PixelSize {
        PixelSize(
            width: max(1, Int(Double(width) * factor)),
            height: max(1, Int(Double(height) * factor)))
    }
}

import CZlib
public import RenderProtocol

/// A copy of a photo's file in which the metadata are other bytes, and nothing else.
public struct FileRewrite: Sendable, Equatable {
    /// The pieces of the copy, in their order.
    public let pieces: [Piece]

    public enum Piece: Sendable, Equatable {
        /// Bytes of the file.
        case kept(Range<Int>)
        case new([UInt8])
    }

    /// - Parameter changes: ranges of the file that do not overlap, with their new bytes; an empty range is an insertion.
    init(length: Int, _ changes: [(range: Range<Int>, new: [UInt8])]) {
        var pieces: [Piece] = []
        var offset = 0
        // An insertion comes before what is replaced at its place.
        let sorted = changes.filter { !$0.range.isEmpty || !$0.new.isEmpty }.sorted {
            ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound)
        }
        for (range, new) in sorted {
            if offset < range.lowerBound { pieces.append(.kept(offset..<range.lowerBound)) }
            if !new.isEmpty { pieces.append(.new(new)) }
            offset = range.upperBound
        }
        if offset < length { pieces.append(.kept(offset..<length)) }
        self.pieces = pieces
    }

    /// Returns the copy of a file whose metadata are these.
    ///
    /// Content Credentials (``C2PA``) do not stay: they are about the file as it was.
    ///
    /// - Parameters:
    ///   - format: the file's.
    ///   - old: the metadata that it has.
    ///   - texts: what becomes of the texts of a PNG and the comments of a JPEG.
    /// - Returns: nil for a format, or a form of it, in whose files nothing is written.
    public init?(
        _ file: inout FileWindow, _ format: PhotoFormat, from old: PhotoMetadata,
        to new: PhotoMetadata, texts: FileTextCopies? = nil
    ) {
        let rewrite: FileRewrite? =
            switch format {
            case .jpeg: Self.jpeg(&file, from: old, to: new, texts)
            case .png: Self.png(&file, from: old, to: new, texts)
            case .webp: Self.webp(&file, from: old, to: new)
            case .jxl: Self.jxl(&file, to: new)
            default: nil
            }
        guard let rewrite else { return nil }
        self = rewrite
    }

    private typealias Change = (range: Range<Int>, new: [UInt8])
}

// MARK: JPEG

extension FileRewrite {
    /// Most bytes of a segment's content.
    private static let segmentMax = 65_533

    /// The most bytes of EXIF that a segment holds.
    public static let exifMaxOfJPEG = segmentMax - Exif.prefix.count

    private static func jpeg(
        _ file: inout FileWindow, from old: PhotoMetadata, to new: PhotoMetadata,
        _ texts: FileTextCopies?
    ) -> FileRewrite? {
        guard let jpeg = JPEGSegments(&file, at: 0), jpeg.size != nil else { return nil }
        func all(_ code: UInt8, _ signature: [UInt8]) -> [JPEGSegments.Segment] {
            jpeg.segments.filter { $0.code == code && $0.content(after: signature) != nil }
        }
        // Photoshop divides resources that exceed a segment, and readers join them.
        guard all(0xED, IPTC.header).count <= 1 else { return nil }
        var changes: [Change] = []
        var added: [UInt8] = []
        // JFIF wants its segment first.
        let leading = jpeg.segments.first.flatMap { segment in
            segment.code == 0xE0 && segment.contentOffset == 6 ? segment.whole.upperBound : nil
        }
        let start = leading ?? 2
        // Of several segments of a kind all go: readers show the last one, or each.
        func replace(_ segments: [JPEGSegments.Segment], by bytes: [UInt8]) {
            if let first = segments.first {
                changes.append((first.whole, bytes))
            } else {
                added += bytes
            }
            for further in segments.dropFirst() { changes.append((further.whole, [])) }
        }
        if new.exif != old.exif {
            let exif = Exif.prefix + (new.exif.map(Exif.withoutPrefix) ?? [])
            guard exif.count <= segmentMax else { return nil }
            replace(all(0xE1, Exif.prefix), by: new.exif == nil ? [] : UltraHDR.bytes(0xE1, exif))
        }
        if new.xmp != old.xmp {
            var bytes: [UInt8] = []
            if let xmp = new.xmp {
                guard let parts = ExtendedXMP.split(xmp) else { return nil }
                bytes = UltraHDR.bytes(0xE1, JPEGSegments.xmpSignature + parts.packet)
                bytes += parts.parts.flatMap {
                    UltraHDR.bytes(0xE1, ExtendedXMP.signature + $0)
                }
            }
            replace(all(0xE1, JPEGSegments.xmpSignature), by: bytes)
            if jpeg.wholeXMP != jpeg.xmp {
                // An extension that is incomplete is not joined, and stays.
                guard jpeg.wholeXMP != nil else { return nil }
                for segment in jpeg.segments
                where segment.code == 0xE1 && segment.content(after: ExtendedXMP.signature) != nil {
                    changes.append((segment.whole, []))
                }
            }
        }
        if new.iptc != old.iptc, let iptc = new.iptc {
            guard
                let segment = jpeg.segments.first(where: {
                    $0.code == 0xED && IPTC($0.bytes) != nil
                })
            else { return nil }
            let block = iptc.replacing(in: segment.bytes)
            guard block.count <= segmentMax else { return nil }
            replace([segment], by: UltraHDR.bytes(0xED, block))
        }
        for segment in C2PA.segments(of: jpeg) { changes.append((segment.whole, [])) }
        for segment in jpeg.comments where texts?.keeps(comment: segment.bytes) == false {
            changes.append((segment.whole, []))
        }
        changes.append((start..<start, added))
        // The index of pictures has offsets of those behind this one, which move.
        if let index = all(0xE2, MultiPicture.signature).first {
            func growth(_ changes: [Change]) -> Int {
                changes.reduce(0) { $0 + $1.new.count - $1.range.count }
            }
            let after = changes.filter { $0.range.lowerBound > index.contentOffset }
            guard
                let moved = MultiPicture.moved(
                    index.bytes, photo: growth(changes), others: growth(after))
            else { return nil }
            changes.append((index.whole, UltraHDR.bytes(0xE2, moved)))
        }
        return FileRewrite(length: file.length, changes)
    }
}

extension JPEGSegments.Segment {
    /// The segment with its marker and length.
    fileprivate var whole: Range<Int> { contentOffset - 4..<contentOffset + bytes.count }
}

// MARK: PNG

extension FileRewrite {
    /// Most chunks that are read before the pixels; texts are bounded by libpng to 1,000.
    private static let chunksMax = 300_000
    private static let xmpKey = Array("XML:com.adobe.xmp\0".utf8)

    /// Chunks keep their places; new ones are written before the pixels. A file that keeps its metadata as texts, as ImageMagick
    /// writes them, is not rewritten.
    private static func png(
        _ file: inout FileWindow, from old: PhotoMetadata, to new: PhotoMetadata,
        _ texts: FileTextCopies?
    ) -> FileRewrite? {
        var changes: [Change] = []
        var offset = 8
        var pixels: Int?
        var (exif, xmp): ([Range<Int>], [Range<Int>]) = ([], [])
        for _ in 0..<chunksMax {
            guard let length = file.big(offset, 4) else { break }
            let whole = offset..<offset + 12 + length
            guard whole.upperBound <= file.length else { return nil }
            let name = String(decoding: file.bytes(offset + 4, 4), as: UTF8.self)
            switch name {
            case "IDAT": pixels = pixels ?? offset
            case "eXIf": exif.append(whole)
            case "iTXt":
                if file.bytes(offset + 8, xmpKey.count).elementsEqual(xmpKey) {
                    xmp.append(whole)
                } else if let chunk = text(whole, texts, &file) {
                    changes.append((whole, chunk))
                }
            case "tEXt", "zTXt":
                if file.has("Raw profile type ", at: offset + 8) { return nil }
                if let chunk = text(whole, texts, &file) { changes.append((whole, chunk)) }
            case C2PA.chunkOfPNG: changes.append((whole, []))
            default: break
            }
            offset = whole.upperBound
            if name == "IEND" { break }
        }
        guard let pixels, old.exif == nil || !exif.isEmpty, old.xmp == nil || !xmp.isEmpty else {
            return nil
        }
        // Of several chunks of a kind all go: readers show the last one, or each.
        func replace(_ chunks: [Range<Int>], by chunk: [UInt8]) {
            changes.append((chunks.first ?? pixels..<pixels, chunk))
            for further in chunks.dropFirst() { changes.append((further, [])) }
        }
        if new.exif != old.exif {
            let chunk = new.exif.map { Self.chunk("eXIf", Exif.withoutPrefix($0)) } ?? []
            replace(exif, by: chunk)
        }
        if new.xmp != old.xmp {
            // No compression, no language, no translated key.
            let chunk = new.xmp.map { Self.chunk("iTXt", xmpKey + [0, 0, 0, 0] + $0) } ?? []
            replace(xmp, by: chunk)
        }
        return FileRewrite(length: file.length, changes)
    }

    /// Returns the chunk in place of a text that says what is written elsewhere; empty if it goes, nil if it stays.
    private static func text(
        _ chunk: Range<Int>, _ copies: FileTextCopies?, _ file: inout FileWindow
    ) -> [UInt8]? {
        guard let copies, let (key, text) = PNGFurtherChunks.text(ofChunk: chunk, &file) else {
            return nil
        }
        guard let new = copies.text(key, text) else { return [] }
        guard new != text else { return nil }
        // No compression, no language, no translated key.
        return Self.chunk("iTXt", Array(key.utf8) + [0, 0, 0, 0, 0] + Array(new.utf8))
    }

    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let bytes = Array(name.utf8) + content
        let sum = bytes.withUnsafeBufferPointer { crc32(0, $0.baseAddress, UInt32($0.count)) }
        return big(content.count) + bytes + big(Int(sum))
    }

    private static func big(_ number: Int) -> [UInt8] { TIFFBytes.bytes(of: number, 4, true) }
    private static func little(_ number: Int) -> [UInt8] { TIFFBytes.bytes(of: number, 4, false) }
}

// MARK: WebP

extension FileRewrite {
    /// Bits of `VP8X` that announce metadata, and alpha (RFC 9649 §2.7.1).
    private static let (xmpFlag, exifFlag, alphaFlag): (UInt8, UInt8, UInt8) = (0x04, 0x08, 0x10)

    private static func webp(
        _ file: inout FileWindow, from old: PhotoMetadata, to new: PhotoMetadata
    ) -> FileRewrite? {
        guard let size = file.little(4, 4), file.has("WEBP", at: 8) else { return nil }
        let end = min(8 + size, file.length)
        var offset = 12
        var chunks: [String: Range<Int>] = [:]
        var further: [(name: String, range: Range<Int>)] = []
        var first: String?
        while offset + 8 <= end, chunks.count + further.count < chunksMax,
            let length = file.little(offset + 4, 4)
        {
            let name = String(decoding: file.bytes(offset, 4), as: UTF8.self)
            let next = offset + 8 + length + length % 2
            guard next <= end + 1 else { return nil }
            let range = offset..<min(next, end)
            if chunks[name] == nil { chunks[name] = range } else { further.append((name, range)) }
            first = first ?? name
            offset = next
        }
        var changes: [Change] = []
        func replace(_ name: String, by content: [UInt8]?) {
            let chunk = content.map { content in
                Array(name.utf8) + little(content.count) + content
                    + (content.count % 2 == 1 ? [0] : [])
            }
            changes.append((chunks[name] ?? end..<end, chunk ?? []))
            for chunk in further where chunk.name == name { changes.append((chunk.range, [])) }
        }
        if let credentials = chunks[C2PA.chunkOfWebP] { changes.append((credentials, [])) }
        if new.exif != old.exif { replace("EXIF", by: new.exif) }
        if new.xmp != old.xmp { replace("XMP ", by: new.xmp) }
        var flags: UInt8 = 0
        if new.exif != nil { flags |= exifFlag }
        if new.xmp != nil { flags |= xmpFlag }
        if let extended = chunks["VP8X"] {
            guard let known = file.byte(extended.lowerBound + 8) else { return nil }
            flags |= UInt8(known) & ~(exifFlag | xmpFlag)
            changes.append((extended.lowerBound + 8..<extended.lowerBound + 9, [flags]))
        } else {
            guard let first, let canvas = canvas(of: first, &file) else { return nil }
            if canvas.hasAlpha { flags |= alphaFlag }
            let sides = [canvas.width - 1, canvas.height - 1].flatMap { little($0).prefix(3) }
            changes.append(
                (12..<12, Array("VP8X".utf8) + little(10) + [flags, 0, 0, 0] + sides))
        }
        let growth = changes.reduce(0) { $0 + $1.new.count - $1.range.count }
        changes.append((4..<8, little(end - 8 + growth)))
        return FileRewrite(length: file.length, changes)
    }

    /// Returns the size of a file of one picture (RFC 6386 §9.1, RFC 9649 §3.4).
    private static func canvas(
        of chunk: String, _ file: inout FileWindow
    ) -> (width: Int, height: Int, hasAlpha: Bool)? {
        let start = 20
        switch chunk {
        case "VP8 ":
            guard file.bytes(start + 3, 3).elementsEqual([0x9D, 0x01, 0x2A]),
                let width = file.little(start + 6, 2), let height = file.little(start + 8, 2)
            else { return nil }
            return (width & 0x3FFF, height & 0x3FFF, false)
        case "VP8L":
            guard file.byte(start) == 0x2F, let bits = file.little(start + 1, 4) else {
                return nil
            }
            return (bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1, bits >> 28 & 1 == 1)
        default: return nil
        }
    }
}

// MARK: JPEG XL

extension FileRewrite {
    /// `JXL `, `ftyp` and `jxll` precede all other boxes (ISO/IEC 18181-2 §9).
    private static let headTypes: Set = ["JXL ", "ftyp", "jxll"]
    private static let boxesMax = 4_096

    private static func jxl(_ file: inout FileWindow, to new: PhotoMetadata) -> FileRewrite? {
        func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
            big(content.count + 8) + Array(name.utf8) + content
        }
        let exif = new.exif.map { box("Exif", [0, 0, 0, 0] + Exif.withoutPrefix($0)) } ?? []
        let metadata = exif + (new.xmp.map { box("xml ", $0) } ?? [])
        guard file.has("JXL ", at: 4) else {
            // A bare codestream is put into a container.
            let signature = box("JXL ", [13, 10, 0x87, 10])
            let type = box("ftyp", Array("jxl ".utf8) + [0, 0, 0, 0] + Array("jxl ".utf8))
            let stream = [0, 0, 0, 0] + Array("jxlc".utf8)
            return FileRewrite(length: file.length, [(0..<0, signature + type + metadata + stream)])
        }
        var changes: [Change] = []
        let boxes = file.boxes(in: 0..<file.length, atMost: boxesMax)
        guard boxes.count < boxesMax, !boxes.contains(where: \.isCutOff) else { return nil }
        for found in boxes {
            let isPacked =
                found.type == "brob"
                && (file.has("Exif", at: found.content.lowerBound)
                    || file.has("xml ", at: found.content.lowerBound))
            if isPacked || ["Exif", "xml "].contains(found.type) || C2PA.isBox(found, &file) {
                changes.append((found.range, []))
            }
        }
        let end = boxes.last { headTypes.contains($0.type) }?.range.upperBound ?? 0
        changes.append((end..<end, metadata))
        return FileRewrite(length: file.length, changes)
    }
}

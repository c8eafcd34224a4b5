// ISO/IEC 18181-2 §9 (boxes), 18181-1 §D.2 (SizeHeader), §D.3 (ImageMetadata). libvips 8.14 requests only the codestream's box from
// libjxl, and libjxl rejects a profile beyond its own limits.
extension PhotoSurvey {
    /// Finds the codestream and reads its size.
    mutating func readJXL(_ file: inout FileWindow) {
        if file.has("\u{0}\u{0}\u{0}\u{C}JXL ", at: 0) {
            guard
                let box = file.boxes(in: 0..<file.length)
                    .first(where: { $0.type == "jxlc" || $0.type == "jxlp" })
            else { return }
            // A partial codestream begins with its number.
            readSize(&file, at: box.content.lowerBound + (box.type == "jxlp" ? 4 : 0))
        } else {
            readSize(&file, at: 0)
        }
    }

    /// Bytes of the codestream that are read: a size, and some channels with names.
    private static let headBytes = 1024

    private mutating func readSize(_ file: inout FileWindow, at offset: Int) {
        let codestream = file.bytes(offset, Self.headBytes)
        guard codestream.starts(with: [0xFF, 0x0A]) else { return }
        var bits = JXLBits(codestream.dropFirst(2))
        let (width, height) = bits.readSize()
        setSize(width, height)
        // libvips requests all channels interleaved from libjxl, which returns four at most.
        let inks = bits.readExtraChannels().filter { $0 == .black || $0 == .spot }
        isMultipliedByAlpha = bits.isMultipliedByAlpha
        (isAnimation, isTurned) = (bits.isAnimation, bits.isTurned)
        if let transfer = bits.readTransfer() { noteTransfer(transfer) }
        if !inks.isEmpty {
            obstacle =
                "it is a JPEG XL with \(inks.count == 1 ? "a channel" : "\(inks.count) channels") of black or spot colour"
        }
    }
}

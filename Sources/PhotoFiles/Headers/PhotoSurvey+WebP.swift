// RFC 9649: §2.3 (chunks), §2.7 (extended format); RFC 6386 §9.1 (VP8's frame header).
extension PhotoSurvey {
    /// Walks the chunks.
    mutating func readWebP(_ file: inout FileWindow) {
        var offset = 12
        while !isBeyond, let declaredLength = file.little(offset + 4, 4) {
            let data = offset + 8
            let length = file.existing(declaredLength, from: data)
            if file.has("VP8X", at: offset) {
                guard let width = file.little(data + 4, 3), let height = file.little(data + 7, 3)
                else { return }
                setSize(width + 1, height + 1)
            } else if file.has("VP8 ", at: offset), size == nil {
                // Three bytes and a signature precede the size, whose upper two bits are a scale.
                guard let width = file.little(data + 6, 2), let height = file.little(data + 8, 2)
                else { return }
                setSize(width & 0x3FFF, height & 0x3FFF)
            } else if file.has("VP8L", at: offset), size == nil {
                guard let bits = file.little(data + 1, 4) else { return }
                setSize(bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
            } else if file.has("ANMF", at: offset) {
                frames += 1
            } else if file.has("ICCP", at: offset) {
                addProfile(length)
            } else {
                addMetadata(length)
            }
            offset = data + declaredLength + declaredLength % 2
        }
    }
}

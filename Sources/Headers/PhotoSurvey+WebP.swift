import Boxes

// RFC 9649: §2.3 (chunks), §2.7 (extended format); RFC 6386 §9.1 (VP8's frame header).
extension PhotoSurvey {
    /// Walks the chunks.
    mutating func readWebP(_ file: inout FileWindow) {
        var place = 12
        while !isBeyond, let told = file.little(place + 4, 4) {
            let data = place + 8
            let length = file.existing(told, from: data)
            if file.has("VP8X", at: place) {
                guard let width = file.little(data + 4, 3), let height = file.little(data + 7, 3)
                else { return }
                setSize(width + 1, height + 1)
            } else if file.has("VP8 ", at: place), size == nil {
                // Three bytes and a signature precede the size, whose upper two bits are a scale.
                guard let width = file.little(data + 6, 2), let height = file.little(data + 8, 2)
                else { return }
                setSize(width & 0x3FFF, height & 0x3FFF)
            } else if file.has("VP8L", at: place), size == nil {
                guard let bits = file.little(data + 1, 4) else { return }
                setSize(bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
            } else if file.has("ANMF", at: place) {
                frames += 1
            } else if file.has("ICCP", at: place) {
                addProfile(length)
            } else {
                addMetadata(length)
            }
            place = data + told + told % 2
        }
    }
}

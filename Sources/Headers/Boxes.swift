// ISO/IEC 14496-12 §4.2: what HEIF, AVIF and JPEG XL are made of.
extension PhotoSurvey {
    /// A box: what kind, and where its content lies.
    struct Box {
        let type: String
        let content: Range<Int>
    }

    /// Most boxes of one level that are looked at.
    private static let boxesMax = 20_000

    /// The boxes of a part of the file; one that goes beyond the end is cut off there, and is the last.
    static func boxes(in file: inout HeaderBytes, _ range: Range<Int>) -> [Box] {
        var boxes: [Box] = []
        var place = range.lowerBound
        while boxes.count < boxesMax, place < range.upperBound, let short = file.big(place, 4) {
            let name = file.bytes(place + 4, 4)
            guard name.count == 4 else { break }
            let type = String(decoding: name, as: UTF8.self)
            var (length, header) = (short, 8)
            if short == 1 {
                guard let long = file.number64(place + 8, isBig: true) else { break }
                (length, header) = (long, 16)
            } else if short == 0 {
                length = range.upperBound - place
            }
            guard length >= header else { break }
            let end = length > range.upperBound - place ? range.upperBound : place + length
            boxes.append(Box(type: type, content: min(place + header, end)..<end))
            place = end
        }
        return boxes
    }
}

/// The tags of a page, in order: a lenient scan, strict enough for what templates make.
struct Markup {
    struct Tag {
        let name: String
        let isEnd: Bool
        let attributes: [(name: String, value: String)]

        subscript(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
    }

    let tags: [Tag]

    init(_ html: String) {
        var tags: [Tag] = []
        let bytes = Array(html.utf8)
        var index = 0
        func isSpace(_ byte: UInt8) -> Bool {
            byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
        }
        func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A }
        func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
        while index < bytes.count {
            guard bytes[index] == UInt8(ascii: "<"), index + 1 < bytes.count,
                isLetter(bytes[index + 1]) || bytes[index + 1] == UInt8(ascii: "/")
            else {
                index += 1
                continue
            }
            let isEnd = bytes[index + 1] == UInt8(ascii: "/")
            index += isEnd ? 2 : 1
            var start = index
            while index < bytes.count, !isSpace(bytes[index]), bytes[index] != UInt8(ascii: ">") {
                index += 1
            }
            let name = text(start..<index)
            var attributes: [(name: String, value: String)] = []
            while index < bytes.count, bytes[index] != UInt8(ascii: ">") {
                if isSpace(bytes[index]) || bytes[index] == UInt8(ascii: "/") {
                    index += 1
                    continue
                }
                start = index
                while index < bytes.count, !isSpace(bytes[index]),
                    bytes[index] != UInt8(ascii: ">"),
                    bytes[index] != UInt8(ascii: "=")
                { index += 1 }
                let attribute = text(start..<index)
                guard index + 1 < bytes.count, bytes[index] == UInt8(ascii: "=") else {
                    attributes.append((attribute, ""))
                    continue
                }
                let quote = bytes[index + 1]
                index += 2
                start = index
                while index < bytes.count, bytes[index] != quote { index += 1 }
                attributes.append((attribute, text(start..<min(index, bytes.count))))
                index += 1
            }
            index += 1
            tags.append(Tag(name: name, isEnd: isEnd, attributes: attributes))
        }
        self.tags = tags
    }

    func all(_ name: String) -> [Tag] { tags.filter { $0.name == name && !$0.isEnd } }

    /// Elements that are opened and not closed, or closed and not open.
    var unbalanced: [String] {
        let void: Set = [
            "meta", "link", "input", "img", "br", "rect", "circle", "polyline", "polygon",
        ]
        var open: [String] = []
        var wrong: [String] = []
        for tag in tags where !void.contains(tag.name) {
            if !tag.isEnd {
                open.append(tag.name)
            } else if open.last == tag.name {
                open.removeLast()
            } else {
                wrong.append("</\(tag.name)> in <\(open.last ?? "")>")
            }
        }
        return wrong + open
    }
}

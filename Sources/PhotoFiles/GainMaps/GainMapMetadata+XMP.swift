extension GainMapMetadata {
    /// Reads Adobe's properties in a map's XMP packet; nil if there are none, if the base is the HDR picture, and if they are
    /// invalid.
    ///
    /// A missing property has its default. Source: Adobe, "Gain Map Specification" 1.0, §"Gain map metadata".
    public init?(hdrgm packet: [UInt8]) {
        func values(_ name: String, _ missing: Fraction?) -> [Fraction]? {
            let texts = XMP.values("hdrgm:" + name, in: packet)
            guard !texts.isEmpty else { return missing.map { [$0] } }
            let numbers = texts.compactMap(Fraction.init(text:))
            return numbers.count == texts.count && [1, 3].contains(numbers.count) ? numbers : nil
        }
        guard XMP.hasGainMap(packet),
            XMP.values("hdrgm:BaseRenditionIsHDR", in: packet).first?.lowercased() != "true",
            let min = values("GainMapMin", Fraction(0)), let max = values("GainMapMax", nil),
            let gamma = values("Gamma", Fraction(1)),
            let base = values("OffsetSDR", .sixtyFourth),
            let alternate = values("OffsetHDR", .sixtyFourth),
            let low = values("HDRCapacityMin", Fraction(0))?.first,
            let high = values("HDRCapacityMax", nil)?.first
        else { return nil }
        let lists = [min, max, gamma, base, alternate]
        self.init(
            channels: (0..<(lists.map(\.count).max() ?? 1)).map { index in
                let channel = lists.map { $0[index < $0.count ? index : 0] }
                return Channel(
                    min: channel[0], max: channel[1], gamma: channel[2], baseOffset: channel[3],
                    alternateOffset: channel[4])
            },
            baseHeadroom: low, alternateHeadroom: high)
    }

    /// The XMP packet of the map's own file.
    public var hdrgm: [UInt8] {
        let fields: [(String, (Channel) -> Fraction)] = [
            ("GainMapMin", \.min), ("GainMapMax", \.max), ("Gamma", \.gamma),
            ("OffsetSDR", \.baseOffset), ("OffsetHDR", \.alternateOffset),
        ]
        var attributes = [#"hdrgm:Version="1.0""#]
        var elements: [String] = []
        for (name, number) in fields {
            let texts = channels.map { "\(number($0).value)" }
            if texts.count == 1 {
                attributes.append(#"hdrgm:\#(name)="\#(texts[0])""#)
            } else {
                let items = texts.map { "<rdf:li>\($0)</rdf:li>" }.joined()
                elements.append("<hdrgm:\(name)><rdf:Seq>\(items)</rdf:Seq></hdrgm:\(name)>")
            }
        }
        attributes += [
            #"hdrgm:HDRCapacityMin="\#(baseHeadroom.value)""#,
            #"hdrgm:HDRCapacityMax="\#(alternateHeadroom.value)""#,
            #"hdrgm:BaseRenditionIsHDR="False""#,
        ]
        return XMP.packet(
            of: """
                <rdf:Description rdf:about="" xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" \
                \(attributes.joined(separator: " "))>\(elements.joined())</rdf:Description>
                """)
    }
}

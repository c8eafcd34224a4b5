extension Recipe.Output {
    init(_ value: JSONValue) throws(Failure) {
        let reader = try JSONObjectReader(
            value, at: "edit.output",
            known: [
                "background", "bitDepth", "chroma", "colorSpace", "compression", "format",
                "hdr", "movie", "previews", "progressive", "quality", "strip",
            ])
        self.init(
            format: try reader.choice("format"),
            quality: try Self.quality(reader),
            chroma: try reader.choice("chroma"),
            progressive: try reader.flag("progressive"),
            strip: try reader.choice("strip") ?? .none,
            colorSpace: try reader.choice("colorSpace") ?? .source,
            bitDepth: try Self.bitDepth(reader),
            compression: try reader.choice("compression"),
            background: try Self.background(reader),
            hdr: try reader.choice("hdr") ?? .keep,
            movie: try reader.optional("movie").map(Recipe.Movie.init) ?? Recipe.Movie(),
            previews: try Self.previews(reader))
    }

    private static func quality(_ reader: JSONObjectReader) throws(Failure) -> Double {
        guard let value = reader.optional("quality") else { return defaultQuality }
        guard case .number(let number) = value, (0...1).contains(number) else {
            throw Failure(
                .invalidValue,
                "edit.output.quality is \(value.canonical); expected a number from 0 to 1.")
        }
        return number
    }

    private static func bitDepth(_ reader: JSONObjectReader) throws(Failure) -> Recipe.BitDepth? {
        guard let value = reader.optional("bitDepth") else { return nil }
        guard case .number(let number) = value,
            let depth = Int(exactly: number).flatMap(Recipe.BitDepth.init)
        else {
            throw Failure(
                .invalidValue,
                "edit.output.bitDepth is \(value.canonical); allowed: 8, 10, 12, 16.")
        }
        return depth
    }

    private static func background(_ reader: JSONObjectReader) throws(Failure)
        -> Recipe.Background?
    {
        guard let value = reader.optional("background") else { return nil }
        guard case .array(let values) = value, values.count == 3,
            case .number(let red) = values[0], case .number(let green) = values[1],
            case .number(let blue) = values[2],
            [red, green, blue].allSatisfy({ (0...1).contains($0) })
        else {
            throw Failure(
                .invalidValue,
                "edit.output.background is \(value.canonical); expected [red, green, blue] of "
                    + "sRGB, each a number from 0 to 1.")
        }
        return Recipe.Background(red: red, green: green, blue: blue)
    }

    /// Returns the distinct sides, ascending.
    private static func previews(_ reader: JSONObjectReader) throws(Failure) -> [Int] {
        guard reader.optional("previews") != nil else { return [] }
        let values = try reader.array("previews")
        let sides = values.compactMap { value in
            if case .number(let number) = value { Int(exactly: number) } else { nil }
        }
        let range = ContractLimits.previewSideRange
        guard sides.count == values.count, sides.allSatisfy(range.contains),
            sides.count <= ContractLimits.previewsMax
        else {
            throw Failure(
                .invalidValue,
                "edit.output.previews is \(JSONValue.array(values).canonical); expected at most "
                    + "\(ContractLimits.previewsMax) longest sides in pixels, each "
                    + "\(range.lowerBound) to \(range.upperBound).")
        }
        return Set(sides).sorted()
    }

    /// The JSON: quality always, other values only if they differ from the defaults.
    var json: JSONValue {
        var fields: [String: JSONValue] = ["quality": .number(quality)]
        fields["format"] = format.map { .string($0.rawValue) }
        fields["chroma"] = chroma.map { .string($0.rawValue) }
        if progressive { fields["progressive"] = .bool(true) }
        if strip != .none { fields["strip"] = .string(strip.rawValue) }
        if colorSpace != .source { fields["colorSpace"] = .string(colorSpace.rawValue) }
        fields["bitDepth"] = bitDepth.map { .number(Double($0.rawValue)) }
        fields["compression"] = compression.map { .string($0.rawValue) }
        fields["background"] = background.map {
            .array([.number($0.red), .number($0.green), .number($0.blue)])
        }
        if hdr != .keep { fields["hdr"] = .string(hdr.rawValue) }
        if movie != Recipe.Movie() { fields["movie"] = movie.json }
        if !previews.isEmpty {
            fields["previews"] = .array(previews.map { .number(Double($0)) })
        }
        return .object(fields)
    }
}

extension Recipe.Output: Codable {
    public init(from decoder: any Decoder) throws { try self.init(JSONValue(from: decoder)) }
    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}

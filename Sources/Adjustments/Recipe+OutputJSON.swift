extension Recipe.Output {
    init(_ value: JSONValue) throws(Failure) {
        let reader = try JSONObjectReader(
            value, at: "edit.output",
            known: [
                "background", "bitDepth", "chroma", "colorSpace", "format", "progressive",
                "quality", "strip",
            ])
        self.init(
            format: try Self.choice("format", reader),
            quality: try Self.quality(reader),
            chroma: try Self.choice("chroma", reader),
            progressive: try Self.flag("progressive", reader),
            strip: try Self.choice("strip", reader) ?? .none,
            colorSpace: try Self.choice("colorSpace", reader) ?? .source,
            bitDepth: try Self.bitDepth(reader),
            background: try Self.background(reader))
    }

    private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ reader: JSONObjectReader
    ) throws(Failure) -> Choice? {
        guard reader.optional(name) != nil else { return nil }
        let text = try reader.string(name)
        guard let choice = Choice(rawValue: text) else {
            throw Failure(
                .invalidValue,
                "edit.output.\(name) is \(text.debugDescription); allowed: "
                    + Choice.allCases.map(\.rawValue).joined(separator: ", ") + ".")
        }
        return choice
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

    private static func flag(_ name: String, _ reader: JSONObjectReader) throws(Failure) -> Bool {
        guard let value = reader.optional(name) else { return false }
        guard case .bool(let flag) = value else {
            throw Failure(
                .invalidValue,
                "edit.output.\(name) is \(value.canonical); expected true or false.")
        }
        return flag
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

    /// Quality always, all else only where it differs from the default.
    var json: JSONValue {
        var fields: [String: JSONValue] = ["quality": .number(quality)]
        fields["format"] = format.map { .string($0.rawValue) }
        fields["chroma"] = chroma.map { .string($0.rawValue) }
        if progressive { fields["progressive"] = .bool(true) }
        if strip != .none { fields["strip"] = .string(strip.rawValue) }
        if colorSpace != .source { fields["colorSpace"] = .string(colorSpace.rawValue) }
        fields["bitDepth"] = bitDepth.map { .number(Double($0.rawValue)) }
        fields["background"] = background.map {
            .array([.number($0.red), .number($0.green), .number($0.blue)])
        }
        return .object(fields)
    }
}

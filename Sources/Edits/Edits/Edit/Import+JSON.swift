import FoundationEssentials

extension Edit.Import {
    init(_ reader: JSONObjectReader) throws(Failure) {
        let render = try reader.text("render").map { text throws(Failure) in try AssetPath(text) }
        switch (reader.optional("adjustmentData"), try reader.text("sidecar")) {
        case (let data?, nil):
            self.init(
                adjustment: .inline(try AdjustmentData(data, at: "edit.adjustmentData")),
                render: render)
        case (nil, let sidecar?):
            self.init(adjustment: .sidecar(try AssetPath(sidecar)), render: render)
        default:
            throw Failure(
                .invalidValue,
                "edit needs either sidecar, the path of an .AAE file below the originals, or "
                    + "adjustmentData.")
        }
    }

    var json: [String: JSONValue] {
        var fields: [String: JSONValue] = [:]
        switch adjustment {
        case .sidecar(let path): fields["sidecar"] = .string(path.string)
        case .inline(let data): fields["adjustmentData"] = data.json
        }
        fields["render"] = render.map { .string($0.string) }
        return fields
    }
}

extension AdjustmentData {
    /// Reads the three fields of a `PHAdjustmentData`, `data` in Base64.
    init(_ value: JSONValue, at path: String) throws(Failure) {
        let reader = try JSONObjectReader(
            value, at: path, known: ["data", "formatIdentifier", "formatVersion"])
        guard let data = Data(base64Encoded: try reader.string("data")), !data.isEmpty else {
            throw Failure(
                .invalidValue, "\(path).data is empty or not Base64; expected the bytes in Base64.")
        }
        self.init(
            formatIdentifier: try reader.string("formatIdentifier"),
            formatVersion: try reader.string("formatVersion"), data: data)
    }

    fileprivate var json: JSONValue {
        .object([
            "formatIdentifier": .string(formatIdentifier), "formatVersion": .string(formatVersion),
            "data": .string(data.base64EncodedString()),
        ])
    }
}

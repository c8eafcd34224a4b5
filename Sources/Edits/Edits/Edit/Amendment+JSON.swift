extension Amendment {
    init(_ value: JSONValue, at path: String) throws(Failure) {
        let reader = try JSONObjectReader(value, at: path, known: ["remove", "set", "step"])
        let step: Step
        switch try reader.value("step") {
        case .number(let number):
            guard let index = Int(exactly: number), index >= 0 else {
                throw Failure(
                    .invalidValue, "\(path).step is \(number); expected a whole number from 0.")
            }
            step = .index(index)
        case .string(let name): step = .name(name)
        case let other:
            throw Failure(
                .invalidValue, "\(path).step is \(other.kind); expected a step's place or its name."
            )
        }
        switch (reader.optional("set"), try reader.flag("remove")) {
        case (.object(let values)?, false): self.init(step: step, change: .set(values))
        case (nil, true): self.init(step: step, change: .remove)
        default:
            throw Failure(
                .invalidValue,
                "\(path) needs either set, an object of parameters, or remove: true.")
        }
    }

    var json: JSONValue {
        var fields: [String: JSONValue] = [:]
        switch step {
        case .index(let index): fields["step"] = .number(Double(index))
        case .name(let name): fields["step"] = .string(name)
        }
        switch change {
        case .set(let values): fields["set"] = .object(values)
        case .remove: fields["remove"] = .bool(true)
        }
        return .object(fields)
    }
}

extension Scheduling {
    /// The names of its fields in a line of a manifest and in an entry of the ingress stream.
    static let names = [
        "tenant", "priority", "cost", "notBefore", "deadline", "replace", "traceparent",
    ]

    /// Reads the fields that are present.
    ///
    /// - Throws: the first error in them.
    init(_ reader: JSONObjectReader) throws(Failure) {
        if let name = try reader.text("tenant") { tenant = try JobID(name) }
        priority = try reader.choice("priority")
        cost = try reader.integer("cost", in: 1...ContractLimits.costMax)
        if let text = try reader.text("notBefore") {
            notBefore = try Self.time(text, of: "notBefore")
        }
        if let text = try reader.text("deadline") {
            deadline = try Self.time(text, of: "deadline")
        }
        replace = try reader.choice("replace")
        traceparent = try reader.text("traceparent").flatMap { Traceparent($0) }
    }

    /// Checks a UTC time in the format of RFC 3339.
    ///
    /// - Throws: `invalidValue`.
    public static func time(_ text: String, of name: String) throws(Failure) -> String {
        // Not \d, which matches the digits of every script.
        let day = /[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])/
        let time = /T([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\.[0-9]{1,9})?Z/
        let parts = text.firstIndex(of: "T").map { (text[..<$0], text[$0...]) }
        guard let (first, second) = parts, first.wholeMatch(of: day) != nil,
            second.wholeMatch(of: time) != nil
        else {
            throw Failure(
                .invalidValue,
                "\(name) \(String(text.prefix(80)).debugDescription) is not a time in UTC like "
                    + "2026-11-21T06:00:00Z.")
        }
        return text
    }
}

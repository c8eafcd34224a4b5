import Edits
import FoundationEssentials
import Operations

/// The body of a request for a replay.
struct ReplayBody {
    var filter = DeadFilterText()
    let rate: Int?
    let withEdit: Edit?
    let isDryRun: Bool
    let expected: Int?

    static let rateMax = 1_000_000
    /// Times as numbers, in ms since 1970, up to the year 9999.
    private static let times = 0...253_402_300_799_999
    private static let known: Set<String> = [
        "batch", "tenant", "codes", "since", "until", "edit", "rate", "withEdit", "dryRun",
        "expected",
    ]

    /// - Throws: `badBody`; the fault of the edit.
    init(_ json: JSONValue) throws {
        guard case .object(let fields) = json else {
            throw Problem(.badBody, "The body is \(json.kind); expected an object.")
        }
        if let unknown = fields.keys.sorted().first(where: { !Self.known.contains($0) }) {
            throw Problem(
                .badBody,
                "\(unknown.debugDescription) is not a field of a replay; known: "
                    + Self.known.sorted().joined(separator: ", ") + ".")
        }
        func text(_ name: String) throws(Problem) -> String? {
            switch fields[name] {
            case nil, .null?: return nil
            case .string(let text)?: return text
            // A time as a number is ms since 1970.
            case .number(let number)? where name == "until" || name == "since":
                guard let whole = Int(exactly: number), Self.times.contains(whole) else {
                    throw Problem(
                        .badBody,
                        "\(name) is \(number); expected a whole number of ms since 1970, or a text."
                    )
                }
                return Date(timeIntervalSince1970: number / 1000)
                    .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            default: throw Problem(.badBody, "\(name) is no text.")
            }
        }
        func number(_ name: String, _ range: ClosedRange<Int>) throws(Problem) -> Int? {
            guard let value = fields[name], value != .null else { return nil }
            guard case .number(let number) = value, let whole = Int(exactly: number),
                range.contains(whole)
            else {
                throw Problem(
                    .badBody,
                    "\(name) is \(value.canonical); expected a whole number from \(range.lowerBound) to "
                        + "\(range.upperBound).")
            }
            return whole
        }
        filter.batch = try text("batch")
        filter.tenant = try text("tenant")
        filter.since = try text("since")
        filter.until = try text("until")
        filter.edit = try text("edit")
        if case .array(let codes)? = fields["codes"] {
            filter.codes = try codes.map { code throws(Problem) in
                guard case .string(let text) = code else {
                    throw Problem(.badBody, "codes has \(code.kind); expected texts.")
                }
                return text
            }
        } else if let codes = fields["codes"], codes != .null {
            throw Problem(.badBody, "codes is \(codes.kind); expected an array of texts.")
        }
        rate = try number("rate", 1...Self.rateMax)
        expected = try number("expected", 0...Int(1e12))
        switch fields["dryRun"] {
        case nil, .bool(false)?: isDryRun = false
        case .bool(true)?: isDryRun = true
        default: throw Problem(.badBody, "dryRun is neither true nor false.")
        }
        withEdit = try fields["withEdit"].flatMap {
            $0 == .null ? nil : try Edit(json: $0.canonical)
        }
    }
}

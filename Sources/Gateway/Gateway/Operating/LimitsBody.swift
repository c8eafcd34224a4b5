import Edits
import JobQueue

/// The body that sets a tenant's cap and weight. Null removes a limit; a missing field leaves it unchanged.
struct LimitsBody {
    let json: JSONValue
    private let cap: Int??
    private let weight: Int??

    init(_ json: JSONValue) throws(Problem) {
        guard case .object(let fields) = json, !fields.isEmpty,
            Set(fields.keys).isSubset(of: ["cap", "weight"])
        else { throw Problem(.badBody, #"The body is no {"cap": …, "weight": …}."#) }
        self.json = json
        cap = try Self.number("cap", fields, from: 0)
        weight = try Self.number("weight", fields, from: 1)
    }

    func rules(of tenant: JobID) -> [QueueRule] {
        var rules: [QueueRule] = []
        if let cap { rules.append(.cap(tenant, cap)) }
        if let weight { rules.append(.weight(tenant, weight)) }
        return rules
    }

    private static func number(
        _ name: String, _ fields: [String: JSONValue], from least: Int
    ) throws(Problem) -> Int?? {
        switch fields[name] {
        case nil: return nil
        case .null?: return .some(nil)
        case .number(let number)?:
            if let whole = Int(exactly: number), (least...QueueRule.numberMax).contains(whole) {
                return whole
            }
        default: break
        }
        throw Problem(
            .badBody,
            "\(name) is \(fields[name]?.canonical ?? ""); expected null or a whole number from \(least) to "
                + "\(QueueRule.numberMax).")
    }
}

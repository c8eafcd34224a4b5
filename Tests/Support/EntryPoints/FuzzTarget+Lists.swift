import FoundationEssentials
import Editors

extension FuzzTarget {
    /// Checks that a list keeps the limit on values, and survives writing and reading.
    func readList(_ bytes: Data) {
        // Most inputs are rejected, which is the expected outcome.
        guard let list = try? PropertyList(bytes: bytes) else { return }
        precondition(list.count <= PropertyListLimits.valuesMax)
        // XML cannot express everything that the binary format can.
        guard let xml = try? list.xml(), let again = try? PropertyList(bytes: xml) else { return }
        precondition(again == list || list.hasFractionOfSecond)
    }

    /// Checks that a text survives archiving and reading.
    func readArchive(_ bytes: Data) {
        guard let root = try? KeyedArchive.root(of: bytes) else { return }  // likewise
        precondition(root.count <= PropertyListLimits.valuesMax)
        guard case .string(let text) = root else { return }
        let again = try? KeyedArchive.root(of: KeyedArchive.bytes(ofRoot: text))  // nil is unequal
        precondition(again == root)
    }
}

extension PropertyList {
    /// The number of values in it, including itself.
    fileprivate var count: Int {
        switch self {
        case .array(let values): values.reduce(1) { $0 + $1.count }
        case .dictionary(let pairs): pairs.values.reduce(1) { $0 + $1.count }
        default: 1
        }
    }

    /// Whether XML would lose a part of it: its dates are whole seconds.
    fileprivate var hasFractionOfSecond: Bool {
        switch self {
        case .date(let date):
            date.timeIntervalSinceReferenceDate.rounded() != date.timeIntervalSinceReferenceDate
        case .array(let values): values.contains(where: \.hasFractionOfSecond)
        case .dictionary(let pairs): pairs.values.contains(where: \.hasFractionOfSecond)
        default: false
        }
    }
}

import FoundationEssentials
import PropertyLists

extension FuzzTarget {
    /// What is read has no more values than is allowed, and is the same from what we write of it.
    func takeList(_ bytes: Data) {
        // To be refused is what most of these bytes are for.
        guard let list = try? PropertyList(bytes: bytes) else { return }
        precondition(list.count <= PropertyListLimits.valuesMax)
        // XML cannot spell all that the binary form can.
        guard let xml = try? list.xml(), let again = try? PropertyList(bytes: xml) else { return }
        precondition(again == list || list.hasFractionOfSecond)
    }

    /// A text that is read is read again from what we write of it.
    func takeArchive(_ bytes: Data) {
        guard let root = try? KeyedArchive.root(of: bytes) else { return }  // likewise
        precondition(root.count <= PropertyListLimits.valuesMax)
        guard case .string(let text) = root else { return }
        let again = try? KeyedArchive.root(of: KeyedArchive.bytes(ofRoot: text))  // nil is unequal
        precondition(again == root)
    }
}

extension PropertyList {
    /// Values in it, itself included.
    fileprivate var count: Int {
        switch self {
        case .array(let values): values.reduce(1) { $0 + $1.count }
        case .dictionary(let pairs): pairs.values.reduce(1) { $0 + $1.count }
        default: 1
        }
    }

    /// Whether XML would drop a part of it: its dates are whole seconds.
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

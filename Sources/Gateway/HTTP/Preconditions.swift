/// The conditions of a request, judged in the order of RFC 9110, 13.2.2.
///
/// Dates are not judged: the gateway's responses have none.
package struct Preconditions: Sendable, Equatable {
    /// The lines of `If-Match` and `If-None-Match`; empty where the request has none.
    package let ifMatch, ifNoneMatch: [String]

    /// The conditions of header fields.
    package init(ifMatch: [String], ifNoneMatch: [String]) {
        (self.ifMatch, self.ifNoneMatch) = (ifMatch, ifNoneMatch)
    }

    /// The end of a judgement.
    package enum Verdict: Sendable, Equatable {
        /// The request is done.
        case proceed
        /// 304: the client has it.
        case notModified
        /// 412.
        case failed
    }

    /// Judges a request.
    ///
    /// - Parameters:
    ///   - tag: of what is there; nil when nothing is, or when it has none.
    ///   - isThere: whether anything is.
    ///   - isReading: whether the method is GET or HEAD.
    package func verdict(tag: EntityTag?, isThere: Bool, isReading: Bool) -> Verdict {
        if !ifMatch.isEmpty, !matches(ifMatch, tag, isThere, { $0.isSameBytes(as: $1) }) {
            return .failed
        }
        if !ifNoneMatch.isEmpty, matches(ifNoneMatch, tag, isThere, { $0.isSameMeaning(as: $1) }) {
            return isReading ? .notModified : .failed
        }
        return .proceed
    }

    private func matches(
        _ lines: [String], _ tag: EntityTag?, _ isThere: Bool,
        _ isSame: (EntityTag, EntityTag) -> Bool
    ) -> Bool {
        let text = lines.joined(separator: ",")
        if text == "*" { return isThere }
        guard let tag, let known = EntityTag.list(text) else { return false }
        return known.contains { isSame($0, tag) }
    }
}

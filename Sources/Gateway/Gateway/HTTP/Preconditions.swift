/// The preconditions of a request, evaluated in the order of RFC 9110, 13.2.2.
///
/// Dates are ignored, because the gateway's responses have none.
package struct Preconditions: Sendable, Equatable {
    /// The lines of `If-Match` and `If-None-Match`; empty if the request has none.
    package let ifMatch, ifNoneMatch: [String]

    /// Creates the preconditions from header fields.
    package init(ifMatch: [String], ifNoneMatch: [String]) {
        (self.ifMatch, self.ifNoneMatch) = (ifMatch, ifNoneMatch)
    }

    /// The result of an evaluation.
    package enum Verdict: Sendable, Equatable {
        /// The request is carried out.
        case proceed
        /// 304: the client has the current bytes.
        case notModified
        /// 412: a precondition failed.
        case failed
    }

    /// Evaluates the preconditions.
    ///
    /// - Parameters:
    ///   - tag: the tag of the existing resource; nil if it does not exist or has no tag.
    ///   - isThere: whether the resource exists.
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
